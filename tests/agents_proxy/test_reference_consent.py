"""The reference agents answer what somebody agreed to, about that somebody, and once: everything else is an error."""

import re
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from allauth.account.models import EmailAddress
from joserfc import jws
from joserfc.jwk import OKPKey

from accounts.models import User
from agents_proxy import signing
from agents_proxy.agents import Protocol, Upstream
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import assertions
from agents_proxy.proxy.envelope import Prompt, unwrapped
from agents_proxy.proxy.subjects import Subject, subject_of
from agents_proxy.proxy.upstream import call
from agents_proxy.states import Purpose
from tests.agents_proxy.proxy_calls import CALL, configure, consenting, owning
from tests.callers import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def agents(reference: str) -> str:
    return reference


@pytest.fixture
def ana(person: User) -> User:
    return consenting(owning(person, "+4917604069055"))


def reply_to(agents: str, prompt: Prompt, assertion: str, *, agent: str = "core") -> Any:
    target = Upstream(f"{agents}/{agent}", "", 20, Protocol.TASKS_SEND)
    return call(target, prompt, assertion)


def made(agents: str, ana: User, prompt: Prompt, *, agent: str = "core", about: Subject | None = None) -> str:
    target = Upstream(f"{agents}/{agent}", "", 20, Protocol.TASKS_SEND)
    consent = ProcessingConsent.objects.get()
    about = about or subject_of(consent.pk, Purpose.PROFILE).for_prompt(prompt.text)
    return assertions.assertion(agent, target, prompt, about, consent)


def test_what_was_agreed_to_is_answered_through_the_proxy(agents: str, ana: User, settings: Any) -> None:
    configure(settings, "core-profile", url=f"{agents}/core-profile")
    made_ = signed_in(ana).post("/api/a2a/core-profile", {"text": "Name: Ana Sá\nEmail: ana@example.org\nCity: Porto"})
    configure(settings, "core", url=f"{agents}/core")
    found = signed_in(ana).post("/api/a2a/core", {"text": "What do you know of me?"})

    assert "result" in made_.json(), made_.json()
    [part] = unwrapped(found.json()["result"])["status"]["message"]["parts"]
    assert "ana@example.org" in part["text"]
    assert "Porto" in part["text"]


PROMPT = Prompt("ana@example.org", "session-1", "task-one")


def test_without_one_or_with_another_nothing_is_answered(agents: str, ana: User) -> None:
    good = made(agents, ana, PROMPT)
    assert reply_to(agents, PROMPT, "").error_code == -32010
    assert reply_to(agents, PROMPT, good).error_code is None
    assert reply_to(agents, PROMPT, good).error_code == -32010  # once

    other = Prompt("ana@example.org, now", "session-1", "task-one")
    assert reply_to(agents, other, made(agents, ana, PROMPT)).error_code == -32010
    assert (
        reply_to(agents, Prompt(PROMPT.text, "session-1", "task-two"), made(agents, ana, PROMPT)).error_code == -32010
    )
    assert reply_to(agents, PROMPT, made(agents, ana, PROMPT), agent="brand").error_code == -32010
    assert reply_to(agents, PROMPT, made("http://elsewhere.example", ana, PROMPT)).error_code == -32010


def test_a_consent_of_somebody_else_is_none(agents: str, ana: User) -> None:
    zoe = Subject(("zoe@example.org",), person_pk=ana.pk, disclosed=("zoe@example.org",))

    assert reply_to(agents, PROMPT, made(agents, ana, PROMPT, about=zoe)).error_code == -32010


def test_whom_it_is_about_comes_from_the_assertion(agents: str, ana: User) -> None:
    prompt = Prompt("Who lives in Leipzig and is named Mara Lindholm?", "session-1", "task-one")
    reply = reply_to(agents, prompt, made(agents, ana, prompt, agent="public"), agent="public")
    [part] = reply.result["status"]["message"]["parts"]

    assert "mara.lindholm" not in part["text"]
    assert "Kastanienhof" not in part["text"]


@pytest.mark.parametrize(
    "change",
    [{"exp": 0}, {"iat": 2**40}, {"iss": "https://elsewhere.example"}, {"purposes": ["messaging"]}, {"aud": "x"}],
    ids=str,
)
def test_a_claim_that_does_not_fit(change: dict[str, Any], agents: str, ana: User, settings: Any) -> None:
    good = made(agents, ana, PROMPT)
    [key] = signing.own_keys(tuple(settings.DATA_ENCRYPTION_KEYS))
    claims = orjson.loads(jws.extract_compact(good.encode()).payload) | change
    header = {"alg": "EdDSA", "typ": assertions.TYPE, "kid": key.thumbprint()}

    def sent(key: OKPKey, header: dict[str, str], claims: dict[str, Any]) -> int | None:
        signed = jws.serialize_compact(header, orjson.dumps(claims), key, algorithms=["EdDSA"])
        code: int | None = reply_to(agents, PROMPT, signed).error_code
        return code

    assert sent(key, header, claims) == -32010
    good_claims = {**claims, **orjson.loads(jws.extract_compact(good.encode()).payload), "jti": str(time.time_ns())}
    assert sent(key, {**header, "typ": "JWT"}, good_claims) == -32010
    assert sent(OKPKey.generate_key("Ed25519"), header, good_claims) == -32010
    assert sent(key, header, good_claims) is None


def test_an_address_that_is_not_verified_any_more_is_asserted_to_nobody(agents: str, ana: User, settings: Any) -> None:
    EmailAddress.objects.filter(user=ana).delete()
    configure(settings, "core", url=f"{agents}/core")

    assert signed_in(ana).post("/api/a2a/core", {**CALL, "text": PROMPT.text}).status_code == 403


def test_the_ten_lines_of_the_documentation_check_the_same(agents: str, ana: User, service: str) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text()
    found: dict[str, Any] = {}
    exec(re.search(r"^```python\n(import base64.*?)^```$", page, re.DOTALL | re.MULTILINE)[1], found)  # type: ignore[index]
    taken: set[str] = set()
    named = {"issuer": service, "origin": agents, "purpose": "profile", "taken": taken, "task": "task-one"}
    shown = made(agents, ana, PROMPT)

    assert found["subject_of"](shown, **named, text=PROMPT.text) == {"emails": [PROMPT.text], "phone_numbers": []}
    for change in ({}, {"text": "x", "taken": set()}, {"task": "x", "taken": set()}, {"purpose": "x", "taken": set()}):
        with pytest.raises(AssertionError):
            found["subject_of"](shown, **{**named, "text": PROMPT.text, **change})
