"""Sending a person's brand affinity to the CRM that this deployment names, each time only as they agree to it.

The request is signed as Standard Webhooks say. The consent is kept with the words that were shown.
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
import requests
from django.conf import settings
from django.db import connection
from django.utils.translation import gettext
from standardwebhooks.webhooks import Webhook

from accounts.database import database_now
from agents_proxy.affinity import affinity_of
from agents_proxy.analyses import opened_json
from agents_proxy.analysis_errors import ActivationFailed, ActivationNotConfigured, NothingToActivate
from agents_proxy.models import ProcessingConsent, Run
from agents_proxy.states import Purpose, Reach
from agents_proxy.workflow import own_run

if TYPE_CHECKING:
    from accounts.models import User

VERSION = "activation-2026-11-1"
_CONNECT, _ANSWER = 3, 10  # seconds
_COVERS = timedelta(minutes=10)  # of one sending, with its repeats


def destination() -> str:
    """The host that is written to, for the person to see; "" where there is none."""
    return (urlsplit(settings.ACTIVATION_URL).hostname or "") if settings.ACTIVATION_SECRET else ""


def statement() -> str:
    """What a person agrees to when they send."""
    return gettext(
        "Send my name, e-mail, phone, likes, dislikes, brand affinities and shopping preferences from this analysis "
        "to %(where)s, once, now. What was sent cannot be recalled from there."
    ) % {"where": destination()}


def activate(*, by: "User", analysis_id: str) -> None:
    """Keep the consent, then send once.

    Raises `UnknownAnalysis`, `ActivationNotConfigured`, `NothingToActivate`, `ActivationFailed`.
    """
    run = own_run(by, analysis_id)
    if not destination():
        raise ActivationNotConfigured()
    found = affinity_of(opened_json(run.profile) or {})
    if not found.affinity.says_anything:
        raise NothingToActivate()
    consent = _agreed(run)
    _send(consent.consent_id, {"analysisId": run.analysis_id, "profile": found.affinity.body()})


def _agreed(run: Run) -> ProcessingConsent:
    now = database_now()
    return ProcessingConsent.objects.create(
        user_id=run.user_id,
        reach=Reach.RUN,
        purposes=[Purpose.BRAND_AFFINITY.value],
        statement_version=VERSION,
        statement=statement(),
        origin=settings.BASE_URL,
        given_at=now,
        expires_at=now + _COVERS,
    )


def _send(message_id: str, data: dict[str, object]) -> None:
    now = datetime.now(UTC)
    body = orjson.dumps({"type": "brand_affinity.activated", "timestamp": now.isoformat(), "data": data})
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Consent-Runtime-Activation",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(settings.ACTIVATION_SECRET).sign(message_id, now, body.decode()),
    }
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the other side takes
    try:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(
                settings.ACTIVATION_URL,
                data=body,
                headers=headers,
                timeout=(_CONNECT, _ANSWER),
                allow_redirects=False,
                stream=True,
            )
            status = answer.status_code
    except requests.RequestException:
        raise ActivationFailed("It cannot be reached.") from None
    if not 200 <= status < 300:
        raise ActivationFailed(f"It answered {status}.")
