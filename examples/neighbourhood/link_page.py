"""The aggregator's hosted page: choose a bank, sign in, choose accounts, agree or leave; then back to who sent you.

Four steps, one form each; what was chosen before travels in hidden fields, and every step checks all of it anew.
"""

import secrets
from datetime import UTC, datetime
from typing import Any

from examples.neighbourhood.aggregator import new_item
from examples.neighbourhood.customers import ACCOUNTS, CUSTOMERS, INSTITUTIONS, customer_of
from examples.neighbourhood.html import page, text
from examples.neighbourhood.serving import Request, Response, redirect
from examples.neighbourhood.store import Store

_INVENTED = '<p class="quiet">A stand-in: this bank, its customers and their purchases are invented.</p>'


class LinkPage:
    """`GET /link/{token}`, then `POST /link/{token}/bank`, `…/sign-in`, `…/agree`, or `…/leave` at any time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, request: Request) -> Response:
        token, _, step = request.path.removeprefix("/link/").partition("/")
        link = self._store.get("link", token)
        if link is None or link["sessions"] or datetime.fromisoformat(link["ends"]) < datetime.now(UTC):
            return page("This visit is over", "<p>Go back to where you came from and begin again.</p>", status=410)
        visit, form = _Visit(token, link), request.form
        match request.method, step:
            case "GET", "" if link["updates"]:
                return visit.again()
            case "POST", "again" if link["updates"]:
                return self._sign_in_again(token, link)
            case "GET", "":
                return visit.banks()
            case "POST", "bank":
                return visit.sign_in(form)
            case "POST", "sign-in":
                return visit.accounts(form)
            case "POST", "agree":
                return self._agree(visit, form)
            case "POST", "leave":
                return self._end(token, link, [], left=True)
        return page("No such page", "<p>Go back to where you came from.</p>", status=404)

    def _agree(self, visit: "_Visit", form: dict[str, list[str]]) -> Response:
        institution, name = _one(form, "institution"), _one(form, "name")
        accounts = [account.key for account in ACCOUNTS if account.key in form.get("account", [])]
        if institution not in INSTITUTIONS or not name:
            return visit.banks("Choose a bank and sign in.")
        if not accounts:
            return visit.accounts(form, "Choose at least one account.")
        item = new_item(
            institution=institution, name=name, customer=customer_of(name), accounts=accounts,
            link=visit.link, today=datetime.now(UTC).date(),
        )  # fmt: skip
        public = f"public-local-{secrets.token_hex(16)}"
        self._store.add("public", public, item)
        about = {"institution_id": institution, "name": INSTITUTIONS[institution]}
        return self._end(visit.token, visit.link, [{"public_token": public, "institution": about}])

    def _sign_in_again(self, token: str, link: dict[str, Any]) -> Response:
        item = self._store.get("item", link["updates"])
        if item is not None:
            self._store.change("item", link["updates"], {**item, "login": False})
        return self._end(token, link, [], left=item is None)

    def _end(self, token: str, link: dict[str, Any], added: list[dict[str, Any]], *, left: bool = False) -> Response:
        session = {
            "link_session_id": secrets.token_hex(8),
            "exit": {"error": None} if left else None,
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "results": {"item_add_results": added},
        }
        self._store.change("link", token, {**link, "sessions": [session]})
        return redirect(link["redirect"])


class _Visit:
    def __init__(self, token: str, link: dict[str, Any]) -> None:
        self.token, self.link = token, link

    def banks(self, complaint: str = "") -> Response:
        choices = "".join(
            f'<label><input type="radio" name="institution" value="{key}" required> {text(name)}</label>'
            for key, name in INSTITUTIONS.items()
        )
        body = f"<fieldset><legend>Your bank</legend>{choices}</fieldset><button>Continue</button>"
        return self._step("Choose your bank", "bank", body, complaint)

    def again(self) -> Response:
        body = (
            '<label>Password<input type="password" name="password" autocomplete="off"></label>'
            '<p class="quiet">Anything will do.</p><button>Sign in</button>'
        )
        return self._step("Sign in again", "again", body, "")

    def sign_in(self, form: dict[str, list[str]], complaint: str = "") -> Response:
        institution = _one(form, "institution")
        if institution not in INSTITUTIONS:
            return self.banks("Choose a bank.")
        body = (
            f"{_hidden('institution', institution)}"
            '<label>Name<input type="text" name="name" required autocomplete="off" maxlength="80"></label>'
            '<label>Password<input type="password" name="password" autocomplete="off"></label>'
            f'<p class="quiet">Anything will do. {text(", ".join(CUSTOMERS))} are customers of their own.</p>'
            "<button>Sign in</button>"
        )
        return self._step(f"Sign in to {INSTITUTIONS[institution]}", "sign-in", body, complaint)

    def accounts(self, form: dict[str, list[str]], complaint: str = "") -> Response:
        institution, name = _one(form, "institution"), _one(form, "name")
        if institution not in INSTITUTIONS:
            return self.banks("Choose a bank.")
        if not name:
            return self.sign_in(form, "Enter a name.")
        choices = "".join(
            f'<label><input type="checkbox" name="account" value="{one.key}" checked> {text(one.name)}, '
            f"ending in {one.mask}</label>"
            for one in ACCOUNTS
        )
        content = f"the purchases of {self.link['days']} days" + (", and who you are" if self.link["identity"] else "")
        body = (
            f"{_hidden('institution', institution)}{_hidden('name', name)}"
            f"<fieldset><legend>Accounts to share</legend>{choices}</fieldset>"
            f"<p>{text(self.link['asks'])} will read {content}, until you remove the bank there.</p>"
            "<button>Agree and share</button>"
        )
        return self._step("Choose accounts", "agree", body, complaint)

    def _step(self, title: str, step: str, body: str, complaint: str) -> Response:
        error = f'<p class="bad" role="alert">{text(complaint)}</p>' if complaint else ""
        form = f'<form method="post" action="/link/{self.token}/{step}">{body}</form>'
        leave = (
            f'<form class="bare" method="post" action="/link/{self.token}/leave">'
            "<button>Leave without linking</button></form>"
        )
        return page(title, error + form + leave + _INVENTED, status=400 if complaint else 200, phone=True)


def _one(form: dict[str, list[str]], name: str) -> str:
    return form.get(name, [""])[0].strip()[:80]


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{text(value)}">'
