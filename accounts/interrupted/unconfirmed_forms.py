"""Forms that arrived after the session or the form's token had ended, kept in the browser until they are confirmed.

Nothing of them is carried out. They are encrypted, and shown to the person for one confirmation after signing in.

What an attacker could want, and why it does not work:
- have something done: nothing is ever executed from here, confirming is a POST of its own with a fresh token;
- put words into somebody's banner: a form is kept only if its token was valid, if its `PAGE_FIELD` is signed (only the
  person's own pages hold it), or if the browser vouches for our own page; never if the browser names another site;
- read what somebody else had typed: it is bound to the person whose page it was and encrypted, another person who signs
  in has it dropped, and it ends after `LIFETIME`;
- fill our storage: nothing is stored here, and the cookie is bounded.
"""

import json
import zlib
from base64 import urlsafe_b64encode
from dataclasses import asdict, astuple, dataclass
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.crypto import salted_hmac
from django.utils.functional import SimpleLazyObject

from accounts.interrupted.page_forms import PageForm, Values, form_at, origin_of, page_at

LIFETIME = 30 * 60  # seconds
MAX_FORMS = 5
MAX_BYTES = 3800  # of the cookie's value: browsers take 4,096 for a whole cookie, proxies 8,192 for a line of them
_MANY_FIELDS = 6  # are folded up, since they stand on top of every page
_SALT = "interrupted-action"
_FERNET_OVERHEAD = 1 + 8 + 16 + 16 + 32  # bytes: version, time, vector, a block of padding, signature


@dataclass(frozen=True)
class UnconfirmedForm:
    """One form as it was sent: whose page it was on and what its button is about ("" where unknown)."""

    owner: str
    address: str
    values: Values
    subject: str = ""

    @property
    def key(self) -> str:
        return sha256(f"{self.owner} {self.address}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class FormToConfirm:
    """One form as a page shows it again."""

    key: str
    address: str
    page: str
    label: str
    danger: bool
    fields: list[dict[str, Any]]
    subject: str = ""

    @property
    def is_long(self) -> bool:
        return len([field for field in self.fields if field["kind"] != "hidden"]) > _MANY_FIELDS

    @property
    def title(self) -> str:
        return f"{self.label}: {self.subject}" if self.subject else self.label


# --- what is kept ----------------------------------------------------------------------------------------------------


def _fernet() -> Fernet:
    return Fernet(urlsafe_b64encode(salted_hmac(_SALT, "cookie", algorithm="sha256").digest()))


def _cookie() -> str:
    return "__Host-interrupted" if settings.SESSION_COOKIE_SECURE else "interrupted"


def stored_forms(request: HttpRequest) -> list[UnconfirmedForm]:
    """The forms that wait in this browser, newest first, whoever sent them."""
    if not hasattr(request, "unconfirmed_forms"):
        request.unconfirmed_forms = _decrypted(request.COOKIES.get(_cookie(), ""))  # type: ignore[attr-defined]
    found: list[UnconfirmedForm] = request.unconfirmed_forms  # type: ignore[attr-defined]
    return found


def _decrypted(token: str) -> list[UnconfirmedForm]:
    if not token or len(token) > MAX_BYTES:
        return []
    try:
        rows = json.loads(zlib.decompress(_fernet().decrypt(token, ttl=LIFETIME)))
    except (InvalidToken, zlib.error, ValueError):
        return []
    return [UnconfirmedForm(*row) for row in rows]


def _encrypted(rows: list[UnconfirmedForm]) -> str | None:
    """The cookie's value; None where it would be larger than a browser takes."""
    plain = json.dumps([astuple(row) for row in rows], ensure_ascii=False).encode()
    packed = zlib.compress(plain, 9)
    if (len(packed) + _FERNET_OVERHEAD) * 4 // 3 > MAX_BYTES:
        return None
    return _fernet().encrypt(packed).decode()


def values_of(request: HttpRequest, form: PageForm) -> Values:
    """The fields that this form keeps, as they were sent."""
    wanted = [field.name for field in form.fields if field.kind != "secret"]
    return {name: request.POST[name] for name in wanted if name in request.POST}


def sent_form(request: HttpRequest, form: PageForm) -> UnconfirmedForm:
    origin = origin_of(request)
    owner = origin.owner or (request.user.public_id if request.user.is_authenticated else "")
    return UnconfirmedForm(owner, request.get_full_path(), values_of(request, form), origin.subject)


def store(request: HttpRequest, form: PageForm) -> bool:
    """Store this POST for its person, in front of older ones; False where it is too large."""
    one = sent_form(request, form)
    rows = [one, *[row for row in stored_forms(request) if row.key != one.key]][:MAX_FORMS]
    while rows and _encrypted(rows) is None:
        rows.pop()
    if not rows:
        return False
    _replace(request, rows)
    return True


def forget(request: HttpRequest, key: str) -> None:
    """Drop a form that was confirmed or discarded."""
    _replace(request, [row for row in stored_forms(request) if row.key != key])


def _replace(request: HttpRequest, rows: list[UnconfirmedForm]) -> None:
    request.unconfirmed_forms = rows  # type: ignore[attr-defined]
    request.unconfirmed_forms_changed = True  # type: ignore[attr-defined]  # `write_cookie` sends them with the answer


def write_cookie(request: HttpRequest, response: HttpResponse) -> None:
    """Send the forms if they changed. Those of somebody else are dropped as soon as another person is signed in."""
    if response.status_code < 500 and stored_forms(request) and request.user.is_authenticated:
        own = [row for row in stored_forms(request) if row.owner in ("", request.user.public_id)]
        if len(own) != len(stored_forms(request)):
            _replace(request, own)
    if not hasattr(request, "unconfirmed_forms_changed"):
        return
    value = _encrypted(stored_forms(request)) if stored_forms(request) else None
    if value is None:
        response.delete_cookie(_cookie(), samesite="Lax")
        return
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_cookie(), value, max_age=LIFETIME, secure=secure, httponly=True, samesite="Lax")


