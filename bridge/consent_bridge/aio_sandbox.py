"""The same people to play for asyncio. Each act is the other client's own: it runs in a thread, since it seals, and its
calls go through the asynchronous client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from consent_bridge.calls import Call
from consent_bridge.sandbox import SandboxPerson
from consent_bridge.transport import Answer
from consent_bridge.wrappers import VaultKey

P = ParamSpec("P")
Result = TypeVar("Result")


class LoopSender:
    """What a thread sends by: each call is made on the event loop that was running when this was made."""

    def __init__(self, do: Callable[[Call[Answer]], Awaitable[Answer]]) -> None:
        self._do, self._loop = do, asyncio.get_running_loop()

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        repeatable: bool = False,
    ) -> Answer:
        """As `Transport.send`; never on the loop's own thread."""
        call = Call(method, path, lambda answer: answer, params=params or {}, body=body, repeatable=repeatable)

        async def do() -> Answer:
            return await self._do(call)

        return asyncio.run_coroutine_threadsafe(do(), self._loop).result()


def _awaited(
    act: Callable[Concatenate[SandboxPerson, P], Result],
) -> Callable[Concatenate[AsyncSandboxPerson, P], Coroutine[Any, Any, Result]]:
    @wraps(act)
    async def awaited(self: AsyncSandboxPerson, /, *args: P.args, **named: P.kwargs) -> Result:
        async with self._one_at_a_time:
            return await asyncio.to_thread(act, self._person, *args, **named)

    return awaited


class AsyncSandboxPerson:
    """`consent_bridge.sandbox.SandboxPerson` for asyncio; each method is described there, and awaited here.

    An `async with` block deletes the person at its end.
    """

    def __init__(self, person: SandboxPerson) -> None:
        self._person, self._one_at_a_time = person, asyncio.Lock()

    async def __aenter__(self) -> AsyncSandboxPerson:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.delete_person()

    @property
    def user_id(self) -> str:
        """What the app calls them; of sandbox people alone it is their own ID."""
        return self._person.user_id

    @property
    def label(self) -> str:
        """What the developer calls them."""
        return self._person.label

    @property
    def vault_key(self) -> VaultKey:
        """What opens all that they keep; KeyRefused where nobody gave it."""
        return self._person.vault_key

    make_vault = _awaited(SandboxPerson.make_vault)
    vault = _awaited(SandboxPerson.vault)
    lock = _awaited(SandboxPerson.lock)
    fill = _awaited(SandboxPerson.fill)
    segments = _awaited(SandboxPerson.segments)
    write = _awaited(SandboxPerson.write)
    update = _awaited(SandboxPerson.update)
    delete = _awaited(SandboxPerson.delete)
    review = _awaited(SandboxPerson.review)
    preview = _awaited(SandboxPerson.preview)
    approve = _awaited(SandboxPerson.approve)
    deny = _awaited(SandboxPerson.deny)
    connect = _awaited(SandboxPerson.connect)
    decline = _awaited(SandboxPerson.decline)
    revoke = _awaited(SandboxPerson.revoke)
    pause = _awaited(SandboxPerson.pause)
    resume = _awaited(SandboxPerson.resume)
    refresh_grant = _awaited(SandboxPerson.refresh_grant)
    expire = _awaited(SandboxPerson.expire)
    delete_person = _awaited(SandboxPerson.delete_person)
