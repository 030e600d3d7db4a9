"""What the buttons of applications ask for, in words, so that it can wait while somebody signs in again."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from developers.applications.facts import LONGEST_REASON, LONGEST_TEXT, MOST_SCOPES
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.applications.queries import OPEN, applications_of

# a picture cannot wait in the browser: it is chosen again
_FIELDS = (
    Field("name", _("Name"), "text", most=80),
    *(Field(name) for name in ("legal_name", "website", "privacy_policy", "contact_email", "kept_logo")),
    Field("use_case", _("What the app does with the data"), "long", most=LONGEST_TEXT),
    *(Field(name) for name in ("jurisdiction", "recipients", "storage_place", "retention", "origins")),
    Field("return_addresses"),
    *(Field(f"{name}_{row}", most=LONGEST_REASON) for row in range(1, MOST_SCOPES + 1) for name in ("scope", "why")),
)


def _own(request: HttpRequest, kwargs: Kwargs, *statuses: ApplicationStatus) -> DeveloperApplication | None:
    return applications_of(person_of(request)).filter(pk=kwargs["pk"], status__in=statuses).first()


def _apply(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to hand in an application for a live app."), gettext("Hand it in"))


def _again(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    row = _own(request, kwargs, ApplicationStatus.SENT_BACK)
    words = gettext("You asked to hand in the application for %(name)s again.")
    return Words(words % {"name": row.name}, gettext("Hand it in again")) if row else None


def _withdraw(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    row = _own(request, kwargs, *OPEN)
    words = gettext("You asked to withdraw the application for %(name)s.")
    return Words(words % {"name": row.name}, gettext("Withdraw it"), danger=True) if row else None


def _check(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    row = _own(request, kwargs, *OPEN)
    words = gettext("You asked to have the domain of %(name)s checked.")
    return Words(words % {"name": row.name}, gettext("Check now")) if row else None


_page = to_page("portal:application", "pk")
APPLY = PageAction(page=to_page("portal:apply"), words=_apply, fields=_FIELDS, shows_itself=True)
HAND_IN_AGAIN = PageAction(page=_page, words=_again, fields=_FIELDS, shows_itself=True)
WITHDRAW = PageAction(page=_page, words=_withdraw)
CHECK_DOMAIN = PageAction(page=_page, words=_check)
