"""What the handbooks say of webhooks and tasks is what the code does."""

import json
import re
from datetime import UTC, datetime
from itertools import groupby

import pytest
from django.conf import settings
from joserfc.errors import JoseError

from common.clock import rfc3339
from config.schedule import WATCHED
from consent.diagram import with_webhook_types
from consent.event_types import WEBHOOK_TYPES
from consent.notices.webhook_client import ANSWER_SECONDS
from consent.notices.webhooks import PAUSES
from consent_bridge.sealed import DIGEST_MEMBERS, generate_root, request_digest
from tests.bridge import wire
from tests.system.bridge.hosts import ROOT

TIMES = {1: "", 3: "three times "}


def handbook(name):
    return (ROOT / "docs" / name).read_text()


def section(text, title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


def unwrapped(text):
    return " ".join(text.split())


def span(pause):
    seconds = int(pause.total_seconds())
    return next(f"{seconds // size} {unit}" for size, unit in ((3600, "h"), (60, "min"), (1, "s")) if seconds >= size)


def test_webhooks_are_described_as_they_are_sent():
    text = section(handbook("integrating.md"), "Be told: webhooks")
    spans = [TIMES[len(list(run))] + pause for pause, run in groupby(map(span, PAUSES))]

    assert re.findall(r"^\| `([a-z._]+)` \|", text, re.MULTILINE) == WEBHOOK_TYPES
    assert with_webhook_types(handbook("integrating.md")) == handbook("integrating.md")
    assert f"{', '.join(spans[:-1])}, and {spans[-1]}" in unwrapped(text)
    assert len(PAUSES) + 1 == 13
    assert "thirteen attempts" in unwrapped(text)
    assert f"within {ANSWER_SECONDS} seconds" in unwrapped(text)


def test_example_of_a_webhook_has_the_form_of_what_is_sent():
    text = section(handbook("integrating.md"), "Be told: webhooks")
    moment = datetime.fromtimestamp(int(re.search(r"^webhook-timestamp: (\d+)$", text, re.MULTILINE)[1]), UTC)

    assert re.search(r"^webhook-id: msg_app_…_\d+$", text, re.MULTILINE)
    assert f'{{"type": "consent.approved", "timestamp": "{rfc3339(moment)}", "data": {{…}}}}' in text


def test_periodic_tasks_are_those_of_the_settings():
    due, clock = section(handbook("operating.md"), "Periodic tasks").split("By the clock")
    intervals = {
        name: int(every)
        for every, line in re.findall(r"^- every (\d+) s: (.*?)(?=^- |^$)", due, re.MULTILINE | re.DOTALL)
        for name in re.findall(r"`([a-z-]+)`", line)
    }

    assert intervals == {name: row.seconds for name, row in WATCHED.items()}
    assert set(re.findall(r"`([a-z-]+)`", clock)) == settings.CELERY_BEAT_SCHEDULE.keys() - WATCHED.keys()


def test_the_vector_of_a_digest_is_that_of_the_vectors():
    text = section(handbook("integrating.md"), "2. Ask")
    export = json.loads((ROOT / "bridge/conformance/vectors/sealed.json").read_text())["exports"][0]
    request = json.loads(re.search(r"^```json request\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])

    assert request == export["request"]
    assert re.search(r"^```text request_digest\n(.*)\n```$", text, re.MULTILINE)[1] == request_digest(request)
    assert request_digest(request) == export["request_digest"]


def test_the_members_of_a_digest_are_told_in_full():
    text = section(handbook("integrating.md"), "2. Ask").partition("### Check what the person will see")[2]

    assert set(DIGEST_MEMBERS) <= set(re.findall(r"`([a-z_]+)`", text))
    assert len(DIGEST_MEMBERS) == 15
    assert "fifteen members" in text


def approval_snippet():
    """`check_approval` as the integrating guide prints it."""
    (code,) = re.findall(
        r"```python\n(.*?)```", section(handbook("integrating.md"), "6. Check who approved"), re.DOTALL
    )
    names = {}
    exec(compile(code, "integrating.md", "exec"), names)  # our own handbook
    return names["check_approval"]


def test_the_guides_check_of_an_approval_takes_what_was_signed_and_nothing_else():
    check, body = approval_snippet(), wire.envelope()
    key = check(body, wire.MADE_REQUEST, None)

    assert key == body["owner_key"]
    assert check(wire.envelope(2), wire.MADE_REQUEST, key) == key
    thief = wire.signed(body, root=generate_root())
    head, payload, signature = body["approval"].split(".")
    for forged in (
        {**body, "jwe": wire.envelope()["jwe"]},
        thief,
        {**body, "approval": thief["approval"]},
        {**body, "approval": f"{head}.{payload}.{signature[::-1]}"},
        {**body, "approved_attributes": [*body["approved_attributes"], "lifestyle.food.diet_preference"]},
        wire.signed(body, aud="app_b"),
    ):
        with pytest.raises((ValueError, JoseError)):
            check(forged, wire.MADE_REQUEST, key)
