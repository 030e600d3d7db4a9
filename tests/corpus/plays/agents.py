"""A person's own consents to processing and their analyses, with real stand-ins for the agents."""

from typing import Any

import orjson
from django.conf import settings
from django.test import override_settings

from agents_proxy.analyses.models import Run
from tests import factories
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.proxy_calls import SITE
from tests.agents_proxy.receivers import token_of
from tests.agents_proxy.runs import BODY, finished
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import Caller, Stage

CONSENTS, ANALYSES, DESTINATIONS = "/api/a2a/consents", "/api/a2a/analyses", "/api/a2a/destinations"
_PROFILES = {
    "brand": {"age": 30, "likes": ["coffee"], "brand_affinities": ["Blue Bottle"]},
    "core": {"full_name": "Ana Sá", "city": "Porto"},
    "public": '```json\n{"profession": "Cook"}\n```',
    "second": {"error": {"code": -32000, "message": "not today"}},
}


def play(stage: Stage) -> None:
    person, other = factories.PersonFactory(), factories.PersonFactory()
    owner = Caller.signed_in("owner", person)
    _consents(stage, owner, other)
    with speaking() as agents, override_settings(AGENTS={**settings.AGENTS, **agents.settings()}):
        _started(stage, person, owner)
        _finished(stage, person, owner, agents)
        _others(stage, owner, other)
        _sendings(stage)
        _tokens(stage, agents)


def _consents(stage: Stage, owner: Caller, other: Any) -> None:
    body = {"purposes": ["profile", "enrichment"], "agreed": True}
    stage.call("none yet", owner, "GET", CONSENTS)
    refusals(stage, owner, "GET", CONSENTS)
    refusals(stage, owner, "POST", CONSENTS, body)
    for what, changes in {
        "not agreed": {"agreed": False},
        "agreed as a number": {"agreed": 1},
        "no purpose": {"purposes": []},
        "an unknown purpose": {"purposes": ["everything"]},
        "a purpose twice": {"purposes": ["profile", "profile"]},
    }.items():
        stage.call(what, owner, "POST", CONSENTS, {**body, **changes})
    given = stage.call("given", owner, "POST", CONSENTS, body).json()["consentId"]
    stage.call("one", owner, "GET", CONSENTS)
    refusals(stage, owner, "DELETE", f"{CONSENTS}/{given}")
    stage.call("withdrawn", owner, "DELETE", f"{CONSENTS}/{given}")
    stage.call("withdrawn twice", owner, "DELETE", f"{CONSENTS}/{given}")
    stage.call("after all this", owner, "GET", CONSENTS)
    others = factories.ProcessingConsentFactory(user=other).consent_id
    stage.call("another person's", owner, "DELETE", f"{CONSENTS}/{others}")


def _started(stage: Stage, person: Any, owner: Caller) -> None:
    stage.call("none yet", owner, "GET", ANALYSES)
    refusals(stage, owner, "POST", ANALYSES, BODY)
    for what, changes in {
        "not agreed": {"agreed": False},
        "no address": {"email": "ana"},
        "no name": {"fullName": " "},
        "a name of two lines": {"fullName": "Ana\nSá"},
        "no country code": {"countryCode": "49"},
        "no number": {"phoneNumber": "12"},
        "one member too many": {"urgent": True},
    }.items():
        stage.call(what, owner, "POST", ANALYSES, {**BODY, **changes})
    run = stage.call("started", owner, "POST", ANALYSES, BODY).json()["analysisId"]
    at = f"{ANALYSES}/{run}"
    stage.call("waits for a worker", owner, "GET", at)
    stage.call("nothing answered yet", owner, "GET", f"{at}/raw")
    stage.call("no step to repeat", owner, "POST", f"{at}/steps/brand/retry", {})
    stage.call("no such step", owner, "POST", f"{at}/steps/nobody/retry", {})
    for path in (at, f"{at}/raw"):
        refusals(stage, owner, "GET", path)
    refusals(stage, owner, "POST", f"{at}/cancel", {})
    refusals(stage, owner, "POST", f"{at}/steps/brand/retry", {})
    stage.call("cancelled", owner, "POST", f"{at}/cancel", {})
    stage.call("cancelled twice", owner, "POST", f"{at}/cancel", {})
    stage.call("as it was left", owner, "GET", at)
    refusals(stage, owner, "DELETE", at)
    stage.call("deleted", owner, "DELETE", at)
    stage.call("deleted twice", owner, "DELETE", at)
    stage.call("gone", owner, "GET", at)


