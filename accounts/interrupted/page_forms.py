"""The forms of pages: what of each is kept while somebody signs in, the label of its button, and the page it was on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve
from django.views.decorators.http import require_http_methods

from common.text import StrOrPromise

PAGE_FIELD = "page_of"  # a hidden field of every form: whose page holds it, which, and what the button is about
_LONGEST_PAGE = 1500  # characters of an address that is led back to
_LONGEST_SUBJECT = 80
_SALT = "page-of-form"

Values = dict[str, str]
Kind = Literal["hidden", "text", "long", "check", "secret"]
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Field:
    """A field of the form that is kept. A `secret` one is never kept: it is typed again."""

    name: str
    label: StrOrPromise = ""
    kind: Kind = "hidden"
    most: int | None = None  # characters that may be typed


Declared = Field | str | type[forms.BaseForm] | Callable[[], Iterable[str]]


@dataclass(frozen=True)
class PageForm:
    """What a page's form keeps, and the labels of its buttons.

    `labels` are by the field that says which button was pressed, `name` or `name=value`, "" where nothing does. Without
    any, the form belongs to one visit and has to be begun again. `declared` are Django's forms, names of hidden fields,
    functions that give such names, or fields. `has_page`: the address is a page too, by GET. `open_to_all` needs no
    sign-in. `on_its_page` is shown there only: its own page may send the form's answer where others may not. `fresh` is
    done only soon after they showed that it is them, and waits while they do: a stolen session is not enough for it.
    `is_sign_in`: signing in does what this form is for.
    """

    labels: Mapping[str, StrOrPromise]
    declared: tuple[Declared, ...] = ()
    has_page: bool = True
    danger: bool = False
    open_to_all: bool = False
    on_its_page: bool = False
    fresh: bool = False
    is_sign_in: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        pressed = [Field(key.partition("=")[0]) for key in self.labels if key]
        found = {field.name: field for field in pressed}
        for one in self.declared:
            found |= {field.name: field for field in _fields(one)}
        return tuple(found.values())

    def label(self, kwargs: Mapping[str, Any], values: Values) -> str:
        """Of the button that was pressed; "" for none of this form's."""
        sent = values | {name: str(value) for name, value in kwargs.items()}
        for key, label in self.labels.items():
            name, has_value, value = key.partition("=")
            if not key or (name in sent and (not has_value or sent[name] == value)):
                return str(label)
        return ""


def _fields(declared: Declared) -> list[Field]:
    if isinstance(declared, Field):
        return [declared]
    if isinstance(declared, str):
        return [Field(declared)]
    if isinstance(declared, type):
        found = [_field_of(name, field) for name, field in declared.base_fields.items()]  # type: ignore[attr-defined]  # Django's metaclass makes it
        return [field for field in found if field is not None]
    return [Field(name) for name in declared()]


_KINDS: dict[str, Kind] = {
    "text": "text", "email": "text", "url": "text", "number": "text", "tel": "text", "time": "text",
    "checkbox": "check", "radio": "text", "select": "text",
    "password": "secret",
}  # fmt: skip


def _field_of(name: str, field: forms.Field) -> Field | None:
    """The same field to be kept; None for a file, which is chosen again."""
    if isinstance(field.widget, forms.FileInput):
        return None
    kind = _KINDS.get(getattr(field.widget, "input_type", ""), "hidden")
    if isinstance(field.widget, forms.Textarea):
        kind = "long"
    return Field(name, field.label or "", kind, getattr(field, "max_length", None))


def page_form(
    label: StrOrPromise | Mapping[str, StrOrPromise] = "", *declared: Declared, signs_in: bool = True, **options: bool
) -> Callable[[View], View]:
    """For a view that is a page and takes that page's form, of whoever is signed in unless it is `open_to_all`.

    Without `signs_in` the view itself leads to the sign-in.
    """
    return _taking(form_of_page(label, *declared, **options), ["GET", "HEAD", "POST"], signs_in=signs_in)


