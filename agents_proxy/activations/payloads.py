"""What goes to a destination: the specification's brand affinity, in one message."""

import hashlib
from datetime import datetime
from typing import Any

import orjson

from agents_proxy.activations.errors import NothingToActivate
from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import opened_json
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.proxy.subjects import subject_from

TYPE = "brand_affinity.activated"


def data_of(run: Run, named: Identifiers) -> dict[str, Any]:
    """`{"analysisId", "profile"}` of an analysis that has ended; raises `NothingToActivate`.

    An address or a number that is not among `named` is not sent.
    """
    found = affinity_of(opened_json(run.profile) or {}).affinity
    if not found.says_anything:
        raise NothingToActivate
    subject = subject_from(named, run.user_id)
    profile = {
        name: value
        for name, value in found.body().items()
        if name not in ("email", "phone") or subject.is_named_in({name: value})
    }
    return {"analysisId": run.analysis_id, "profile": profile}


def message(data: dict[str, Any], at: datetime) -> str:
    """The body of the request, the same to the byte with every attempt."""
    return orjson.dumps({"type": TYPE, "timestamp": at.isoformat(timespec="seconds"), "data": data}).decode()


def identifiers_in(body: bytes) -> Identifiers:
    """By what a message names its person."""
    profile = orjson.loads(body)["data"]["profile"]
    email, phone = profile.get("email"), profile.get("phone")
    return Identifiers((email,) if email else (), (phone,) if phone else ())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shown_digest(data: dict[str, Any], statement: str) -> str:
    """What a form holds of what its page showed, so that nobody agrees to one thing and sends another."""
    return digest(orjson.dumps([data, statement]).decode())
