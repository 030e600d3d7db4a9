"""The agents' own addresses: who may call, what does not fit, and what comes of an upstream that fails."""

from typing import Any

from django.conf import settings
from django.test import override_settings

from tests import factories
from tests.agents_proxy.proxy_calls import CALL, SITE, configure, consenting, site_client
from tests.corpus.stage import NOBODY, Caller, Stage
from tests.fakes.agents import Behaviour, agent, answers, closed_port, cuts_off, hangs, resets, result_of, says

BRAND = "/api/a2a/brand"
_PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
_FAILING: dict[str, Behaviour] = {
    "resets": resets,
    "cuts off": cuts_off,
    "no JSON": says(lambda asked: b"<html>"),
    "another task": says(lambda asked: {**result_of(asked), "id": "task-other"}),
    "neither result nor error": says(lambda asked: {"jsonrpc": "2.0", "id": asked.body["id"]}),
    "a redirect": says(lambda asked: b"", status="302 Found", location="https://evil.example/"),
    "an HTTP error": says(lambda asked: {"oops": 1}, status="500 Internal Server Error"),
    "not authorized": says(lambda asked: {"oops": 1}, status="401 Unauthorized"),
}


def play(stage: Stage) -> None:
    person = consenting(factories.PersonFactory())
    owner = Caller.signed_in("owner", person)
    with override_settings(AGENTS=settings.AGENTS):
        configure(settings)
        stage.call("not configured", owner, "POST", BRAND, CALL)
        _refused(stage, owner)
        _sites(stage)
        _failing(stage, owner)
        _answers(stage, owner)
        with agent(answers()) as upstream, override_settings(A2A_SESSION_BURST=1, A2A_SESSION_PER_SECOND=1):
            _limited(stage, upstream.url)


def _refused(stage: Stage, owner: Caller) -> None:
    for name in ("unknown", "Brand", "brand/x"):
        stage.call("no such agent", owner, "POST", f"/api/a2a/{name}", CALL)
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
        stage.call("another method", owner, method, BRAND)
    stage.call("nobody", NOBODY, "POST", BRAND, CALL)
    stage.call("no consent", Caller.signed_in("stranger", factories.PersonFactory()), "POST", BRAND, CALL)
    stage.call("no CSRF token", Caller("owner without a CSRF token", {}, owner.cookies), "POST", BRAND, CALL)
    for origin in ("https://evil.example", "null"):
        stage.call(f"the origin {origin}", owner, "POST", BRAND, CALL, headers={"Origin": origin})
    stage.call("another media type", owner, "POST", BRAND, raw=b"x", media="text/plain")
    stage.call("compressed", owner, "POST", BRAND, CALL, headers={"Content-Encoding": "gzip"})
    stage.call("too large", owner, "POST", BRAND, raw=b'"%b"' % (b"x" * 300_000))
    for what, raw in {
        "no JSON": b"{",
        "a member twice": b'{"text":"a","text":"b"}',
        "NUL": b'{"text":"\\u0000"}',
    }.items():
        stage.call(what, owner, "POST", BRAND, raw=raw)
    stage.call("a query", owner, "POST", f"{BRAND}?x=1", CALL)
    unfit: dict[str, Any] = {
        "an array": [],
        "no text": {"id": "task-named"},
        "a blank text": {"text": " "},
        "a text that is too long": {"text": "x" * 20_001},
        "a session that is none": {**CALL, "sessionId": "mine"},
        "a task that is none": {**CALL, "id": "mine"},
        "an unknown member": {**CALL, "model": "other"},
    }
    for what, body in unfit.items():
        stage.call(what, owner, "POST", BRAND, body)


def _sites(stage: Stage) -> None:
    """Another site's page and its backend, with the token that a person gave the site."""
    token = (site_client().headers or {})["A2A-Consent"]
    origin = {"Origin": SITE}
    page = Caller("a site's page", {**origin, "A2A-Consent": token})
    with agent(answers()) as upstream:
        configure(settings, url=upstream.url)
        stage.call("asks first", Caller("a site's page"), "OPTIONS", BRAND, headers={**origin, **_PREFLIGHT})
        evil = {"Origin": "https://evil.example", **_PREFLIGHT}
        stage.call("another page asks first", Caller("another page"), "OPTIONS", BRAND, headers=evil)
        stage.call("without a token", Caller("a site's page"), "POST", BRAND, CALL, headers=origin)
        stage.call(
            "with another token", Caller("a site's page"), "POST", BRAND, CALL, headers={**origin, "A2A-Consent": "x"}
        )
        stage.call("with its token", page, "POST", BRAND, CALL)
        stage.call("does not fit", page, "POST", BRAND, {"text": ""})
        stage.call("from its backend", Caller("a site's backend", {"A2A-Consent": token}), "POST", BRAND, CALL)


def _failing(stage: Stage, owner: Caller) -> None:
    configure(settings, url=closed_port())
    stage.call("nobody listens", owner, "POST", BRAND, CALL)
    for what, behaviour in _FAILING.items():
        with agent(behaviour) as upstream:
            configure(settings, url=upstream.url)
            stage.call(f"upstream: {what}", owner, "POST", BRAND, CALL)
    with agent(hangs) as upstream:
        configure(settings, url=upstream.url, timeout=0.3)
        stage.call("upstream: hangs", owner, "POST", BRAND, CALL)


def _answers(stage: Stage, owner: Caller) -> None:
    for name in ("brand", "core", "public", "second"):
        with agent(answers()) as upstream:
            configure(settings, name, url=upstream.url)
            stage.call("answers", owner, "POST", f"/api/a2a/{name}", CALL)
            stage.call("answers under names of ours", owner, "POST", f"/api/a2a/{name}", {"text": "Who am I?"})
    for protocol, method in {"a2a-0.3": "message/send", "a2a-1.0": "SendMessage"}.items():
        with agent(answers()) as upstream:
            configure(settings, url=upstream.url, protocol=protocol)
            stage.call(f"answers to {method}", owner, "POST", BRAND, CALL)
    told = {
        "an error of its own": lambda asked: {
            "jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": -32000, "message": "secret", "data": {"a": 1}},
        },
        "members of its own": lambda asked: {**result_of(asked), "extra": 1},
        "a huge number": lambda asked: {**result_of(asked), "result": {"n": 10**30}, "extra": 1},
    }  # fmt: skip
    for what, make in told.items():
        with agent(says(make)) as upstream:
            configure(settings, url=upstream.url)
            stage.call(f"answers with {what}", owner, "POST", BRAND, CALL)


def _limited(stage: Stage, url: str) -> None:
    """Two calls a moment, where one is allowed and the next one only later."""
    caller = Caller.signed_in("hasty", consenting(factories.PersonFactory()))
    configure(settings, url=url)
    with override_settings(A2A_SESSION_BURST=2, A2A_SESSION_PER_SECOND=0.25):
        for number in range(4):
            stage.call(f"call {number}", caller, "POST", BRAND, CALL)
