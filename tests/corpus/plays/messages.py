"""Messages and phone numbers: the messaging agent's address, its reports of delivery, and a person's own numbers."""

import base64
import json
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.test import override_settings
from standardwebhooks.webhooks import Webhook

from tests import factories
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.phone_owners import ADDRESS, CALL, OTHER, TO, verified
from tests.agents_proxy.proxy_calls import configure
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import NOBODY, Caller, Stage
from tests.fakes.agents import agent, closed_port, hangs

REPORTS, MESSAGES, NUMBERS, CODES = (
    f"{ADDRESS}/reports",
    "/api/a2a/messages",
    "/api/a2a/numbers",
    "/api/a2a/numbers/codes",
)
_SECRET = "whsec_" + base64.b64encode(b"a secret that only tests have").decode()
_OWN_NUMBER = 918_273_645  # a primary key, which is told, and which no sequence of a database reaches


def play(stage: Stage) -> None:
    person = verified(factories.PersonFactory())
    owner = Caller.signed_in("owner", person)
    with speaking() as agents, override_settings(AGENTS=settings.AGENTS):
        configure(settings, "messaging", url="")
        stage.call("no agent here", owner, "POST", ADDRESS, CALL)
        stage.call("no agent to bring a code", owner, "POST", NUMBERS, {"to": OTHER})
        configure(settings, "messaging", url=f"{agents.address}/messaging")
        _refused(stage, owner)
        _sent(stage, owner, agents)
        _reports(stage, owner)
        _failing(stage, owner)
        configure(settings, "messaging", url=f"{agents.address}/messaging")
        _numbers(stage, agents)


def _refused(stage: Stage, owner: Caller) -> None:
    factories.MessageTemplateFactory(name="offer", agreed=True)
    factories.MessageTemplateFactory(name="waiting")
    for what, changes in {
        "no number": {"to": "0151 123"},
        "a number of no plan": {"to": "+49000000000"},
        "neither text nor template": {"text": None},
        "a blank text": {"text": " "},
        "text and template": {"template": {"name": "offer", "language": "en"}},
        "an unknown template": {"text": None, "template": {"name": "nobody", "language": "en"}},
        "a template that waits": {"text": None, "template": {"name": "waiting", "language": "en"}},
        "other parameters": {"text": None, "template": {"name": "offer", "language": "en"}},
        "an unknown member": {"cc": TO},
        "a task that is none": {"id": "task"},
        "another person's number": {"to": OTHER},
    }.items():
        stage.call(what, owner, "POST", ADDRESS, {**CALL, **changes})
    stage.call("another media type", owner, "POST", ADDRESS, raw=b"x", media="text/plain")
    stage.call("too large", owner, "POST", ADDRESS, raw=b'"%b"' % (b"x" * 300_000))
    stage.call("no consent", Caller.signed_in("stranger", factories.PersonFactory()), "POST", ADDRESS, CALL)
    stage.call("nobody", NOBODY, "POST", ADDRESS, CALL)
    for method in ("GET", "PUT", "OPTIONS"):
        stage.call("another method", owner, method, ADDRESS)


def _sent(stage: Stage, owner: Caller, agents: Agents) -> None:
    stage.call("none yet", owner, "GET", MESSAGES)
    refusals(stage, owner, "GET", MESSAGES)
    agents.says["messaging"] = {"status": "queued", "messageId": "SM-1"}
    stage.call("sent", owner, "POST", ADDRESS, CALL)
    stage.call("sent twice", owner, "POST", ADDRESS, CALL)
    stage.call("the task of another message", owner, "POST", ADDRESS, {**CALL, "text": "Something else"})
    template = {"name": "offer", "language": "en", "parameters": {"name": "Zoe"}}
    stage.call("a template", owner, "POST", ADDRESS, {"to": TO, "template": template, "id": "task-offer"})
    agents.says["messaging"] = {"error": {"code": -32000, "message": "not today"}}
    stage.call("refused by the agent", owner, "POST", ADDRESS, {**CALL, "id": "task-refused"})
    agents.says["messaging"] = {"status": "failed"}
    stage.call("failed", owner, "POST", ADDRESS, {**CALL, "id": "task-failed"})
    stage.call("without names", owner, "POST", ADDRESS, {"to": TO, "text": "Hello"})
    stage.call("what was sent", owner, "GET", MESSAGES)


