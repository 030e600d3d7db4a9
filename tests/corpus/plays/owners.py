"""What every owner address in JSON refuses alike: another method, a stranger, no CSRF token, a body that is none."""

from typing import Any

from tests.corpus.stage import NOBODY, Caller, Stage

TOO_LARGE = 16_800_000  # bytes: more than any address takes
_UNFIT: dict[str, bytes] = {
    "no JSON": b"{",
    "an array": b"[]",
    "a member twice": b'{"a": 1, "a": 2}',
    "no UTF-8": b'"\xff"',
    "NUL": b'{"a": "\\u0000"}',
    "an unknown member": b'{"bogus": 1}',
}


def refusals(stage: Stage, owner: Caller, method: str, path: str, body: Any = None) -> None:
    """`method` is one that the address takes; `body` one that would fit."""
    for other in ("PATCH", "OPTIONS"):
        stage.call(f"another method than {method}", owner, other, path)
    stage.call("a stranger", NOBODY, method, path, body)
    token = Caller.with_token("a token", "cr_live_unknown")
    stage.call("a token means nothing here", token, method, path, body)
    stage.call("an unknown member of the query", owner, method, f"{path}{'&' if '?' in path else '?'}bogus=1", body)
    if method == "GET":
        return
    without = Caller("person without a CSRF token", {}, owner.cookies)
    stage.call("no CSRF token", without, method, path, body)
    wrong = Caller("person with another CSRF token", {"X-CSRFToken": "x" * 32}, owner.cookies)
    stage.call("another CSRF token", wrong, method, path, body)
    stage.call("another media type", owner, method, path, raw=b"a=1", media="text/plain")
    stage.call("too large", owner, method, path, raw=b'"%b"' % (b"x" * TOO_LARGE))
    if body is not None:
        for what, raw in _UNFIT.items():
            stage.call(what, owner, method, path, raw=raw)
