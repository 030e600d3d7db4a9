"""Forty answers of programs as they go over the wire, one of each kind, in a world whose clock stands still."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import gettempdir
from typing import Any

from django.db import transaction
from django.test import override_settings

import tests.factories
from agents_proxy.analyses.models import Step
from tests.access.sending import Answer
from tests.access.walk import Walk
from tests.access.world import World, make_world, people_with_old_data
from tests.addresses import ADDRESSES, Address, Caller
from tests.answers.clock import stopped_clock
from tests.answers.placeholders import Placeholders
from tests.factories import HiddenScopeFactory
from tests.fakes.aggregator import aggregating

APP, MANAGER, OWNER, TEST_APP = Caller.APP, Caller.MANAGER, Caller.OWNER, Caller.TEST_APP
KEPT = (
    ("GET /readyz", Caller.ANONYMOUS),
    ("GET /.well-known/consent-keys.json", Caller.ANONYMOUS),
    ("GET /.well-known/consent-checkpoint.json", Caller.ANONYMOUS),
    ("GET /log/proof/<str:entry_hash>", Caller.ANONYMOUS),
    ("GET /log/consistency", Caller.ANONYMOUS),
    ("GET /api/v1/user-scopes/<str:user_id>", APP),
    ("GET /api/v1/user-scopes/<str:user_id>", Caller.ANONYMOUS),
    ("GET /api/v1/user-scopes/<str:user_id>", Caller.READ),
    ("GET /api/v1/user-scopes/<str:user_id>", Caller.SUSPENDED),
    ("POST /api/v1/request-consent", APP),
    ("GET /api/v1/consent-status", APP),
    ("GET /api/v1/consent-status", Caller.OTHER_APP),
    ("POST /api/v1/end-consent", APP),
    ("GET /api/v1/consent-requests", APP),
    ("GET /api/v1/consent-export", APP),
    ("GET /api/v1/receipts/<str:receipt_id>", APP),
    ("POST /mcp", Caller.READ),
    ("GET /api/v1/sandbox/people", TEST_APP),
    ("POST /api/v1/sandbox/people", TEST_APP),
    ("GET /api/v1/manage/apps", MANAGER),
    ("POST /api/v1/manage/apps/<str:app_id>/webhooks", MANAGER),
    ("GET /api/v1/manage/apps/<str:app_id>/webhooks/<str:endpoint_id>/deliveries", MANAGER),
    ("GET /api/v1/manage/apps/<str:app_id>/destinations", MANAGER),
    ("GET /api/v1/manage/apps/<str:app_id>/log", MANAGER),
    ("POST /api/v1/manage/apps/<str:app_id>/tokens", MANAGER),
    ("GET /api/v1/manage/apps/<str:app_id>/members", MANAGER),
    ("GET /vault/keys", OWNER),
    ("GET /vault/segments", OWNER),
    ("PUT /vault/signing-key", OWNER),
    ("DELETE /vault/wrappers/<str:wrapper_id>", OWNER),
    ("GET /vault/legacy", OWNER),
    ("GET /consent/requests/<str:request_id>/data", OWNER),
    ("POST /consent/requests/<str:request_id>/decision", OWNER),
    ("GET /consent/grants/<str:grant_id>/approval", OWNER),
    ("GET /consent/history/chain", OWNER),
    ("GET /api/a2a/consents", OWNER),
    ("GET /api/a2a/analyses/<str:analysis_id>", OWNER),
    ("GET /api/a2a/analyses/<str:analysis_id>/activations", OWNER),
    ("GET /api/a2a/financial/items", OWNER),
    ("POST /api/a2a/<path:agent>", OWNER),
)
# the smallest state that shows the kind: one row of a list, one tool's answer and not the schemas of all
NARROWED = {"GET /api/v1/consent-requests": "limit=1"}
TOOL_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
# PostgreSQL gives the members of what it kept as JSON in an order of its own, SQLite in that in which they came
_FROM_JSON_COLUMNS = {"metadata", "counts", "provenance", "facts", "connector_public_key"}


def played() -> dict[str, Any]:
    """What is answered now, by address and caller."""
    by_name = {address.name: address for address in ADDRESSES}
    placeholders, found = Placeholders(), {}
    with _stage() as walk:
        for name, caller in KEPT:
            found[f"{name} as {caller.value}"] = _recorded(_answer_of(walk, by_name[name], caller), placeholders)
    return found


@contextmanager
def _small(world: World, address: Address) -> Iterator[None]:
    """One scope of the person's, one step of the analysis; the walk undoes it with the call."""
    if address.name == "GET /api/v1/user-scopes/<str:user_id>":
        HiddenScopeFactory(user=world.owner)
    if address.name == "GET /api/a2a/analyses/<str:analysis_id>":
        Step.objects.filter(position__gt=0).delete()
    yield


def _answer_of(walk: Walk, address: Address, caller: Caller) -> Answer:
    path, raw = walk.path(address), None
    if address.name in NARROWED:
        path += f"?{NARROWED[address.name]}"
    if address.name == "POST /mcp":
        called = {"name": "check_consent_status", "arguments": {"request_id": walk.world.ids["read_id"]}}
        raw = json.dumps({**TOOL_CALL, "params": called}).encode()
    return walk.ask(address, caller, path, raw=raw, during=_small(walk.world, address))


def _recorded(answer: Answer, placeholders: Placeholders) -> dict[str, Any]:
    text = placeholders.put(answer.body.decode(), trace=answer.headers["X-Request-Id"])
    tokens = placeholders.take_descriptions()
    body = _ordered(json.loads(text)) if answer.media_type.endswith("json") else text
    record = {"status": answer.status, "type": answer.headers["Content-Type"], "body": body}
    for token in tokens.values():  # claims that the body repeats
        if isinstance(body, dict) and token.get("claims") == body.get("claims", {}):
            token["claims"] = "those of the body"
    return {**record, "tokens": tokens} if tokens else record


def _ordered(value: Any, *, sort: bool = False) -> Any:
    if isinstance(value, list):
        return [_ordered(one, sort=sort) for one in value]
    if not isinstance(value, dict):
        return value
    members = sorted(value.items()) if sort else value.items()
    return {name: _ordered(one, sort=sort or name in _FROM_JSON_COLUMNS) for name, one in members}


@contextmanager
def _stage() -> Iterator[Walk]:
    # stores are shared with others, and what is unset in one environment may be set in another
    folder = {"data_folder_out": gettempdir()}
    known = {"REDIS_URL": "", "CELERY_BROKER_URL": "spool://", "CELERY_BROKER_TRANSPORT_OPTIONS": folder}
    with (
        aggregating() as bank,
        override_settings(AGGREGATOR=bank.settings(), MESSAGING_REPORT_SECRET="", TRUSTED_PROXIES=0, **known),
        transaction.atomic(),
        _numbers_from_nought(),
        stopped_clock(),
    ):
        yield Walk(make_world(bank, *people_with_old_data()))
        transaction.set_rollback(True)


@contextmanager
def _numbers_from_nought() -> Iterator[None]:
    """The factories number what they make; here they begin at nought, whatever was made before."""
    numbering = [each for each in vars(tests.factories).values() if hasattr(each, "reset_sequence")]
    reached = [each._meta.next_sequence() for each in numbering]
    for each in numbering:
        each.reset_sequence(0, force=True)
    try:
        yield
    finally:
        for each, number in zip(numbering, reached, strict=True):
            each.reset_sequence(number, force=True)
