"""Sending a person's brand affinity to the CRM that this deployment names, each time only as they agree to it.

The request is signed as Standard Webhooks say. The consent is kept with the words that were shown. A form is for one
sending: what is sent, and which sending of it that is, make the ID of its consent, which is the `webhook-id`, too. So a
form that comes again finds its consent again, and the CRM sees the same message.
"""

import base64
import hashlib
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import connection
from django.utils.translation import gettext
from standardwebhooks.webhooks import Webhook

from agents_proxy.analyses.affinity import BrandAffinity, affinity_of
from agents_proxy.analyses.errors import (
    ActivationFailed,
    ActivationNotConfigured,
    ActivationTooLate,
    ActivationUncertain,
    NothingToActivate,
)
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import opened_json, own_run
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.models import Call
from agents_proxy.states import CallOutcome, Purpose, Reach
from common import addresses
from common.clock import database_now
from common.outbound.client import Client
from common.outbound.failures import ExchangeFailed

if TYPE_CHECKING:
    from accounts.models import User

VERSION = "activation-2026-11-2"
_ANSWER = 10  # seconds
_COVERS = timedelta(minutes=10)  # of one sending, with its repeats
_client = Client(may_reach=addresses.is_host)


def destination() -> str:
    """The host that is written to, for the person to see; "" where there is none."""
    return (urlsplit(settings.ACTIVATION_URL).hostname or "") if settings.ACTIVATION_SECRET else ""


def statement() -> str:
    """What a person agrees to when they send."""
    return gettext(
        "Send my name, e-mail, phone, likes, dislikes, brand affinities, shopping preferences and how sure the agents "
        "are of them, from this analysis to %(where)s, once, now. What was sent cannot be recalled from there."
    ) % {"where": destination()}


def next_sending(run: Run) -> int:
    """Which sending of this the next form is for: the first that neither arrived nor lost its consent."""
    data = _data(run, affinity_of(opened_json(run.profile) or {}).affinity)
    return next(number for number in itertools.count() if not _is_over(_message_id(run, data, number)))


def _is_over(message_id: str) -> bool:
    consent = ProcessingConsent.objects.filter(consent_id=message_id).first()
    return consent is not None and (_was_accepted(consent) or not consents.is_live(consent))


def activate(*, by: "User", analysis_id: str, sending: int) -> bool:
    """Keep the consent, then send; False where the CRM took this sending before, so that nothing is sent.

    A sending that failed is made again under its own consent, for as long as that lasts. Raises `UnknownAnalysis`,
    `ActivationNotConfigured`, `NothingToActivate`, `ActivationTooLate`, `ActivationFailed`, `ActivationUncertain`.
    """
    run = own_run(by, analysis_id)
    if not destination():
        raise ActivationNotConfigured()
    found = affinity_of(opened_json(run.profile) or {})
    if not found.affinity.says_anything:
        raise NothingToActivate()
    data = _data(run, found.affinity)
    consent = _agreed(run, _message_id(run, data, sending))
    if _was_accepted(consent):
        return False
    if not consents.is_live(consent):
        raise ActivationTooLate()
    _send(consent, data)
    return True


def _data(run: Run, affinity: BrandAffinity) -> dict[str, object]:
    return {"analysisId": run.analysis_id, "profile": affinity.body()}


def _message_id(run: Run, data: dict[str, object], sending: int) -> str:
    """In the form of every consent's ID."""
    named = orjson.dumps([run.user_id, destination(), data, sending])
    return f"pcn_{base64.b32encode(hashlib.sha256(named).digest()[:16]).decode().rstrip('=').lower()}"


def _agreed(run: Run, message_id: str) -> ProcessingConsent:
    """The consent to this sending; of two that come at once, both get the same."""
    now = database_now()
    kept = {
        "user_id": run.user_id,
        "reach": Reach.RUN,
        "purposes": [Purpose.BRAND_AFFINITY.value],
        "statement_version": VERSION,
        "statement": statement(),
        "origin": settings.BASE_URL,
        "given_at": now,
        "expires_at": now + _COVERS,
    }
    return ProcessingConsent.objects.get_or_create(consent_id=message_id, defaults=kept)[0]


def _was_accepted(consent: ProcessingConsent) -> bool:
    return consent.calls.filter(outcome=CallOutcome.ANSWERED).exists()


def _send(consent: ProcessingConsent, data: dict[str, object]) -> None:
    """Send once, and note how it went. What is sent again is the same to the byte, but for when it is signed."""
    told = {"type": "brand_affinity.activated", "timestamp": consent.given_at.isoformat(), "data": data}
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the other side takes
    started, clock = datetime.now(UTC), time.monotonic()
    outcome = CallOutcome.UPSTREAM_UNAVAILABLE
    try:
        status = _posted(consent.consent_id, orjson.dumps(told))
        outcome = CallOutcome.ANSWERED if 200 <= status < 300 else CallOutcome.AGENT_ERROR
    except ActivationUncertain:
        outcome = CallOutcome.UPSTREAM_TIMEOUT
        raise
    finally:
        milliseconds = int((time.monotonic() - clock) * 1000)
        noted = {"started_at": started, "duration_ms": milliseconds, "outcome": outcome, "bytes": 0}
        Call.objects.create(agent="crm", task_id=consent.consent_id, consent=consent, **noted)
    if outcome != CallOutcome.ANSWERED:
        raise ActivationFailed(f"It answered {status}.")


def _posted(message_id: str, body: bytes) -> int:
    """The status that the CRM answers with. Raises `ActivationFailed`, `ActivationUncertain`."""
    now = datetime.now(UTC)
    headers = {
        "User-Agent": "Consent-Runtime-Activation",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(settings.ACTIVATION_SECRET).sign(message_id, now, body.decode()),
    }
    try:
        return _client.post(settings.ACTIVATION_URL, body, headers=headers, seconds=_ANSWER, limit=0).status
    except ExchangeFailed as failure:
        if failure.may_have_arrived:
            raise ActivationUncertain from None
        raise ActivationFailed("It cannot be reached.") from None