def _finished(stage: Stage, person: Any, owner: Caller, agents: Agents) -> None:
    """Three agents answered and the last one did not, so its step can be repeated."""
    agents.says.update(_PROFILES)
    run = finished(person)
    at = f"{ANALYSES}/{run.analysis_id}"
    stage.call("what came of it", owner, "GET", at)
    stage.call("what they said", owner, "GET", f"{at}/raw")
    stage.call("over already", owner, "POST", f"{at}/cancel", {})
    stage.call("a step that did not fail", owner, "POST", f"{at}/steps/brand/retry", {})
    ended = finished(person)
    factories.ProcessingConsentFactory._meta.model.objects.filter(pk=ended.consent_id).update(
        withdrawn_at=ended.created_at
    )
    retried = f"{ANALYSES}/{ended.analysis_id}/steps/second/retry"
    stage.call("its consent was withdrawn", owner, "POST", retried, {})
    ended.delete()
    stage.call("a step that failed", owner, "POST", f"{at}/steps/second/retry", {})
    stage.call("all", owner, "GET", ANALYSES)
    stage.call("the first", owner, "GET", f"{ANALYSES}?limit=1")
    stage.call("after it", owner, "GET", f"{ANALYSES}?limit=1&cursor={run.analysis_id}")
    for query in ("limit=0", "limit=101", "limit=x", "cursor=!", "cursor=ana_unknown", "bogus=1", "limit=1&limit=2"):
        stage.call("does not fit", owner, "GET", f"{ANALYSES}?{query}")
    while stage.ask(owner, "POST", ANALYSES, orjson.dumps(BODY)).status != 429:
        pass  # twenty may be under way
    stage.call("one too many", owner, "POST", ANALYSES, BODY)


def _others(stage: Stage, owner: Caller, other: Any) -> None:
    at = f"{ANALYSES}/{factories.RunFactory(user=other).analysis_id}"
    for path in (at, f"{ANALYSES}/ana_unknown"):
        stage.call("not yours", owner, "GET", path)
        stage.call("not yours", owner, "DELETE", path)
        stage.call("not yours", owner, "GET", f"{path}/raw")
        stage.call("not yours", owner, "POST", f"{path}/cancel", {})
        stage.call("not yours", owner, "POST", f"{path}/steps/brand/retry", {})


