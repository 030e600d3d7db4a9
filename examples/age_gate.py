"""A wine shop that has to know whether its visitors are 18, and learns just that: yes or no, once, and no birthday.

    python -m examples.age_gate        then open http://127.0.0.1:8091/ (PORT chooses another port)

On a connection rides one request for the answer `age_over_18`, for a single read within five minutes. Once it is read
the connection ends, so that nothing is left to stop. CONSENT_BASE_URL and CONSENT_DEVELOPER_TOKEN say where and as
whom; `http://127.0.0.1:8091` must be one of the app's origins. The answer is kept for the visit and no longer.
"""

import os
import secrets
from dataclasses import dataclass
from http.cookies import SimpleCookie
from threading import Lock

from consent_bridge.client import Client
from consent_bridge.errors import BridgeError
from consent_bridge.sealed import generate_connector_key
from examples.neighbourhood.html import STYLE_PATH, page, style, text
from examples.neighbourhood.serving import NOT_FOUND, Request, Response, Server, redirect

SCOPE = "attr.identity.basic.age_over_18"
PURPOSE = "See once whether you may buy wine here"
COME_IN, TOO_YOUNG, UNKNOWN = (
    "Come in.",
    "Not yet. See you when you are 18.",
    "We could not find out whether you are 18.",
)
_PROOF_BUTTON = '<form method="post" action="/ask"><button>Show that I am 18</button></form>'


@dataclass
class Visit:
    """What the gate knows of one visitor: the connection that this very visit began, and what to tell them."""

    connection_id: str = ""
    message: str = ""


class Gate:
    """The program: `GET /`, `POST /ask`, and `GET /back`, where the consent app sends people."""

    def __init__(self, client: Client) -> None:
        self._client, self._one_at_a_time = client, Lock()  # as a client is used
        self._key = generate_connector_key()
        self._request = client.request_along(SCOPE, purpose=PURPOSE, key=self._key, access_duration=300, max_reads=1)
        self._visits: dict[str, Visit] = {}

    def __call__(self, request: Request) -> Response:
        cookie = SimpleCookie(request.headers.get("cookie", "")).get("visitor")
        visit = self._visits.get(cookie.value if cookie else "", Visit())  # names that we made up alone
        back = f"http://{request.headers['host']}/back"
        with self._one_at_a_time:
            match request.method, request.path:
                case "GET", "/":
                    inside = visit.message == COME_IN
                    return page("Wine", f"<p>{text(visit.message)}</p>{'' if inside else _PROOF_BUTTON}")
                case "POST", "/ask":
                    return self._start(back)
                case "GET", "/back":
                    visit.message = self._learn(visit, back, request.query)
                    return redirect("/")
                case "GET", path if path == STYLE_PATH:
                    return style()
        return NOT_FOUND

    def _start(self, back: str) -> Response:
        try:
            made = self._client.begin_connection(return_url=back, request=self._request)
        except BridgeError:
            return page("Wine", f"<p>{UNKNOWN}</p>", status=503)
        visitor = secrets.token_urlsafe(24)
        self._visits[visitor] = Visit(made.connection_id)
        cookie = f"visitor={visitor}; HttpOnly; SameSite=Lax; Path=/"
        return Response(303, headers={"Location": made.connect_url or made.code_url, "Set-Cookie": cookie})

    def _learn(self, visit: Visit, back: str, returned: dict[str, str]) -> str:
        """What to say to whoever came back; a code of another visit's connection is left alone."""
        connection_id, visit.connection_id = visit.connection_id, ""
        code = returned.get("connection_code", "")
        if not code or returned.get("connection_id") != connection_id:
            return UNKNOWN
        try:
            return self._answer(connection_id, code, back)
        except BridgeError:
            return UNKNOWN

    def _answer(self, connection_id: str, code: str, back: str) -> str:
        client = self._client
        request = client.complete_connection(connection_id, code, request=self._request, return_url=back).request
        if request is None or client.status(request.request_id).status != "approved":
            return UNKNOWN
        answer = client.read(request, self._key).data["identity"]["basic"]["age_over_18"]
        client.end_connection(request.user_id)
        return {True: COME_IN, False: TOO_YOUNG}.get(answer, UNKNOWN)  # or it cannot be said


def main() -> None:
    """Serve until Ctrl-C."""
    with Client(os.environ["CONSENT_BASE_URL"], os.environ["CONSENT_DEVELOPER_TOKEN"]) as client:
        server = Server(int(os.environ.get("PORT", "8091")), Gate(client))
        print(f"Open {server.address}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
