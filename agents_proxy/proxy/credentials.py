"""What an upstream lets us in by: a bearer token, a header, or a token that is had for client credentials."""

import base64
import time
from urllib.parse import quote, urlencode

from agents_proxy.agents import ClientCredentials, Upstream
from agents_proxy.errors import AgentRefusedUs, CallFailed, InvalidAgentResponse, UpstreamTimeout
from common.json_bodies import strict_json
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed, TimedOut
from common.problems import InvalidRequest

NONE_CAME = "no token came"  # a failure's words begin with it where there is no token
_LIMIT = 64 * 1024  # bytes of an answer
_LEEWAY = 30  # seconds before its end that a token is not used any more
_ASSUMED = 300  # seconds that one holds which does not say so
_LONGEST = 86_400  # seconds that one is used at most

_tokens: dict[ClientCredentials, tuple[float, str]] = {}  # of this process, with the end of each by the monotonic clock


def headers_for(upstream: Upstream, client: Client, seconds: float) -> dict[str, str]:
    """The headers that let a request in.

    Raises `AgentRefusedUs` where no token is had, and `CallFailed` or one of its kinds.
    """
    if upstream.credentials is None:
        return upstream.token_headers
    return {"Authorization": f"Bearer {_token(upstream.credentials, client, seconds)}"}


def forget(upstream: Upstream) -> None:
    """The token was refused: another one is had for the next request."""
    if upstream.credentials in _tokens:
        _tokens[upstream.credentials] = (0.0, _tokens[upstream.credentials][1])


def secrets_of(upstream: Upstream) -> tuple[str, ...]:
    """What no log may hold, the token that the upstream saw last among them."""
    _, token = _tokens.get(upstream.credentials, (0.0, "")) if upstream.credentials else (0.0, "")
    return (*upstream.secrets, token) if token else upstream.secrets


def _token(credentials: ClientCredentials, client: Client, seconds: float) -> str:
    until, token = _tokens.get(credentials, (0.0, ""))
    if until <= time.monotonic():
        token, lifetime = _requested_token(credentials, client, seconds)
        _tokens[credentials] = (time.monotonic() + max(0, lifetime - _LEEWAY), token)
    return token


def _requested_token(credentials: ClientCredentials, client: Client, seconds: float) -> tuple[str, int]:
    """A token and the seconds that it holds (RFC 6749, 2.3.1 and 4.4)."""
    named = f"{quote(credentials.client_id, safe='')}:{quote(credentials.secret, safe='')}"
    form = {"grant_type": "client_credentials", **({"scope": credentials.scope} if credentials.scope else {})}
    headers = {
        "Accept": "application/json",
        "Authorization": f"Basic {base64.b64encode(named.encode()).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    try:
        answer = client.post(credentials.url, urlencode(form).encode(), headers=headers, seconds=seconds, limit=_LIMIT)
    except ExchangeFailed as failure:
        timed_out = isinstance(failure, TimedOut)
        raise _failure(UpstreamTimeout() if timed_out else CallFailed(), "it cannot be reached") from None
    if answer.status != 200:
        raise _failure(AgentRefusedUs() if 400 <= answer.status < 500 else CallFailed(), f"HTTP {answer.status}")
    return _read(answer)


def _read(answer: Answer) -> tuple[str, int]:
    try:
        members = strict_json(answer.body)
        token, kind = members["access_token"], members.get("token_type", "Bearer")
        lifetime = members.get("expires_in", _ASSUMED)
        if isinstance(token, str) and token.isascii() and token.isprintable() and str(kind).lower() == "bearer":
            return token, min(int(lifetime), _LONGEST)
    except (InvalidRequest, KeyError, TypeError, AttributeError, ValueError):
        pass
    raise _failure(InvalidAgentResponse(), "none that is a bearer token")


def _failure(failure: CallFailed, why: str) -> CallFailed:
    failure.upstream_text = f"{NONE_CAME}: {why}"
    return failure
