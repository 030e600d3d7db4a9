"""What a caller is answered while the database is away, and what is wrong with it."""

import http.client
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


def unlike_a_refusal(path: str, answer: Answer) -> list[str]:
    """A 503 says when to come again, in the form of its address."""
    wrong = [] if int(answer.headers.get("Retry-After", "0")) > 0 else ["Retry-After"]
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    text = answer.body.decode()
    if kind == "text/html":
        wrong += [] if "<h1>" in text and "503" in text else ["the page"]
    elif path == "/readyz":
        wrong += [] if json.loads(text)["checks"]["database"] is False else ["readyz"]
    elif kind == "application/problem+json":
        wrong += [] if json.loads(text)["code"] == "temporarily_unavailable" else ["the problem"]
    elif kind == "application/json":
        error = json.loads(text)["error"]  # a word of OAuth's (RFC 6749, 5.2), or JSON-RPC's object
        code = error if isinstance(error, str) else error["data"]["code"]
        wrong += [] if code == "temporarily_unavailable" else ["the error"]
    else:
        wrong.append(f"Content-Type: {kind}")
    if path.startswith(("/api/", "/mcp", "/vault/keys", "/vault/segments")) and kind == "text/html":
        wrong.append("a page for a program")
    return wrong
