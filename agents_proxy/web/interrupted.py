"""What the buttons of the profile's pages ask for, in words, so that it can wait while somebody signs in again."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.page_actions import Field, PageAction, Values, Words
from agents_proxy import activation, aggregator, consents, phone_numbers, workflow
from agents_proxy import aggregator_client as client
from agents_proxy.aggregator_errors import UnknownItem
from agents_proxy.analysis_errors import UnknownAnalysis
from agents_proxy.models import ProcessingConsent, Run
from agents_proxy.phone_numbers import UnknownNumber
from agents_proxy.statements import TITLES
from agents_proxy.states import UNFINISHED_RUNS, Purpose

if TYPE_CHECKING:
    from accounts.models import User

Kwargs = dict[str, Any]
Say = Callable[[HttpRequest, Kwargs, Values], Words | None]


def _person(request: HttpRequest) -> "User":
    return cast("User", request.user)


def _to(name: str, *names: str) -> Callable[[Kwargs, Values], str]:
    return lambda kwargs, values: reverse(name, args=[kwargs[one] for one in names])


def _analysis(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to start an analysis with these details."), gettext("Start the analysis"))


def _of_run(say: Callable[[Run], Words | None]) -> Say:
    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        try:
            return say(workflow.own_run(_person(request), kwargs["analysis_id"]))
        except UnknownAnalysis:
            return None

    return words


def _cancel(run: Run) -> Words | None:
    if run.status not in UNFINISHED_RUNS:
        return None
    return Words(gettext("You asked to stop the analysis."), gettext("Stop the analysis"))


def _retry(run: Run) -> Words:
    return Words(gettext("You asked to have an agent asked again."), gettext("Ask again"))


def _delete(run: Run) -> Words:
    asked = gettext("You asked to delete an analysis, with all that the agents said.")
    return Words(asked, gettext("Delete it"), danger=True)


def _activate(run: Run) -> Words | None:
    destination = activation.destination()
    if not destination:
        return None
    asked = gettext("You asked to send your brand affinity to %(destination)s.") % {"destination": destination}
    return Words(asked, gettext("Send it"))


def _agree(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if values.get("decision") == "agree":
        return Words(gettext("You said that you agree to what is written below."), gettext("I agree"))
    if values.get("decision") == "refuse":
        return Words(gettext("You said that you do not agree to what is written below."), gettext("I do not agree"))
    return None


def _withdraw(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    own = ProcessingConsent.objects.filter(user=_person(request), consent_id=kwargs["consent_id"]).first()
    if own is None or not consents.is_live(own):
        return None
    titles = ", ".join(str(TITLES[Purpose(purpose)]) for purpose in own.purposes)
    asked = gettext("You asked to withdraw what you agreed to: %(titles)s.") % {"titles": titles}
    return Words(asked, gettext("Withdraw"), danger=True)


def _number(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked for a code to this phone number."), gettext("Send a code"))


def _code(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    try:
        number = phone_numbers.number_awaiting_code(by=_person(request), number_pk=kwargs["number_pk"])
    except UnknownNumber:
        return None
    return Words(gettext("You entered the code for %(number)s.") % {"number": number}, gettext("Verify"))


def _forget(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    own = {row["numberId"]: row["number"] for row in phone_numbers.numbers_of(_person(request))}
    if kwargs["number_pk"] not in own:
        return None
    asked = gettext("You asked to remove the phone number %(number)s.") % {"number": own[kwargs["number_pk"]]}
    return Words(asked, gettext("Remove"), danger=True)


def _link(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if not client.is_configured():
        return None
    return Words(gettext("You asked to link an institution."), gettext("Link an institution"))


def _of_item(asked: Callable[[], str], button: Callable[[], str], *, danger: bool = False) -> Say:
    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        if not client.is_configured():
            return None
        try:
            body = aggregator.item_body(aggregator.own_item(_person(request), kwargs["item_id"]))
        except UnknownItem:
            return None
        name = body["institution"] or gettext("Your institution")
        return Words(asked() % {"name": name}, button(), danger)

    return words


_AGREED = Field("agreed", _("I agree"), "check")

START = PageAction(
    page=_to("profile:home"),
    words=_analysis,
    fields=(
        Field("fullName", _("Full name"), "text", 200),
        Field("email", _("E-mail"), "text", 254),
        Field("countryCode", _("Country code"), "text", 5),
        Field("phoneNumber", _("Phone number"), "text", 15),
        Field("agreed", _("I agree to this for my own details"), "check"),
    ),
    shows_itself=True,
)
CANCEL = PageAction(page=_to("profile:run", "analysis_id"), words=_of_run(_cancel))
RETRY = PageAction(page=_to("profile:run", "analysis_id"), words=_of_run(_retry))
DELETE = PageAction(page=_to("profile:delete", "analysis_id"), words=_of_run(_delete), shows_itself=True)
ACTIVATE = PageAction(
    page=_to("profile:run", "analysis_id"),
    words=_of_run(_activate),
    fields=(Field("sending"), Field("agreed", _("I agree that it is sent"), "check")),
)
AGREE = PageAction(
    page=_to("processing:consent"), words=_agree, fields=(Field("decision"),), shows_itself=True, on_its_page=True
)
WITHDRAW = PageAction(page=_to("processing:given"), words=_withdraw)
NUMBER = PageAction(
    page=_to("numbers:numbers"), words=_number, fields=(Field("to", _("Phone number"), "text", 32),), shows_itself=True
)
CODE = PageAction(
    page=_to("numbers:code", "number_pk"),
    words=_code,
    fields=(Field("code", _("Code"), "text", 6),),
    shows_itself=True,
)
FORGET = PageAction(page=_to("numbers:numbers"), words=_forget)
LINK = PageAction(page=_to("financial:institutions"), words=_link, fields=(_AGREED,))
REFRESH = PageAction(
    page=_to("financial:institutions"),
    words=_of_item(lambda: gettext("You asked to read again from %(name)s."), lambda: gettext("Read again")),
)
REMOVE = PageAction(
    page=_to("financial:remove", "item_id"),
    words=_of_item(
        lambda: gettext("You asked to remove %(name)s, with all that was read."),
        lambda: gettext("Remove it"),
        danger=True,
    ),
    shows_itself=True,
)