def _sendings(stage: Stage) -> None:
    """With a session, each sending under a consent of the person's own; nothing can be sent to the destination."""
    person = factories.PersonFactory()
    owner = Caller.signed_in("sender", person)
    destination = factories.DestinationFactory()
    factories.ProcessingConsentFactory(user=person, site=True, app=destination.app)
    run = factories.RunFactory(user=person)
    here = f"{ANALYSES}/{run.analysis_id}/activations"
    body = {"destinationId": destination.destination_id}
    stage.call("nothing sent yet", owner, "GET", here)
    stage.call("where to", owner, "GET", DESTINATIONS)
    stage.call("no consent", owner, "POST", here, body)
    agreed = {"purposes": ["activation"], "destinations": [destination.destination_id], "agreed": True}
    stage.call("without its purpose", owner, "POST", CONSENTS, {**agreed, "purposes": ["profile"]})
    stage.call("to nowhere", owner, "POST", CONSENTS, {**agreed, "destinations": ["des_unknown"]})
    stage.call("given for sending", owner, "POST", CONSENTS, agreed)
    stage.call("agreed to", owner, "GET", DESTINATIONS)
    for method, path in (("GET", here), ("POST", here), ("GET", DESTINATIONS)):
        refusals(stage, owner, method, path, body if method == "POST" else None)
    stage.call("a number too high", owner, "POST", here, {**body, "sending": 100})
    stage.call("no such destination", owner, "POST", here, {"destinationId": "des_unknown"})
    stage.call("nothing to send", owner, "POST", here, body)
    run = finished(person)
    here = f"{ANALYSES}/{run.analysis_id}/activations"
    asked = stage.call("sent", owner, "POST", here, body).json()
    stage.call("sent before", owner, "POST", here, body)
    stage.call("every sending", owner, "GET", here)
    refusals(stage, owner, "GET", asked["statusUrl"])
    stage.call("one", owner, "GET", asked["statusUrl"])
    stage.call("no such sending", owner, "GET", f"{here}/act_unknown")
    spent = {"ANALYSES_PER_PERSON_PER_HOUR": 1, "ACTIVATIONS_PER_PERSON_PER_HOUR": 1}
    with override_settings(A2A_BUDGETS={**settings.A2A_BUDGETS, **spent}):
        for attempt in ("the last of the hour", "one too many"):
            stage.call(attempt, owner, "POST", ANALYSES, BODY)
        stage.call("one too many", owner, "POST", f"{ANALYSES}/{run.analysis_id}/steps/second/retry", {})
        stage.call("one too many", owner, "POST", here, {**body, "sending": 2})
    for method, path in (("GET", here), ("POST", here), ("GET", asked["statusUrl"])):
        gone = path.replace(run.analysis_id, "ana_unknown")
        stage.call("no such analysis", owner, method, gone, body if method == "POST" else None)


def _tokens(stage: Stage, agents: Agents) -> None:
    """An enterprise with a consent token, and what is refused to one that covers nothing."""
    app = factories.AppFactory(origins=[SITE])
    destination = factories.DestinationFactory(app=app)
    client = _holding("a token", token_of(factories.PersonFactory(), app, destination))
    started = stage.call("by token", client, "POST", ANALYSES, BODY).json()["analysisId"]
    at = f"{ANALYSES}/{started}"
    stage.call("those of the token", client, "GET", ANALYSES)
    stage.call("where the app has it sent", client, "GET", DESTINATIONS)
    body = {"destinationId": destination.destination_id}
    stage.call("nothing to send yet", client, "POST", f"{at}/activations", body)
    run = Run.objects.get(analysis_id=started)
    factories.ActivationFactory(run=run, destination=destination)
    stage.call("a number of the person's own sending", client, "POST", f"{at}/activations", body)
    addresses: list[tuple[str, str, Any]] = [
        ("GET", ANALYSES, None), ("POST", ANALYSES, BODY), ("GET", at, None), ("DELETE", at, None),
        ("POST", f"{at}/cancel", {}), ("GET", f"{at}/raw", None), ("POST", f"{at}/steps/brand/retry", {}),
        ("GET", f"{at}/activations", None), ("POST", f"{at}/activations", body),
        ("GET", f"{at}/activations/act_unknown", None), ("GET", DESTINATIONS, None),
    ]  # fmt: skip
    nobody, elsewhere = _holding("an unknown token", "x" * 43), {"Origin": "https://evil.example"}
    for method, path, sent in addresses:
        stage.call("a token of nobody", nobody, method, path, sent)
        stage.call("from another origin", client, method, path, sent, headers=elsewhere)
    stage.call("from its site", client, "GET", ANALYSES, headers={"Origin": SITE})
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    stage.call("may a page call", client, "OPTIONS", ANALYSES, headers=asked)


def _holding(name: str, token: str) -> Caller:
    return Caller(name, {"A2A-Consent": token})
