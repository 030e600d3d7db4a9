"""What the consent app's buttons ask for, in words, so that it can wait while somebody signs in again."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from common.clock import database_now
from consent.errors import UnknownApp, UnknownRequest
from consent.grants.models import Grant
from consent.states import LIVE_GRANTS, GrantStatus, RequestStatus
from consent.web import queries as web_queries

WordsOfGrant = Callable[[str, Values], Words | None]


def _deny(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    try:
        asked = web_queries.own_request(person_of(request), kwargs["request_id"])
    except UnknownRequest:
        return None
    if asked.standing(database_now()) is not RequestStatus.PENDING:
        return None
    return Words(gettext("You asked to deny the request of %(app)s.") % {"app": asked.app_name}, gettext("Deny"))


def _of_grant(say: WordsOfGrant, *statuses: GrantStatus) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words about a grant of this person's that stands as it must for the button to do anything."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        own = Grant.objects.filter(user=person_of(request), grant_id=kwargs["grant_id"]).select_related("app").first()
        if own is None or own.standing(database_now()) not in (statuses or LIVE_GRANTS):
            return None
        return say(own.app.name, values)

    return words


def _stop(app: str, values: Values) -> Words:
    return Words(
        gettext("You asked to stop sharing with %(app)s.") % {"app": app}, gettext("Stop sharing"), danger=True
    )


def _pause(app: str, values: Values) -> Words:
    return Words(gettext("You asked to pause sharing with %(app)s.") % {"app": app}, gettext("Pause"))


def _switch_refresh(app: str, values: Values) -> Words | None:
    if values.get("kept") == "yes":
        asked = gettext("You asked to keep what %(app)s reads up to date.") % {"app": app}
        return Words(asked, gettext("Keep it up to date"))
    if values.get("kept") == "no":
        asked = gettext("You asked to leave what %(app)s reads as it is.") % {"app": app}
        return Words(asked, gettext("Leave it as it is"))
    return None


def _of_app(say: WordsOfGrant, *, blocked: bool | None = None) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words about an app that this person met; `blocked` where the button is there only then, or only else."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        try:
            met = web_queries.app_and_person(person_of(request), kwargs["app_id"])
        except UnknownApp:
            return None
        if blocked is not None and (met["blocked"] is not None) is not blocked:
            return None
        return say(met["app"].name, values)

    return words


def _stop_everything(app: str, values: Values) -> Words:
    asked = gettext("You asked to stop everything that %(app)s can read.") % {"app": app}
    return Words(asked, gettext("Stop everything"), danger=True)


def _block(app: str, values: Values) -> Words:
    if values.get("stop"):
        asked = gettext("You asked to block %(app)s and to stop everything that it can read.") % {"app": app}
        return Words(asked, gettext("Block"), danger=True)
    return Words(gettext("You asked to block %(app)s.") % {"app": app}, gettext("Block"), danger=True)


def _unblock(app: str, values: Values) -> Words:
    return Words(gettext("You asked to let %(app)s ask you again.") % {"app": app}, gettext("Let it ask again"))


def _report(app: str, values: Values) -> Words:
    return Words(gettext("You asked to report %(app)s to our staff.") % {"app": app}, gettext("Send the report"))


def _verify(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to have your history checked."), gettext("Check my history"))


_GRANTS = to_page("consent:grants")
_APP = to_page("consent:app", "app_id")

DENY = PageAction(
    page=to_page("consent:review", "request_id"),
    words=_deny,
    fields=(Field("reason", _("A note for yourself"), "long", 500),),
)
STOP = PageAction(page=_GRANTS, words=_of_grant(_stop))
PAUSE = PageAction(page=_GRANTS, words=_of_grant(_pause, GrantStatus.ACTIVE))
SWITCH_REFRESH = PageAction(page=_GRANTS, words=_of_grant(_switch_refresh), fields=(Field("kept"),))
STOP_EVERYTHING = PageAction(page=_APP, words=_of_app(_stop_everything))
BLOCK = PageAction(page=_APP, words=_of_app(_block, blocked=False), fields=(Field("stop"),))
UNBLOCK = PageAction(page=_APP, words=_of_app(_unblock, blocked=True))
REPORT = PageAction(page=_APP, words=_of_app(_report), fields=(Field("text", _("What happened"), "long", 2000),))
VERIFY_HISTORY = PageAction(page=to_page("consent:history"), words=_verify)
