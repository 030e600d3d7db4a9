"""Analyses that have ended, with what agents said in them."""

import json
from typing import Any

from django.utils import timezone

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.proxy.replies import read_reply
from tests.agents_proxy.agent_server import ORDER
from tests.factories import RunFactory, StepFactory
from tests.factories.agents import sealed_json


def ended(user: User, replies: dict[str, Any]) -> Run:
    """A finished analysis in which agents said this; a text stays a text."""
    now = timezone.now()
    run = RunFactory(user=user, status="running", started_at=now)
    for position, agent in enumerate(ORDER):
        text = replies[agent] if isinstance(replies.get(agent), str) else json.dumps(replies.get(agent, {}))
        answer = {"jsonrpc": "2.0", "id": "task-1", "result": {"parts": [{"type": "text", "text": text}]}}
        read = read_reply(answer)
        how = (
            {"status": "failed", "error_code": read.error_code}
            if read.fields is None
            else {
                "status": "succeeded" if read.fields else "empty",
                "field_count": len(read.fields),
                "repaired": read.repaired,
                "fields": sealed_json(read.fields) if read.fields else None,
                "reading": sealed_json(read.account),
            }
        )
        StepFactory(
            run=run, position=position, agent=agent, started_at=now, finished_at=now, duration_ms=300 + 100 * position,
            reply=sealed_json(answer), **how,
        )  # fmt: skip
    steps.claim_step(run.pk)
    return Run.objects.get(pk=run.pk)