def _reports(stage: Stage, owner: Caller) -> None:
    report = {"messageId": "SM-1", "status": "delivered"}
    stage.call("none are taken", NOBODY, "POST", REPORTS, report)
    with override_settings(MESSAGING_REPORT_SECRET=_SECRET):
        stage.call("not signed", NOBODY, "POST", REPORTS, report)
        _report(stage, "signed long ago", report, age=600)
        _report(stage, "delivered", report)
        _report(stage, "delivered twice", report)
        _report(stage, "failed afterwards", {**report, "status": "failed"})
        _report(stage, "by its task", {"id": "task-table", "to": TO, "status": "delivered"})
        _report(stage, "an unknown word", {**report, "status": "eaten"})
        _report(stage, "an unknown message", {**report, "messageId": "SM-9"})
        _report(stage, "names no message", {"status": "delivered"})
        _report(stage, "an unknown member", {**report, "bogus": 1})
        for method in ("GET", "PUT", "OPTIONS"):
            stage.call("another method", NOBODY, method, REPORTS)
    stage.call("after the reports", owner, "GET", MESSAGES)


def _report(stage: Stage, what: str, body: dict[str, Any], *, age: int = 0) -> None:
    """A report as the agent signs it; its signature is as old as the clock says, so the same in every play."""
    at, written = stage.clock.now - timedelta(seconds=age), json.dumps(body)
    signed = {
        "webhook-id": "rep-1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(_SECRET).sign("rep-1", at, written),
    }
    stage.call(what, NOBODY, "POST", REPORTS, raw=written.encode(), headers=signed)


def _numbers(stage: Stage, agents: Agents) -> None:
    person = factories.PersonFactory()
    owner = Caller.signed_in("newcomer", person)
    stage.call("none yet", owner, "GET", NUMBERS)
    refusals(stage, owner, "GET", NUMBERS)
    refusals(stage, owner, "POST", NUMBERS, {"to": TO})
    refusals(stage, owner, "POST", CODES, {"to": TO, "code": "123456"})
    for number in ("0151 123", "+49000000000"):
        stage.call(f"the number {number}", owner, "POST", NUMBERS, {"to": number})
    stage.call("a code that nobody sent", owner, "POST", CODES, {"to": TO, "code": "123456"})
    stage.call("a code that is none", owner, "POST", CODES, {"to": TO, "code": "12"})
    agents.says["messaging"] = {"status": "queued", "messageId": "SM-2"}
    stage.call("a code is on its way", owner, "POST", NUMBERS, {"to": TO})
    stage.call("the code", owner, "POST", CODES, {"to": TO, "code": _code(agents)})
    agents.says["messaging"] = {"status": "failed"}
    stage.call("a code that could not be sent", owner, "POST", NUMBERS, {"to": TO})
    for number in range(4):
        stage.call(f"more codes, {number}", owner, "POST", NUMBERS, {"to": OTHER})
    factories.PhoneNumberFactory._meta.model.objects.filter(user=person).delete()
    factories.PhoneNumberFactory(user=person, pk=_OWN_NUMBER)
    stage.call("one", owner, "GET", NUMBERS)
    refusals(stage, owner, "DELETE", f"{NUMBERS}/{_OWN_NUMBER}")
    others = factories.PhoneNumberFactory(pk=_OWN_NUMBER + 1).pk
    stage.call("another person's", owner, "DELETE", f"{NUMBERS}/{others}")
    stage.call("forgotten", owner, "DELETE", f"{NUMBERS}/{_OWN_NUMBER}")
    stage.call("forgotten twice", owner, "DELETE", f"{NUMBERS}/{_OWN_NUMBER}")


def _failing(stage: Stage, owner: Caller) -> None:
    configure(settings, "messaging", url=closed_port())
    stage.call("nobody listens", owner, "POST", ADDRESS, {"to": TO, "text": "Hello", "id": "task-lost"})
    with agent(hangs) as upstream:
        configure(settings, "messaging", url=upstream.url, timeout=0.3)
        stage.call("no answer in time", owner, "POST", ADDRESS, {"to": TO, "text": "Hello", "id": "task-late"})
    with override_settings(A2A_SESSION_BURST=1, A2A_SESSION_PER_SECOND=0.01):
        for number in range(2):
            stage.call(f"too often, {number}", owner, "POST", ADDRESS, {**CALL, "id": f"task-often-{number}"})


def _code(agents: Agents) -> str:
    """The six digits in what the messaging agent was asked last to bring."""
    _, request = agents.asked[-1]
    text = json.loads(request["params"]["message"]["parts"][0]["text"])["text"]
    return next(word for word in text.split() if word.isdecimal() and len(word) == 6)
