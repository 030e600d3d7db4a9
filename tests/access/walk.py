"""Calling the addresses of the register, each call undone."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from django.apps import apps
from django.db import connection, transaction

from tests.access.sending import FORM, JSON, Answer, Sender, sender_of
from tests.access.world import World
from tests.addresses import ADDRESSES, Address, Caller, path_of
from tests.counts import forget_outside

_WRITTEN = re.compile(r'\s*\(*(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)', re.IGNORECASE)


class Written:
    """The tables of which rows were written or taken away."""

    def __init__(self) -> None:
        self.tables: set[str] = set()

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if (found := _WRITTEN.match(sql)) and context["cursor"].rowcount:
            self.tables.add(found[1])
        return result


class Walk:
    def __init__(self, world: World) -> None:
        self.world = world
        self._senders = {caller: sender_of(caller, world) for caller in Caller}
        self._records: dict[tuple[str, str], str] = {}
        self._bodies: dict[int, dict[str, Any] | None] = {}
        self.pages: dict[tuple[str, Caller], Answer] = {}

    @cached_property
    def secrets(self) -> tuple[bytes, ...]:
        from tests.access.invariants import secrets_of

        return tuple(secrets_of(self.world))

    def sender(self, caller: Caller) -> Sender:
        return self._senders[caller]

    def ids(self, address: Address) -> dict[str, str]:
        ids = self.world.ids_at(address.route)
        if "<path:object_id>" in address.route:
            room, record = address.route.split("/")[1:3]
            ids = {**ids, "object_id": "1" if room == "r" else self._first(room, record)}
        return ids

    def _first(self, room: str, record: str) -> str:
        if (room, record) not in self._records:
            rows = apps.get_model(room, record)._default_manager.values_list("pk", flat=True)
            self._records[room, record] = str(rows.first())
        return self._records[room, record]

    def body(self, address: Address) -> dict[str, Any] | None:
        """What fits this address; sealed once for all callers."""
        if id(address) not in self._bodies:
            body = address.body(self.world) if callable(address.body) else address.body
            if isinstance(address.body, dict):
                ids = self.ids(address)
                body = {
                    name: value.format(**ids) if isinstance(value, str) else value
                    for name, value in address.body.items()
                }
            self._bodies[id(address)] = body
        return self._bodies[id(address)]

    def path(self, address: Address, **changed: str) -> str:
        ids = {**self.ids(address), **changed}
        query = address.query.format(**ids)
        return path_of(address.route, ids) + (f"?{query}" if query else "")

    def ask(
        self,
        address: Address,
        caller: Caller,
        path: str = "",
        *,
        method: str = "",
        raw: bytes | None = None,
        media: str = "",
        during: AbstractContextManager[Any] | None = None,
        secure: bool = False,
        **headers: str,
    ) -> Answer:
        """What `caller` is answered, and everything as it was before; `raw` goes in place of what fits."""
        if address.route.startswith("mcp"):
            headers = {"Accept": "application/json, text/event-stream", **headers}
        if raw is None:
            body = self.body(address)
            raw = b"" if body is None else urlencode(body).encode() if address.is_form else orjson.dumps(body)
        media, path = media or (FORM if address.is_form else JSON), path or self.path(address)
        with transaction.atomic():
            with during or nullcontext():
                answer = self.sender(caller).send(method or address.method, path, raw, media, secure=secure, **headers)
            transaction.set_rollback(True)
        forget_outside()  # which no rollback reaches, like the bank
        for item in self.world.bank.items.values():
            item.removed = False
        return answer

    def ask_and_note(self, address: Address, caller: Caller, **how: Any) -> tuple[Answer, set[str]]:
        """The same, with the tables that were written to."""
        written = Written()
        answer = self.ask(address, caller, during=connection.execute_wrapper(written), **how)
        if address.method == "GET" and not how and answer.status == 200 and answer.media_type == "text/html":
            self.pages[self.path(address), caller] = answer
        return answer, written.tables


def welcome(address: Address) -> Caller:
    """Whoever gets furthest at this address; person A or a token of theirs before others."""
    order = (Caller.OWNER, Caller.MANAGER, Caller.APP, Caller.TEST_APP, Caller.STAFF_2FA, Caller.ANONYMOUS)
    return min(order, key=lambda caller: address.answers[caller] in _REFUSED)


_REFUSED = ("401", "403", "302 sign-in", "302 confirm", "302")


def parts(addresses: Iterable[Address], most: int = 10) -> list[Any]:
    """The addresses as parameters of a test, some of one room in each."""
    found = []
    for room, inside in groupby(addresses, key=lambda address: address.room):
        several = list(inside)
        for start in range(0, len(several), most):
            part = several[start : start + most]
            name = f"{room or 'home'} {start // most + 1}"
            found.append((name, part))
    names = unique(name for name, _ in found)
    return [pytest.param(part, id=name) for name, (_, part) in zip(names, found, strict=True)]


def unique(names: Iterable[str]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}.{seen[name]}"


every_address = pytest.mark.parametrize("addresses", parts(ADDRESSES))


def all_well(found: Mapping[str, Iterable[str]]) -> None:
    """Fails with a line for each answer that is not in order."""
    if found:
        lines = [f"{where}: {'; '.join(faults)}" for where, faults in found.items()]
        pytest.fail("\n".join([f"{len(lines)} answers are not in order:", *lines]), pytrace=False)
