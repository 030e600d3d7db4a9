"""What goes to a destination: the specification's brand affinity, in one message."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from agents_proxy.activations.errors import NothingToActivate
from agents_proxy.agents import AGENTS
from agents_proxy.analyses.affinity import MOST_ITEMS, BrandAffinity, affinity_of
from agents_proxy.analyses.merging import same
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import opened_json
from agents_proxy.analyses.results import merged_of, own_word_of
from agents_proxy.analyses.steps import reads_purchases
from agents_proxy.financial.items import financial_signals
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.proxy.spelling import canonical
from agents_proxy.proxy.subjects import subject_from
from common.clock import rfc3339

TYPE = "brand_affinity.activated"
PURCHASES = "purchases"  # in place of an agent in the provenance of what they say
[BRAND] = [name for name, agent in AGENTS.items() if agent.reads_purchases]
IDENTITY_MEMBERS = ("fullName", "email", "phone")


def data_of(run: Run, named: Identifiers) -> dict[str, Any]:
    """`{"analysisId", "profile"}` of an analysis that has ended; raises `NothingToActivate`.

    An address or a number that is not among `named` is not sent, and neither is who said what: that somebody's bank is
    linked is theirs to tell.
    """
    found, _sources = found_for(run)
    if not found.has_preferences:
        raise NothingToActivate
    subject = subject_from(named, run.user_id)
    profile = {
        name: value
        for name, value in found.body().items()
        if name not in ("email", "phone") or subject.is_named_in({name: value})
    }
    return {"analysisId": run.analysis_id, "profile": profile}


def found_for(run: Run) -> tuple[BrandAffinity, dict[str, list[str]]]:
    """What was found for brands, and who said each member of it: agents, PURCHASES, PERSON.

    The brand agent's answer united with what purchases say. What another agent says of likes and brands fills only
    what both leave empty, and what the person corrected stands for itself.
    """
    profile, provenance = opened_json(run.profile) or {}, run.provenance or {}
    whole, own = affinity_of(profile).affinity.body(), own_word_of(run)
    of_purchases = financial_signals(run.user) if reads_purchases(run) else {}
    found = {BRAND: _of_brand_agent(run), PURCHASES: affinity_of(of_purchases).affinity.body()}
    body, sources = dict[str, Any](), dict[str, list[str]]()
    for name in BrandAffinity.model_fields:
        field = canonical(name)
        given = [(source, members[name]) for source, members in found.items() if members.get(name)]
        given = given[:1] if name == "confidence" else given
        if name in IDENTITY_MEMBERS or field in own or not given:
            given = [(provenance.get(field, BRAND), whole[name])] if name in whole else []
        if given:
            body[name] = _united([value for _, value in given])
            sources[name] = [source for source, _ in given]
    return BrandAffinity.model_validate(body), sources


def _of_brand_agent(run: Run) -> dict[str, Any]:
    answers = merged_of(list(run.steps.all())).answers
    fields = {name: value for name, given in answers.items() for agent, value in given if agent == BRAND}
    return affinity_of(fields).affinity.body()


def _united(values: Sequence[Any]) -> Any:
    """Lists with each item once, the first one's first; of members of two objects the first one's; else the first."""
    first, *others = values
    for other in others:
        if isinstance(first, list):
            first = [*first, *(item for item in other if not any(same(item, known) for known in first))][:MOST_ITEMS]
        elif isinstance(first, dict):
            both = {name: _united([first[name], other[name]]) for name in first.keys() & other.keys()}
            first = {**other, **first, **both}
    return first


def message(data: dict[str, Any], at: datetime) -> str:
    """The body of the request, the same to the byte with every attempt."""
    return orjson.dumps({"type": TYPE, "timestamp": rfc3339(at), "data": data}).decode()


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
