"""What an agent is shown with every call: that the person agreed to it, about whom, for what, and until when.

An assertion is for one call of one agent: it names the task and the text, and holds for five minutes.
"""

import hashlib
import secrets
import time

from django.conf import settings

from agents_proxy.agents import AGENTS, Upstream
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.envelope import Prompt
from agents_proxy.proxy.subjects import Subject
from agents_proxy.signing import LIFETIME, origin_of, pairwise, signed
from common.jose import base64url

TYPE = "processing-consent+jwt"
HEADER = "X-Processing-Consent"


def extension() -> str:
    return f"{settings.ISSUER}/extensions/consent/v1"


def assertion(agent: str, target: Upstream, prompt: Prompt, about: Subject, consent: ProcessingConsent) -> str:
    """The compact JWS for this one call."""
    audience, now = origin_of(target.url), int(time.time())
    claims = {
        "iss": settings.ISSUER,
        "aud": audience,
        "sub": pairwise(audience, about.person_pk),
        "subject": about.disclosed_identifiers.body(),
        "purposes": [AGENTS[agent].purpose.value],
        "consent_id": consent.consent_id,
        "task": prompt.task_id,
        "text_sha256": base64url(hashlib.sha256(prompt.text.encode()).digest()),
        "jti": secrets.token_urlsafe(16),
        "iat": now,
        "exp": now + LIFETIME,
    }
    return signed(TYPE, claims)