def page_button(
    label: StrOrPromise | Mapping[str, StrOrPromise] = "", *declared: Declared, **options: bool
) -> Callable[[View], View]:
    """The same for an address that takes nothing but the POST of a button on another page."""
    return _taking(form_of_page(label, *declared, has_page=False, **options), ["POST"])


def _taking(form: PageForm, methods: list[str], *, signs_in: bool = True) -> Callable[[View], View]:
    def mark(view: View) -> View:
        checked = require_http_methods(methods)(login_required(view) if signs_in and not form.open_to_all else view)
        checked.page_form = form  # type: ignore[attr-defined]  # every wrapper copies what hangs on a function
        return checked

    return mark


def form_of_page(
    label: StrOrPromise | Mapping[str, StrOrPromise] = "", *declared: Declared, **options: bool
) -> PageForm:
    labels = label if isinstance(label, Mapping) else {"": label} if label else {}
    return PageForm(labels, declared, **options)


_by_url_name: dict[str, PageForm] = {}


def register(found: Mapping[str, PageForm]) -> None:
    """The same for views of a library, by the names of their addresses."""
    _by_url_name.update(found)


def form_of(match: ResolverMatch | None) -> PageForm | None:
    """The form that a POST to this address is; None where it is not for pages."""
    if match is None:
        return None
    found: PageForm | None = getattr(match.func, "page_form", None) or _by_url_name.get(match.view_name)
    return found


def form_at(address: str) -> tuple[PageForm, ResolverMatch] | None:
    """`form_of` for an address of this site, with or without a query."""
    match = _resolved(address.partition("?")[0].partition("#")[0])
    form = form_of(match)
    return (form, match) if form and match else None


def _resolved(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None


def page_at(address: str) -> str:
    """`address`, or the nearest page above it where it takes nothing but a button's POST."""
    found = form_at(address)
    if found is None or found[0].has_page:
        return address
    path = address.partition("?")[0].partition("#")[0]
    while path != "/":
        path = path.rstrip("/").rpartition("/")[0] + "/"
        match = _resolved(path)
        above = form_of(match)
        if match and (above is None or above.has_page):
            break
    return path


# --- whose page a form is on -----------------------------------------------------------------------------------------


def page_field(request: HttpRequest, subject: str = "") -> str:
    """What `PAGE_FIELD` holds on this page for a button about `subject`; "" for nobody's pages."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return ""
    here = request.get_full_path()
    here = here if len(here) <= _LONGEST_PAGE else request.path
    return signing.Signer(salt=_SALT).sign_object([user.public_id, here, subject[:_LONGEST_SUBJECT]])


@dataclass(frozen=True)
class Origin:
    """Whose page a form was on, which page, and what its button is about; "" where our signature does not say so."""

    owner: str = ""
    page: str = ""
    subject: str = ""


def origin_of(request: HttpRequest) -> Origin:
    try:
        signed = signing.Signer(salt=_SALT).unsign_object(request.POST.get(PAGE_FIELD, ""))
        return Origin(*map(str, signed))
    except (signing.BadSignature, ValueError, TypeError):
        return Origin()


def page_of(request: HttpRequest) -> str:
    """The page that held the button, as an address that can be looked at."""
    page = origin_of(request).page
    if page and page_at(page) == page:
        return page
    here = request.get_full_path()
    return page_at(here if len(here) <= _LONGEST_PAGE else request.path)


def comes_from_our_page(request: HttpRequest) -> bool | None:
    """Whether the browser says that one of our pages sent this; None where it says nothing.

    A page that names an owner without our signature is none of ours, whatever the browser says.
    """
    if request.POST.get(PAGE_FIELD) and origin_of(request) == Origin():
        return False
    fetched = request.headers.get("Sec-Fetch-Site")
    if fetched is not None:
        return fetched == "same-origin"
    origin = request.headers.get("Origin")
    own = (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)
    return None if origin is None else origin in own
