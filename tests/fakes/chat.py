"""A chat completions endpoint, written from the public API reference: requests are checked as it says they are."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.fakes.serving import Answering, serving

MODEL, KEY = "model-of-tests", "sk-key-of-tests"


@dataclass
class Chat:
    """`entries` is what the model finds. `choice` changes the first choice; `error` (status, body, headers) refuses.

    `written` is what becomes of a body on its way.
    """

    url: str = ""
    entries: list[Any] = field(default_factory=list)
    choice: dict[str, Any] = field(default_factory=dict)
    error: tuple[int, Any, dict[str, str]] | None = None
    written: Callable[[str], bytes] = str.encode
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str, headers: dict[str, str], request: Any) -> tuple[int, Any, dict[str, str]]:
        if headers.get("authorization") != f"Bearer {KEY}":
            return 401, _error("Incorrect API key provided", "invalid_request_error", "invalid_api_key"), {}
        if path == "/v1/models":
            return (
                200,
                {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "us"}]},
                {},
            )
        if path != "/v1/chat/completions":
            return 404, _error("Unknown request URL", "invalid_request_error", "unknown_url"), {}
        self.requests.append(request)
        self.headers.append(headers)
        if fault := _fault(request):
            return 400, _error(fault, "invalid_request_error", None), {}
        return self.error or (200, self._completion(), {})

    def _completion(self) -> dict[str, Any]:
        content = json.dumps({"entries": self.entries})
        message = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", **self.choice}
        usage = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}
        envelope = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1741569952, "model": MODEL}
        return {**envelope, "choices": [choice], "usage": usage, "service_tier": "default"}


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _fault(request: dict[str, Any]) -> str:
    """What the reference says is refused; "" where nothing is."""
    if request.get("model") != MODEL:
        return "The model does not exist"
    if [message.keys() for message in request["messages"]] != [{"role", "content"}] * 2:
        return "Invalid messages"
    wanted = request.get("response_format", {})
    schema = wanted.get("json_schema", {})
    if wanted.get("type") != "json_schema" or not schema.get("name") or schema.get("strict") is not True:
        return "Invalid response_format"
    return "" if _is_strict(schema["schema"]) else "Invalid schema for response_format"


def _is_strict(schema: dict[str, Any]) -> bool:
    """Structured outputs: an object takes no other members, and requires all that it names."""
    if schema["type"] == "array":
        return _is_strict(schema["items"])
    if schema["type"] != "object":
        return True
    members = schema["properties"]
    closed = schema.get("additionalProperties") is False and schema.get("required") == list(members)
    return closed and all(_is_strict(member) for member in members.values())


@contextmanager
def chatting() -> Iterator[Chat]:
    """The endpoint on a port of its own, gone afterwards."""
    chat = Chat()

    class Handler(Answering):
        def get(self) -> None:
            self._answer_chat({})

        def post(self) -> None:
            self._answer_chat(json.loads(self.body()))

        def _answer_chat(self, request: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, body, more = chat.answer(self.path, headers, request)
            self.answer(status, chat.written(json.dumps(body)), {"Content-Type": "application/json", **more})

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        chat.url = f"{address}/v1"
        yield chat
