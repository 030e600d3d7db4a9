"""An upstream agent made with the official A2A SDK, on real HTTP: A2A 1.0 and, as the SDK offers, 0.3 at one place."""

import contextlib
import threading
from collections.abc import Iterator

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_artifact, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue_v2 import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.errors import UnsupportedOperationError
from starlette.applications import Starlette

from tests.fakes.agents import CANARY
from tests.patience import eventually


class Says(AgentExecutor):
    """Answers every prompt with `text`, as `form` says: message, status, artifact; or fails: error, crash."""

    def __init__(self, form: str, text: str) -> None:
        self.form, self.text = form, text
        self.asked: list[str] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.asked.append(context.get_user_input())
        match self.form:
            case "message":
                await event_queue.enqueue_event(new_text_message(self.text, context_id=context.context_id))
            case "status" | "artifact":
                await self._as_task(context, event_queue)
            case "error":
                raise UnsupportedOperationError(message=CANARY, data={"stack": CANARY})
            case "crash":
                raise RuntimeError(CANARY)

    async def _as_task(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if self.form == "status":
            await updater.complete(new_text_message(self.text, context_id=task.context_id, task_id=task.id))
        else:
            await updater.add_artifact(list(new_text_artifact("profile", self.text).parts), name="profile")
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise UnsupportedOperationError


def _card(address: str) -> AgentCard:
    return AgentCard(
        name="Agent of the tests",
        description="Says what a test wants.",
        version="1.0.0",
        capabilities=AgentCapabilities(),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="say", name="say", description="Says it.", tags=["tests"])],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
    )


@contextlib.contextmanager
def sdk_agent(executor: Says) -> Iterator[str]:
    """The address at which `executor` takes JSON-RPC, until the block ends."""
    card = _card("http://127.0.0.1/")
    handler = DefaultRequestHandler(executor, InMemoryTaskStore(), card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
    config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started, "an agent that listens")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join(30)
