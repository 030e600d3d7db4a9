"""What is open to all: keys, checkpoint, the OpenAPI document, health, and what is nowhere."""

from django.test import override_settings

from tests import factories
from tests.corpus.plays.owners import TOO_LARGE
from tests.corpus.stage import NOBODY, Caller, Stage

KEYS, CHECKPOINT, SCHEMA = "/.well-known/consent-keys.json", "/.well-known/consent-checkpoint.json", "/api/schema/"
LEAKED = "/api/v1/leaked-tokens"


def play(stage: Stage) -> None:
    _health(stage)
    stage.call("the public keys", NOBODY, "GET", KEYS)
    stage.call("no checkpoint yet", NOBODY, "GET", CHECKPOINT)
    factories.AuditCheckpointFactory()
    stage.call("the newest checkpoint", NOBODY, "GET", CHECKPOINT)
    for path in (KEYS, CHECKPOINT):
        for method in ("HEAD", "POST", "OPTIONS"):
            stage.call("another method", NOBODY, method, path)
        stage.call("an unknown member of the query", NOBODY, "GET", f"{path}?bogus=1")
    _document(stage)
    _leaked(stage)
    _nowhere(stage)


def _health(stage: Stage) -> None:
    for path in ("/livez", "/readyz"):
        for method in ("GET", "HEAD", "POST", "DELETE"):
            stage.call("health", NOBODY, method, path)


def _document(stage: Stage) -> None:
    stage.call("the document", NOBODY, "GET", SCHEMA)
    stage.call("the document in YAML", NOBODY, "GET", f"{SCHEMA}?format=yaml")
    stage.call("the document in YAML by Accept", NOBODY, "HEAD", SCHEMA, headers={"Accept": "application/yaml"})
    stage.call("a form that there is not", NOBODY, "GET", f"{SCHEMA}?format=xml")
    stage.call("an unknown member of the query", NOBODY, "GET", f"{SCHEMA}?bogus=1")
    stage.call("another method", NOBODY, "POST", SCHEMA, {})


def _leaked(stage: Stage) -> None:
    """The same answer for every text, whoever brings it."""
    found = factories.TokenFactory().secret
    for what, token in {"a token of ours": found, "revoked before": found, "none of ours": "cr_live_nobody"}.items():
        stage.call(what, NOBODY, "POST", LEAKED, {"token": token})
    for method in ("GET", "PUT"):
        stage.call("another method", NOBODY, method, LEAKED)
    stage.call("no token", NOBODY, "POST", LEAKED, {})
    stage.call("another media type", NOBODY, "POST", LEAKED, raw=b"token=x", media="text/plain")
    stage.call("too large", NOBODY, "POST", LEAKED, raw=b'"%b"' % (b"x" * TOO_LARGE))
    with override_settings(LEAKED_TOKENS_PER_HOUR=1):
        stage.call("too often", NOBODY, "POST", LEAKED, {"token": "cr_live_somebody"})


def _nowhere(stage: Stage) -> None:
    for path in (
        "/api/v1/nothing",
        "/api/v1/",
        "/api/nothing",
        "/.well-known/nothing",
        "/mcp/nothing",
        "/vault/nothing",
    ):
        stage.call("nothing is there", NOBODY, "GET", path, page=path == "/vault/nothing")
    stage.call("a page that is nowhere", NOBODY, "GET", "/nothing/", page=True)
    stage.call("a slash too many", NOBODY, "GET", "/api/v1/scope-catalog/")
    stage.call("a host that is not ours", Caller("nobody", {"Host": "evil.example"}), "GET", KEYS)
    stage.call("a host that is not ours", Caller("nobody", {"Host": "evil.example"}), "GET", "/vault/keys")
    stage.call("a request ID of the caller's own", NOBODY, "GET", KEYS, headers={"X-Request-Id": "a-trace-of-mine"})
