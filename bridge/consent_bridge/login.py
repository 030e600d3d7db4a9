"""`consent-bridge login` and `logout`: a browser allows this program, and nothing is pasted (OAuth 2.1, RFC 8252).

The tokens lie in a file of the state directory that only this user can read, as the connector key does.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import sys
import time
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import requests

from consent_bridge.encoding import parse_object
from consent_bridge.errors import BadAnswer, Problem, Refused, WaitTimeout, one_line
from consent_bridge.exports import origin_of
from consent_bridge.keyring import Keyring
from consent_bridge.keys import public_half
from consent_bridge.state import alone, read_small_file, state_directory, write_private_file
from consent_bridge.transport import Transport, anonymous, rest_base_url

ABOUT = (
    "connect this program in the browser, without a token to paste",
    "Opens a page on which you choose for whom it acts: an app of yours, or you alone. What it was allowed is kept in "
    "the state directory, readable by this user alone, and renewed; a token that is given goes before it.",
)
_BROWSER_TIMEOUT = 600.0  # seconds for somebody at a browser
_EARLY = 60.0  # seconds before its end that a token is renewed
_CALLBACK = "/callback"
_DONE = b"Done: you may close this page."


def login_command(options: Namespace, keyring: Keyring) -> dict[str, Any]:
    """Let a person allow this program; what it may do."""
    base_url = rest_base_url(address(options))
    resource = _fetched(f"{origin_of(base_url)}/.well-known/oauth-protected-resource/api/v1")
    if resource.get("resource") != base_url:
        raise BadAnswer(f"the service at {base_url} says that it is at another address")
    issuer = _text(resource.get("authorization_servers", [""])[0])
    server = _fetched(f"{issuer}/.well-known/oauth-authorization-server")
    if server.get("issuer") != issuer:
        raise BadAnswer(f"the authorization server {issuer} says that it is another one")
    with _Callback() as callback:
        kept = {
            "base_url": base_url,
            "token_endpoint": _text(server.get("token_endpoint")),
            "revocation_endpoint": _text(server.get("revocation_endpoint")),
            "client_id": _registered(server, callback.address, keyring),
        }
        given = _allowed(server, kept, callback, _opened if options.browser else _shown)
    write_private_file(_path(), {**kept, **given}, force=True)
    return {"base_url": base_url, "scope": given["scope"]}


def logout_command(options: Namespace) -> dict[str, Any]:
    """Give up what this program was allowed, here and at the service."""
    with alone(_path()):
        kept = _kept()
        if kept is None:
            raise Refused("nobody is logged in here")
        with suppress(Problem):  # a client that the service has forgotten is allowed nothing
            _sent(kept["revocation_endpoint"], client_id=kept["client_id"], token=kept["refresh_token"])
        _path().unlink()
    return {"base_url": kept["base_url"], "scope": ""}


def address(options: Namespace) -> str:
    """Where the service is: what was given, else where this program is logged in."""
    given = options.base_url or os.environ.get("CONSENT_BASE_URL")
    kept = None if given else _kept()
    if not given and kept is None:
        raise Refused("CONSENT_BASE_URL is not set: the service's address, ending in /api/v1")
    return str(given or (kept and kept["base_url"]))


def kept_token(base_url: str) -> Callable[[], str] | None:
    """What gives the token of this service that is good now; None where this program is not logged in there."""
    kept = _kept()
    return _current if kept and kept["base_url"] == rest_base_url(base_url) else None


def _current() -> str:
    with alone(_path()):
        kept = _kept()
        if kept is None:
            raise Refused("nobody is logged in here any more")
        if kept["expires_at"] - _EARLY <= time.time():
            form = {"grant_type": "refresh_token", "refresh_token": kept["refresh_token"]}
            kept |= _tokens(_sent(kept["token_endpoint"], client_id=kept["client_id"], **form))
            write_private_file(_path(), kept, force=True)
    return str(kept["access_token"])


def _registered(server: Mapping[str, Any], redirect_uri: str, keyring: Keyring) -> str:
    metadata = {
        "client_name": "consent-bridge",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
        "jwks": {"keys": [public_half(keyring.current())]},  # without a key it could ask, but not read
    }
    return _text(_call("POST", _text(server.get("registration_endpoint")), body=metadata).get("client_id"))


def _allowed(
    server: Mapping[str, Any], kept: Mapping[str, str], callback: _Callback, show: Callable[[str], None]
) -> dict[str, Any]:
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "response_type": "code",
        "client_id": kept["client_id"],
        "redirect_uri": callback.address,
        "resource": kept["base_url"],
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    show(f"{_text(server.get('authorization_endpoint'))}?{urlencode(query)}")
    brought = callback.wait(state)
    if brought.get("iss") != server["issuer"]:
        raise Refused("the answer came from another authorization server", member="iss")
    if "code" not in brought:
        raise Refused(f"not allowed: {one_line(brought.get('error', 'no reason was given'), 80)}")
    form = {"grant_type": "authorization_code", "code": brought["code"], "code_verifier": verifier}
    redirect = {"client_id": kept["client_id"], "redirect_uri": callback.address}
    return _tokens(_sent(kept["token_endpoint"], **form, **redirect))


class _Callback(HTTPServer):
    """Where the browser brings the answer: a port of this machine alone, for one answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_port}{_CALLBACK}"
        self.brought: dict[str, str] = {}

    def wait(self, state: str) -> dict[str, str]:
        """The answer to what was sent with this `state`; anything else that comes is passed over."""
        ends_at = time.monotonic() + _BROWSER_TIMEOUT
        while (left := ends_at - time.monotonic()) > 0:
            self.timeout = left
            self.handle_request()
            if secrets.compare_digest(self.brought.get("state", "").encode(), state.encode()):
                return self.brought
        raise WaitTimeout("nobody allowed it in the browser in time")


class _Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != _CALLBACK or not isinstance(self.server, _Callback):
            self.send_error(404)
            return
        self.server.brought = dict(parse_qsl(parts.query))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(_DONE)))
        self.end_headers()
        self.wfile.write(_DONE)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the address holds the code."""


def _shown(url: str) -> None:
    sys.stderr.write(f"consent-bridge: open {url}\n")
    sys.stderr.flush()


def _opened(url: str) -> None:
    _shown(url)
    webbrowser.open(url)


def _fetched(url: str) -> dict[str, Any]:
    return _call("GET", url, repeatable=True)


def _sent(url: str, **form: str) -> dict[str, Any]:
    return _call("POST", url, form=form)


def _call(method: str, url: str, **what: Any) -> dict[str, Any]:
    with requests.Session() as session:
        session.auth = anonymous
        return Transport(url, session).send(method, "", **what).json()


def _tokens(answer: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: _text(answer.get(name)) for name in ("access_token", "refresh_token", "scope")}
    seconds = answer.get("expires_in")
    if not isinstance(seconds, int):
        raise BadAnswer("the answer does not say how long the token lasts")
    return {**named, "expires_at": int(time.time()) + seconds}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadAnswer("the authorization server's answer lacks a member")
    return value


def _path() -> Path:
    return state_directory() / "login.json"


def _kept() -> dict[str, Any] | None:
    path = _path()
    return parse_object(read_small_file(path, "the login"), f"the login {path}") if path.exists() else None
