"""What a receiver is sent, so that it deletes what it got of somebody, and how its answer is read.

To an agent goes a compact JWS alone; to a destination the same in a message that is signed as every other one there.
"""

import base64
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import token_headers_of
from agents_proxy.deletions.sealing import Subject
from agents_proxy.signing import LIFETIME, pairwise, signed
from agents_proxy.states import DeletionStatus
from common import encryption
from common.clock import database_now, rfc3339
from common.json_bodies import strict_json
from common.outbound.client import Answer
from common.outbound.signing import signed_headers
from common.problems import InvalidRequest

JWS_TYPE = "processing-deletion+jwt"
RECEIPT_TYPE = "processing-deletion-receipt+jwt"
TYPE = "deletion.requested"
LIMIT = 16 * 1024  # bytes of an answer
MOST_KEPT = 2000  # characters of it
_JWS = re.compile(r"[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*\Z")
_UNSEEN = re.compile(r"[^\S ]+| {2,}")


@dataclass(frozen=True)
class Message:
    """One request to delete. An answer to it confirms where it has this member with this value, or may leave it out."""

    body: bytes
    headers: dict[str, str]
    member: str
    value: str
    is_optional: bool


def message(row: Deletion, subject: Subject) -> Message:
    """The next request for this row, signed now. Raises `DecryptionFailed` for a destination's secret."""
    claims = _claims(row, subject)
    statement = signed(JWS_TYPE, claims)
    if row.destination is None:
        headers = {"Content-Type": "application/jwt", **token_headers_of(row)}
        return Message(statement.encode(), headers, "jti", claims["jti"], is_optional=True)
    data = {
        "deletionId": row.deletion_id,
        "consentId": claims.get("consent_id"),
        "activationIds": list(subject.activations),
        "subject": claims["subject"],
        "before": claims["before"],
        "statement": statement,
    }
    body = orjson.dumps({"type": TYPE, "timestamp": rfc3339(row.requested_at) or "", "data": data})
    secret = encryption.opened(row.destination.secret)
    headers = signed_headers(row.deletion_id, body, [secret], database_now())
    return Message(body, headers, "deletionId", row.deletion_id, is_optional=False)


def _claims(row: Deletion, subject: Subject) -> dict[str, Any]:
    """`before`: what came later, under another consent, is not meant. Without `consent_id` everything before it is, and
    then `subject` has nothing that is somebody else's by now."""
    person_pk = row.consent.user_id if row.consent else row.erasure.user_id if row.erasure else 0
    now = int(time.time())
    claims: dict[str, Any] = {
        "iss": settings.ISSUER,
        "aud": row.origin,
        "sub": pairwise(row.origin, person_pk),
        "subject": subject.identifiers.body(),
        "before": int(row.requested_at.timestamp()) + 1 if row.requested_at else now,
        "jti": secrets.token_urlsafe(16),
        "iat": now,
        "exp": now + LIFETIME,
    }
    consent_id = row.consent.consent_id if row.consent else subject.consent
    return claims | ({"consent_id": consent_id} if consent_id else {})


def receipt(row: Deletion) -> str:
    """What this service signs of a confirmation, always the same of one; "" before there is one.

    It names nobody: whoever it is shown by is whom it is about.
    """
    if row.status != DeletionStatus.CONFIRMED or row.finished_at is None:
        return ""
    claims = {
        "iss": settings.ISSUER,
        "iat": int(row.finished_at.timestamp()),
        "deletion_id": row.deletion_id,
        "receiver": row.agent or row.origin,
        "origin": row.origin,
        "requested_at": rfc3339(row.requested_at),
        "confirmed_at": rfc3339(row.finished_at),
        "answer": row.confirmation,
    }
    return signed(RECEIPT_TYPE, claims)


def why_unconfirmed(answer: Answer, sent: Message) -> str:
    """Why this answer says of no deletion that it was done; "" where it does.

    An agent's plain 2xx does, since its address is for this alone; a destination takes other messages too, and one that
    does not know this kind answers 2xx as well, so it has to name what it deleted. 202 says that it will be done: the
    receiver is asked again. An answer that names another request says nothing of this one, and one with an error in
    it, as JSON-RPC has under 200, says the contrary.
    """
    if not 200 <= answer.status < 300:
        return "refused"
    if answer.status == 202:
        return "accepted"
    body = _object_in(answer.body)
    if body.get("error") is not None:
        return "refused"
    if sent.member not in body:
        return "" if sent.is_optional else "unsaid"
    return "" if body[sent.member] == sent.value else "refused"


def kept_answer(body: bytes) -> str:
    """What a person is shown of an answer: text on one line, cut, without anything that hides or turns it."""
    text = _UNSEEN.sub(" ", body.decode(errors="replace"))
    return "".join(sign for sign in text if sign.isprintable()).strip()[:MOST_KEPT]


def _object_in(body: bytes) -> dict[str, Any]:
    """The object that was answered, in clear or signed. Nobody here knows a receiver's keys: that it answered is what
    the connection says, and its signature is for whoever knows them."""
    text = body.decode(errors="replace").strip()
    found = _JWS.match(text)
    try:
        parsed = strict_json(base64.urlsafe_b64decode(found[1] + "==") if found else text.encode())
    except (InvalidRequest, ValueError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
