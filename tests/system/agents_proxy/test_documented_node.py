"""The lines of Node in the agents' handbook, run as they are printed against the service."""

import re
from pathlib import Path
from typing import Any

import pytest

from agents_proxy.agents import Protocol, Upstream
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.assertions import assertion
from agents_proxy.proxy.envelope import Prompt
from agents_proxy.proxy.subjects import subject_of
from agents_proxy.states import Purpose
from tests.agents_proxy.proxy_calls import consenting
from tests.agents_proxy.test_reference_deletion import request_of
from tests.factories import DeletionFactory, PersonFactory
from tests.system.bridge_js import node

ROOT = Path(__file__).resolve().parents[3]
HANDBOOK = ROOT / "docs" / "agents.md"
ORIGIN = "https://agents.example"
PROMPT = Prompt("ana@example.org", "session-1", "task-one")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def checking(service: str) -> Any:
    """Runs the check of the handbook for each statement: what it answers, or "refused"."""
    node.install(ROOT / "tests" / "node")

    def run(calls: str) -> list[str]:
        [lines] = re.findall(r"^```js\n(import .*?)^```$", HANDBOOK.read_text(), re.DOTALL | re.MULTILINE)
        script = ROOT / "tests" / "node" / "documented.generated.mjs"
        imports = "\n".join(line for line in lines.splitlines() if line.startswith("import"))
        rest = "\n".join(line for line in lines.splitlines() if not line.startswith("import"))
        named = f'const issuer = "{service}", origin = "{ORIGIN}", taken = new Set();\n'
        script.write_text(f"{imports}\n{named}{rest}\n{calls}")
        try:
            return str(node.run(script)).splitlines()
        finally:
            script.unlink()

    return run


def script_calling(function: str, statements: list[str], members: str) -> str:
    """A script that prints what the function answers to each statement."""
    called = f"await {function}(each, {{ {members} taken }})"
    return (
        f"for (const each of {statements!r}) {{\n"
        f"  try {{ console.log(JSON.stringify({called})); }} catch {{ console.log('refused'); }}\n}}\n"
    )


def test_a_request_to_delete_is_checked(checking: Any) -> None:
    person = PersonFactory(email="ana@example.org")
    DeletionFactory(consent__user=person)
    good = request_of(person)
    wrong = [
        request_of(person, **change)
        for change in ({"aud": "https://elsewhere.example"}, {"exp": 1}, {"typ": "processing-consent+jwt"})
    ]
    typ = 'typ: "processing-deletion+jwt",'
    answers = checking(script_calling("claimsOf", [good, good, *wrong, f"{good}A"], typ))

    assert '"emails":["ana@example.org"]' in answers[0]
    assert answers[1:] == ["refused"] * 5


def test_an_assertion_is_checked(checking: Any) -> None:
    consenting(PersonFactory(email="ana@example.org"))
    consent = ProcessingConsent.objects.get()
    about = subject_of(consent.pk, Purpose.PROFILE).for_prompt(PROMPT.text)
    target = Upstream(f"{ORIGIN}/core", "", 20, Protocol.TASKS_SEND)
    good = assertion("core", target, PROMPT, about, consent)
    call = 'purpose: "profile", task: "task-one", text: "ana@example.org",'
    other = assertion("core", Upstream("https://x.example/", "", 20, Protocol.TASKS_SEND), PROMPT, about, consent)
    answers = checking(script_calling("subjectOf", [good, good, other], call))

    assert answers == ['{"emails":["ana@example.org"],"phone_numbers":[]}', "refused", "refused"]
