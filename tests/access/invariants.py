"""What is true of every answer, whoever asks for what."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.html import strip_tags
from jsonschema import Draft202012Validator

from common.problems import every_problem
from consent.api.openapi import document
from tests.access.sending import Answer
from tests.access.walk import Walk
from tests.access.world import CANARY, World
from tests.addresses import Address, Caller
from tests.config.wanted_headers import lacking

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = {"type", "title", "status", "code", "detail", "trace_id"}
# of an upstream that is not configured, answers wrongly, late or not at all
OF_UPSTREAMS = {
    502: {"invalid_agent_response", "upstream_unavailable", "agent_refused_us"},
    503: {"agent_not_configured"},
    504: {"upstream_timeout"},
}
_JSON = ("application/json", "application/problem+json", "application/ld+json")
_CODES = {problem.code for problem in every_problem()}
_OF_EVERY_CALL = {"developer_tokens", "management_tokens", "rate_counts"}
_SHORTEST = 12  # characters of a secret that is looked for
_FIELD = re.compile(r"<(?:input|select)\b[^>]*>")
_OF_AN_ADDRESS = re.compile(r'\s(?:type="email"|name="(?:\w*_)?email"|autocomplete="(?:[\w -]* )?email")')
_NOT_TYPED = re.compile(r'\stype="(?:hidden|radio|checkbox)"')
_LABEL = re.compile(r'<label\b[^>]*\sfor="([^"]+)"[^>]*>(.*?)</label>', re.DOTALL)
EMAIL_LABEL = "E-mail address"


def in_short(answer: Answer) -> str:
    """The status, and for a redirect where it leads: `302 sign-in`, `302 second factor`, `302 confirm`."""
    if answer.status not in (301, 302, 303):
        return str(answer.status)
    leads = {
        "/accounts/login/": "sign-in",
        "/admin/login/": "sign-in",
        "/accounts/2fa/": "second factor",
        "/accounts/reauthenticate/": "confirm",
    }
    to = next((name for start, name in leads.items() if answer.headers["Location"].startswith(start)), "")
    return f"{answer.status} {to}".strip()


def faults(walk: Walk, address: Address, caller: Caller, answer: Answer, *, https: bool = False) -> list[str]:
    """What is wrong with this answer, in words; nothing where all is well."""
    found = lacking(f"/{address.route}", answer.status, answer.headers, https=https)
    everything = b"\n".join([answer.body, *(line.encode() for line in answer.lines)])
    found += [f"it holds the secret {secret.decode()[:9]}…" for secret in walk.secrets if secret in everything]
    if CANARY.encode() in everything and not _may_see_others(address, caller):
        found.append("it holds what is person C's")
    if walk.world.owner.email.encode() in everything and not _may_see_owner(address, caller):
        found.append("it holds person A's e-mail address")
    if answer.status >= 500 and answer.code not in OF_UPSTREAMS.get(answer.status, ()):
        found.append(f"{answer.status}: {answer.body[:300]!r}")
    return found + (_program_faults(answer) if address.speaks_json else _page_faults(address, answer))


def _may_see_others(address: Address, caller: Caller) -> bool:
    """Staff, and where person C wants to be found."""
    return caller is Caller.STAFF_2FA and address.room == "admin"


def _may_see_owner(address: Address, caller: Caller) -> bool:
    return caller is Caller.OWNER or _may_see_others(address, caller)


def secrets_of(world: World) -> Iterator[bytes]:
    """Keys, tokens, and where this program lies."""
    secrets = [settings.SECRET_KEY, *settings.DATA_ENCRYPTION_KEYS, *world.tokens.values(), str(ROOT)]
    secrets += [key["d"] for keys in (settings.RECEIPT_KEYS, settings.LOG_KEYS) for key in keys]
    secrets += [settings.DATABASES["default"].get("PASSWORD", ""), "Traceback (most recent call"]
    yield from (text.encode() for text in map(str, secrets) if len(text) >= _SHORTEST)


def traces(address: Address, written: set[str], answer: Answer) -> list[str]:
    """A refusal leaves no trace but that a token was used, and how often somebody looked for people in vain."""
    is_refusal = in_short(answer) in ("401", "403", "404", "405", "302 sign-in")
    return [f"refused, and wrote to {table}" for table in sorted(written - _OF_EVERY_CALL)] if is_refusal else []


def misnamed(answer: Answer) -> list[str]:
    """Fields for an e-mail address that are called something else than on every other page."""
    return [f"an e-mail address is called {label!r}" for label in email_labels(answer) if label != EMAIL_LABEL]


def email_labels(answer: Answer) -> Iterator[str]:
    """What each field for an e-mail address is called, without what marks it as optional."""
    if answer.media_type != "text/html":
        return
    page = answer.body.decode()
    labels = {name: " ".join(strip_tags(label).split()) for name, label in _LABEL.findall(page)}
    for field in _FIELD.findall(page):
        if _OF_AN_ADDRESS.search(field) and not _NOT_TYPED.search(field):
            own = re.search(r'\sid="([^"]*)"', field)
            label = labels.get(own[1] if own else "", "no label")
            yield re.sub(r" \(optional\)$|:$", "", label).replace("\N{NON-BREAKING HYPHEN}", "-")


def undocumented(address: Address, answer: Answer) -> list[str]:
    """What of this answer the OpenAPI document does not say, where it describes the address."""
    operation = _operations().get((address.method, re.sub("<[^>]*>", "{}", address.route)))
    if operation is None:
        return []
    response = operation["responses"].get(str(answer.status))
    if response is None:
        return [f"{answer.status} is not in the document"]
    content = response.get("content", {})
    if not answer.body or answer.media_type == "text/event-stream":
        return []
    if answer.media_type not in content:
        return [f"{answer.status} as {answer.media_type} is not in the document"]
    schema = {**content[answer.media_type].get("schema", {}), "components": document()["components"]}
    errors = Draft202012Validator(schema).iter_errors(answer.json())
    return [f"not as the document says: {error.message[:200]}" for error in errors]


@cache
def _operations() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), re.sub(r"{\w+}", "{}", path).strip("/")): operation
        for path, item in document()["paths"].items()
        for method, operation in item.items()
    }


def _program_faults(answer: Answer) -> list[str]:
    """An answer of an address that speaks JSON; a refusal has the shape that the contract gives it."""
    if answer.status < 300 or answer.status == 304:
        is_broken = answer.media_type in _JSON and answer.body not in (b"", b"null") and answer.json() is None
        return ["it is not JSON"] * is_broken + [f"a page: {answer.media_type}"] * (
            answer.media_type == "text/html" and bool(answer.body)
        )
    if answer.status < 400:
        return [f"a program is sent on: {answer.headers['Location']}"]
    body = answer.json()
    if isinstance(body, dict) and "jsonrpc" in body:
        error = body.get("error")
        return [] if isinstance(error, dict) and isinstance(error.get("code"), int) else ["no error of JSON-RPC"]
    # to hosts a refusal is plain JSON with the members of OAuth beside the problem's (RFC 6749, 5.2)
    is_of_oauth = isinstance(body, dict) and body.get("error") == body.get("code")
    expected = "application/json" if is_of_oauth else "application/problem+json"
    if answer.media_type != expected or not isinstance(body, dict):
        return [f"{answer.status} as {answer.media_type} is no problem"]
    if not body.keys() >= PROBLEM or body["status"] != answer.status or body["code"] not in _CODES:
        return [f"{answer.status} as {sorted(body)}, {body.get('code')}, is no problem of the contract"]
    return []


def _page_faults(address: Address, answer: Answer) -> list[str]:
    """What somebody sees is a page with a title and a heading, not a word alone."""
    if answer.status in (301, 302, 303):
        return []
    is_page = answer.media_type == "text/html"
    if answer.status == 200 and address.method == "GET" and address.seen_by and not is_page:
        return [f"no page, but {answer.media_type}"]
    if not is_page:
        is_bare = answer.status >= 400 and answer.media_type not in _JSON
        return [f"{answer.status} as {answer.media_type} is no page"] * is_bare
    lacks = [part for part in (b"<title>", b"<h1") if part not in answer.body]
    return [f"a page without {lacks}"] if lacks and answer.body and (answer.status >= 400 or address.seen_by) else []
