"""A CRM that takes signed activations, as Standard Webhooks say, and shows what arrived on a page of its own.

It verifies each request with the secrets it was told: in the environment (CRM_SECRETS, several with spaces between) or
in the form of its page. One `webhook-id` is one arrival, however often it comes. What it is asked to delete it deletes.
"""

import base64
import json
from datetime import UTC, datetime
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from examples.neighbourhood.html import STYLE_PATH, page, style, text
from examples.neighbourhood.serving import NOT_FOUND, Request, Response, json_response, redirect
from examples.neighbourhood.store import Store

_SHOWN = 50
_ALL = 2000  # that are kept
_SECRETS = 1000  # the newest; each trip renews one


class Crm:
    """The program. `POST /activations` takes one, `GET /` shows them, `GET /arrived` tells them as JSON."""

    def __init__(self, store: Store, secrets: tuple[str, ...] = ()) -> None:
        self._store, self._secrets = store, secrets

    def __call__(self, request: Request) -> Response:
        match request.method, request.path:
            case "POST", "/activations":
                return self._take(request)
            case "POST", "/secrets":
                return self._learn(request)
            case "GET", "/":
                return self._page()
            case "GET", "/arrived":
                return json_response(200, {"arrived": self._store.newest("activation", _SHOWN)})
            case "GET", path if path == STYLE_PATH:
                return style()
        return NOT_FOUND

    def _take(self, request: Request) -> Response:
        if not any(_fits(secret, request) for secret in self._known()):
            return json_response(401, {"error": "the signature does not verify"})
        try:
            body = request.json
        except ValueError:
            return json_response(400, {"error": "not JSON"})
        name = request.headers["webhook-id"]
        if isinstance(body, dict) and body.get("type") == "deletion.requested":
            return self._forget(body.get("data"))
        arrival = {"id": name, "at": datetime.now(UTC).isoformat(timespec="seconds"), "said": body}
        self._store.add("activation", name, arrival)  # the same one again changes nothing
        return Response(204)

    def _forget(self, message: Any) -> Response:
        """Delete the arrivals that a signed request names; of somebody who is erased all that name them."""
        try:
            names, confirmation, subject = set(message["activationIds"]), {"deletionId": message["deletionId"]}, []
            if message["consentId"] is None:
                subject = [*message["subject"]["emails"], *message["subject"]["phone_numbers"]]
        except (TypeError, KeyError):
            return json_response(400, {"error": "not a request to delete"})
        arrived = self._store.newest("activation", _ALL)
        theirs = [one["id"] for one in arrived if one["id"] in names or _is_about(one, subject)]
        deleted = sum(self._store.take("activation", name) is not None for name in theirs)
        return json_response(200, {**confirmation, "deleted": deleted})

    def _learn(self, request: Request) -> Response:
        secret = request.form.get("secret", [""])[0].strip()
        if not _is_secret(secret):
            return self._page("A secret is whsec_ and base64.", status=400)
        self._store.add("secret", secret, {"secret": secret})
        return redirect("/")

    def _known(self) -> list[str]:
        return [*self._secrets, *(kept["secret"] for kept in self._store.newest("secret", _SECRETS))]

    def _page(self, complaint: str = "", status: int = 200) -> Response:
        arrived = self._store.newest("activation", _SHOWN)
        shown = "".join(
            f"<li><p><strong>{text(one['at'])}</strong> <span class=quiet>{text(one['id'])}</span></p>"
            f"<pre>{text(json.dumps(one['said'], ensure_ascii=False, indent=1))}</pre></li>"
            for one in arrived
        )
        error = f'<p class=bad role="alert" id="complaint">{text(complaint)}</p>' if complaint else ""
        form = (
            f'<form method="post" action="/secrets">{error}<label>Secret of a destination (whsec_…)'
            '<input type="text" name="secret" required autocomplete="off"'
            f"{' aria-describedby=complaint aria-invalid=true' if complaint else ''}></label>"
            "<button>Verify with this one too</button></form>"
        )
        lead = (
            "<p>A stand-in for a CRM. It takes what people have sent here, where the signature is that of a secret it "
            f"knows: {len(self._known())} of them now. Send to <code>/activations</code>.</p>"
        )
        body = f"{lead}<h2>Arrived</h2>{f'<ul>{shown}</ul>' if shown else '<p>Nothing yet.</p>'}<h2>Secrets</h2>{form}"
        return page("CRM", body, status=status)


def _is_about(arrival: dict[str, Any], subject: list[str]) -> bool:
    body = arrival["said"]
    data = body.get("data") if isinstance(body, dict) else None
    profile = data.get("profile") if isinstance(data, dict) else None
    return isinstance(profile, dict) and any(profile.get(name) in subject for name in ("email", "phone"))


def _fits(secret: str, request: Request) -> bool:
    try:
        Webhook(secret).verify(request.body, request.headers, json_parse=False)
    except (WebhookVerificationError, ValueError):
        return False
    return True


def _is_secret(text: str) -> bool:
    try:
        return text.startswith("whsec_") and bool(base64.b64decode(text.removeprefix("whsec_"), validate=True))
    except ValueError:
        return False
