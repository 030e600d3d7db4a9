"""What the buttons of pages ask for, as the rooms declare it, and which page a form was on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve, reverse

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PAGE_FIELD = "page_of"  # a hidden field of every form: whose page holds it, and which
_LONGEST_PAGE = 1500  # characters of an address that is led back to
_SALT = "page-of-form"

Kwargs = dict[str, Any]
Values = dict[str, str]
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Field:
    """A field of the form that is kept. A `secret` one is never kept: it is typed again."""

    name: str
    label: "StrOrPromise" = ""
    kind: Literal["hidden", "text", "long", "check", "secret"] = "hidden"
    most: int = 300  # characters that may be typed


@dataclass(frozen=True)
class Words:
    """What was asked, in a sentence, and the button that does it. Without a button it has to be begun anew."""

    asked: str
    button: str = ""
    danger: bool = False


Say = Callable[[HttpRequest, Kwargs, Values], Words | None]


@dataclass(frozen=True)
class PageAction:
    """What a page's button asks for.

    `page` is the page that holds the button, unless the form itself says another. `words` is None where there is
    nothing (any more) that this person could confirm. `open_to_all` needs no sign-in. `on_its_page` is shown there
    only: its own page may send the form's answer where others may not. `fresh` is what a stolen session must not be
    enough for: it is done only soon after they showed that it is them, and waits while they do.
    """

    page: Callable[[Kwargs, Values], str]
    words: Say
    fields: tuple[Field, ...] = ()
    shows_itself: bool = False  # the address is a page too, by GET
    open_to_all: bool = False
    on_its_page: bool = False
    fresh: bool = False


def to_page(name: str, *names: str) -> Callable[[Kwargs, Values], str]:
    """For `PageAction.page`: the page of this name, with these of the address's own parameters."""
    return lambda kwargs, values: reverse(name, args=[kwargs[one] for one in names])


_by_url_name: dict[str, PageAction] = {}


def can_wait(action: PageAction) -> Callable[[View], View]:
    """Marks a view whose POST comes from a page's button. Goes directly above the function."""

    def mark(view: View) -> View:
        view.page_action = action  # type: ignore[attr-defined]  # every wrapper copies what hangs on a function
        return view

    return mark


def register(actions: Mapping[str, PageAction]) -> None:
    """The same for views of a library, by the names of their addresses."""
    _by_url_name.update(actions)


def action_of(match: ResolverMatch | None) -> PageAction | None:
    """What a POST to this address asks for; None where it is not for pages."""
    if match is None:
        return None
    found: PageAction | None = getattr(match.func, "page_action", None) or _by_url_name.get(match.view_name)
    return found


def action_at(address: str) -> tuple[PageAction, ResolverMatch] | None:
    """`action_of` for an address of this site, with or without a query."""
    try:
        match = resolve(address.partition("?")[0].partition("#")[0])
    except Resolver404:
        return None
    action = action_of(match)
    return (action, match) if action else None


def address_for_get(address: str) -> str:
    """`address`, or the page that holds its button where it takes nothing but a POST."""
    found = action_at(address)
    if found is None or found[0].shows_itself:
        return address
    return found[0].page(found[1].kwargs, {})


# --- whose page a form is on -----------------------------------------------------------------------------------------


def page_field(request: HttpRequest) -> str:
    """What `PAGE_FIELD` holds on this page; "" for nobody's pages."""
    if not hasattr(request, "page_of"):
        user = getattr(request, "user", None)
        here = request.get_full_path()
        here = here if len(here) <= _LONGEST_PAGE else request.path
        known = user is not None and user.is_authenticated
        signed = signing.Signer(salt=_SALT).sign_object([user.public_id, here]) if known and user else ""
        request.page_of = signed  # type: ignore[attr-defined]  # once per page, whose forms all hold the same
    return str(request.page_of)  # type: ignore[attr-defined]


def held_by(request: HttpRequest) -> tuple[str, str]:
    """Whose page this form was on, and which page; "" where the form does not say so with our signature."""
    try:
        owner, page = signing.Signer(salt=_SALT).unsign_object(request.POST.get(PAGE_FIELD, ""))
    except (signing.BadSignature, ValueError):
        return "", ""
    return str(owner), str(page)


def page_of(request: HttpRequest, action: PageAction, values: Values) -> str:
    """The page that held the button, as an address that can be looked at."""
    _owner, page = held_by(request)
    if page and address_for_get(page) == page:
        return page
    if action.shows_itself and len(request.get_full_path()) <= _LONGEST_PAGE:
        return request.get_full_path()
    match = request.resolver_match
    return action.page(match.kwargs if match else {}, values)


def comes_from_our_page(request: HttpRequest) -> bool | None:
    """Whether the browser says that one of our pages sent this; None where it says nothing.

    A page that names an owner without our signature is none of ours, whatever the browser says.
    """
    if request.POST.get(PAGE_FIELD) and held_by(request) == ("", ""):
        return False
    fetched = request.headers.get("Sec-Fetch-Site")
    if fetched is not None:
        return fetched == "same-origin"
    origin = request.headers.get("Origin")
    own = (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)
    return None if origin is None else origin in own
