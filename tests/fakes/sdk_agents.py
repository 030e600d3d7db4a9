"""An upstream agent made with the official A2A SDK, on real HTTP: A2A 1.0 and, as the SDK offers, 0.3 at one place."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator, Sequence

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue_v2 import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role, Task
from a2a.utils.errors import UnsupportedOperationError
from starlette.applications import Starlette

from tests.fakes.agents import CANARY
from tests.patience import eventually


class Says(AgentExecutor):
    """Answers every prompt with `text`, as `form` says.

    message, status, artifact; data (text beside it), chunks (the text in two), soon (working for a moment), late
    (until `release`), endless (until it is called off), failing (a task that failed, with JSON), question (asks first,
    and tells the answer with the text); error and crash are of JSON-RPC.
    """

    def __init__(self, form: str, text: str) -> None:
        self.form, self.text = form, text
        self.prompts: list[str] = []
        self.called_off = threading.Event()
        self._released = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def release(self) -> None:
        """Let what is late come to its end."""
        eventually(lambda: self._loop is not None, "a prompt")
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._released.set)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self._loop = asyncio.get_running_loop()
        self.prompts.append(context.get_user_input())
        match self.form:
            case "message":
                await event_queue.enqueue_event(new_text_message(self.text, context_id=context.context_id))
            case "error":
                raise UnsupportedOperationError(message=CANARY, data={"stack": CANARY})
            case "crash":
                raise RuntimeError(CANARY)
            case _:
                await self._as_task(context, event_queue)

    async def _as_task(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work(self._message(task, CANARY))
        match self.form:
            case "status":
                await updater.complete(self._message(task, self.text))
            case "artifact":
                await self._finished(updater, [new_text_part(self.text)])
            case "data":
                await self._finished(updater, [new_text_part("Here it is."), new_data_part(json.loads(self.text))])
            case "chunks":
                half = len(self.text) // 2
                chunk = {"artifact_id": "profile", "name": "profile"}
                await updater.add_artifact([new_text_part(self.text[:half])], **chunk, last_chunk=False)
                await updater.add_artifact([new_text_part(self.text[half:])], **chunk, append=True, last_chunk=True)
                await updater.complete()
            case "soon":
                await asyncio.sleep(0.1)
                await self._finished(updater, [new_text_part(self.text)])
            case "late" | "endless":
                await self._released.wait()
                await self._finished(updater, [new_text_part(self.text)])
            case "failing":
                await updater.failed(self._message(task, self.text))
            case "question" if len(self.prompts) == 1:
                await updater.requires_input(self._message(task, "Which Zoe?"))
            case "question":
                await self._finished(updater, [new_text_part(self.text), new_text_part(self.prompts[-1])])

    async def _finished(self, updater: TaskUpdater, parts: list[Part]) -> None:
        await updater.add_artifact(parts, name="profile")
        await updater.complete()

    def _message(self, task: Task, text: str) -> Message:
        return new_text_message(text, context_id=task.context_id, task_id=task.id, role=Role.ROLE_AGENT)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.called_off.set()
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def _card(address: str, versions: Sequence[str], *, streams: bool) -> AgentCard:
    return AgentCard(
        name="Agent of the tests",
        description="Says what a test wants.",
        version="1.0.0",
        capabilities=AgentCapabilities(streaming=streams),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="say", name="say", description="Says it.", tags=["tests"])],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=version) for version in versions
        ],
    )


@contextlib.contextmanager
def sdk_agent(executor: Says, *, versions: Sequence[str] = ("1.0", "0.3"), streams: bool = False) -> Iterator[str]:
    """The address at which `executor` has its card and takes JSON-RPC in these versions, until the block ends."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    card = _card(address, versions, streams=streams)
    handler = DefaultRequestHandler(executor, InMemoryTaskStore(), card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
    config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started, "an agent that listens")
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
