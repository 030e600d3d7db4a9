"""A message gateway that sends nothing: it shows what would have been sent, and reports the delivery a second later.

It speaks JSON-RPC as the service's messaging agent does (`tasks/send`, whose one text part is JSON), and reports as
Standard Webhooks say, signed with AGENT_MESSAGING_REPORT_SECRET; without that, or without a server, it reports nothing.
"""

import json
import secrets
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import urllib3
from standardwebhooks.webhooks import Webhook

from examples.neighbourhood.html import STYLE_PATH, page, style, text
from examples.neighbourhood.serving import NOT_FOUND, Request, Response, json_response, redirect
from examples.neighbourhood.store import Store

DELIVERED_AFTER = 1.0  # seconds
_TRIES = (0.0, 2.0, 8.0)  # seconds before each try at a report
_SHOWN = 50
_http = urllib3.PoolManager(maxsize=4)


class Reports:
    """Tells `server` what became of messages, each from a thread of its own."""

    def __init__(self, server: str, secret: str, after: float = DELIVERED_AFTER) -> None:
        self._server, self._secret, self._after = f"{server}/api/a2a/messaging", secret, after

    def report_later(self, message_id: str, delivered: Callable[[], None]) -> None:
        """Report the delivery later; `delivered` is called once the server took it."""
        threading.Thread(target=self._report, args=(message_id, delivered), daemon=True).start()

    def _report(self, message_id: str, delivered: Callable[[], None]) -> None:
        time.sleep(self._after)
        body = json.dumps({"messageId": message_id, "status": "delivered"})
        for pause in _TRIES:
            time.sleep(pause)
            if self._posted("reports", body) is not None:
                delivered()
                return
        sys.stderr.write(f"the server took no report of {message_id}\n")

    def pass_on(self, number: str, words: str) -> str | None:
        """Tell what somebody wrote back; what they are to be answered, if anything."""
        answered = self._posted("inbound", json.dumps({"from": number, "text": words}))
        reply = json.loads(answered or b"{}").get("reply")
        return str(reply) if reply else None

    def _posted(self, what: str, body: str) -> bytes | None:
        """The body of the answer, or None where it was not taken."""
        try:
            answer = _http.request(
                "POST", f"{self._server}/{what}", body=body, headers=self._signed(body), timeout=10, retries=False
            )
        except urllib3.exceptions.HTTPError:
            return None
        return answer.data if answer.status == 200 else None

    def _signed(self, body: str) -> dict[str, str]:
        name, now = f"report_{secrets.token_hex(8)}", datetime.now(UTC)
        return {
            "Content-Type": "application/json",
            "webhook-id": name,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(self._secret).sign(name, now, body),
        }


class Gateway:
    """The program. `POST /messages` takes one, `GET /` shows them, `GET /sent` tells them as JSON.

    `POST /inbound` writes back as the reader of one.
    """

    def __init__(self, store: Store, reports: Reports | None = None) -> None:
        self._store, self._reports = store, reports

    def __call__(self, request: Request) -> Response:
        match request.method, request.path:
            case "POST", "/messages":
                return json_response(200, self._answer(request))
            case "POST", "/inbound":
                return self._write_back(request.form)
            case "GET", "/":
                return self._page()
            case "GET", "/sent":
                return json_response(200, {"sent": self._store.newest("message", _SHOWN)})
            case "GET", path if path == STYLE_PATH:
                return style()
        return NOT_FOUND

    def _answer(self, request: Request) -> dict[str, Any]:
        try:
            call = request.json
        except ValueError:
            return _error(None, -32700, "not JSON")
        if not isinstance(call, dict) or call.get("jsonrpc") != "2.0":
            return _error(None, -32600, "not a JSON-RPC 2.0 request")
        task, params = call.get("id"), call.get("params") or {}
        message = _message_in(params)
        if call.get("method") != "tasks/send" or message is None:
            return _error(task, -32602, "send tasks/send with one text part: JSON with `to` and `text` or `template`")
        message_id = self._keep(task, message)
        part = {"type": "text", "text": json.dumps({"message_id": message_id, "status": "sent"})}
        status = {"state": "completed", "message": {"role": "agent", "parts": [part]}}
        return {
            "jsonrpc": "2.0",
            "id": task,
            "result": {"id": task, "sessionId": params.get("sessionId"), "status": status},
        }

    def _keep(self, task: Any, message: dict[str, Any]) -> str:
        """The message's ID here; a task that comes again for the same number is the message it was."""
        message_id = f"local-{secrets.token_hex(8)}"
        if not self._store.add("task", f"{task} {message['to']}", {"messageId": message_id}):
            kept = self._store.get("task", f"{task} {message['to']}") or {}
            return str(kept.get("messageId", message_id))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        sent = {"messageId": message_id, "task": task, "at": now, "status": "sent", "message": message}
        self._store.add("message", message_id, sent)
        if self._reports is not None:
            delivered = {**sent, "status": "delivered"}
            self._reports.report_later(message_id, lambda: self._store.change("message", message_id, delivered))
        return message_id

    def _write_back(self, form: dict[str, list[str]]) -> Response:
        """What somebody types on the page as the owner of a number; the answer to it is shown like any message."""
        number, words = (form.get(name, [""])[0].strip()[:200] for name in ("from", "text"))
        if self._reports is not None and (reply := self._reports.pass_on(number, words)):
            now, name = datetime.now(UTC).isoformat(timespec="seconds"), f"reply-{secrets.token_hex(8)}"
            entry = {"messageId": name, "at": now, "status": "sent", "message": {"to": number, "text": reply}}
            self._store.add("message", name, entry)
        return redirect("/")

    def _page(self) -> Response:
        shown = "".join(
            f"<li class=bubble><p>{text(_words(one['message']))}</p>"
            f"<p class=quiet>{text(one['message']['to'])} · {text(one['at'])} · {text(one['status'])}</p></li>"
            for one in self._store.newest("message", _SHOWN)
        )
        lead = (
            "<p>A stand-in for a message gateway. Nothing leaves this machine; this is what would have been sent.</p>"
        )
        if self._reports is not None:
            lead += (
                '<form method="post" action="/inbound"><label>Number<input type="tel" name="from" required></label>'
                '<label>Write back<input type="text" name="text" value="STOP" required></label>'
                "<button>Send</button></form>"
            )
        return page("Messages", lead + (f"<ul>{shown}</ul>" if shown else "<p>Nothing yet.</p>"), phone=True)


def _message_in(params: Any) -> dict[str, Any] | None:
    """What the one text part holds, where it is a message."""
    try:
        (part,) = params["message"]["parts"]
        found = json.loads(part["text"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("to"), str):
        return None
    named = isinstance(found.get("template"), dict) and isinstance(found["template"].get("name"), str)
    return found if isinstance(found.get("text"), str) or named else None


def _words(message: dict[str, Any]) -> str:
    """What the recipient would read; of a template, whose wording a gateway has itself, its name and parameters."""
    if "text" in message:
        return str(message["text"])
    template = message["template"]
    given = template.get("parameters") or {}
    filled = ", ".join(f"{name}: {value}" for name, value in given.items()) if isinstance(given, dict) else ""
    return f"{template['name']} ({template.get('language', '')}) {filled}".strip()


def _error(task: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": task, "error": {"code": code, "message": message}}