# --- what is shown ---------------------------------------------------------------------------------------------------


def forms_to_confirm(request: HttpRequest) -> list[FormToConfirm]:
    """The forms that the signed-in person can confirm on this page."""
    if not request.user.is_authenticated:
        return []
    mine = [row for row in stored_forms(request) if row.owner in ("", request.user.public_id)]
    return [one for row in mine if (one := form_to_confirm(request, row)) is not None]


def form_to_confirm(request: HttpRequest, row: UnconfirmedForm) -> FormToConfirm | None:
    """One form to confirm; None where no button of ours was pressed, or where it is shown on another page only."""
    found = form_at(row.address)
    if found is None or (found[0].on_its_page and request.get_full_path() != row.address):
        return None
    form, match = found
    label = form.label(match.kwargs, row.values)
    if not label:
        return None
    return FormToConfirm(
        row.key, row.address, page_at(row.address), label, form.danger, filled_fields(form, row.values), row.subject
    )


def filled_fields(form: PageForm, values: Values) -> list[dict[str, Any]]:
    """The fields that were sent, with their values, and those that have to be typed again."""
    return [
        asdict(field) | {"value": values.get(field.name, "")}
        for field in form.fields
        if field.kind == "secret" or field.name in values
    ]


def sign_in_and_return(page: str) -> HttpResponse:
    return redirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': page}, safe='/')}")


def template_context(request: HttpRequest) -> dict[str, Any]:
    """For every template: the forms that wait for this person, and whether any wait for the next sign-in."""
    return {
        "interrupted": SimpleLazyObject(partial(forms_to_confirm, request)),
        "interrupted_is_pending": SimpleLazyObject(lambda: bool(stored_forms(request))),
    }
