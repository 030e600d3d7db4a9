"""What the buttons of the phone numbers page ask for, in words."""

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.message_forms import LONGEST_TEXT
from agents_proxy.messaging.phone_numbers import UnknownNumber


def _number(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked for a code to this phone number."), gettext("Send a code"))


def _code(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    try:
        number = phone_numbers.number_awaiting_code(by=person_of(request), number_pk=kwargs["number_pk"])
    except UnknownNumber:
        return None
    return Words(gettext("You entered the code for %(number)s.") % {"number": number}, gettext("Verify"))


def _forget(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    own = {row["numberId"]: row["number"] for row in phone_numbers.numbers_of(person_of(request))}
    if kwargs["number_pk"] not in own:
        return None
    asked = gettext("You asked to remove the phone number %(number)s.") % {"number": own[kwargs["number_pk"]]}
    return Words(asked, gettext("Remove"), danger=True)


def _message(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to have a message sent."), gettext("Send it"))


# what fills a template is typed again: its fields have the names of that template's parameters
MESSAGE = PageAction(
    page=to_page("messaging:messages"),
    words=_message,
    fields=(
        Field("task"),
        Field("do"),
        Field("to", _("Phone number"), "text", 32),
        Field("text", _("Your message"), "long", LONGEST_TEXT),
        Field("agreed", _("I agree to messages to my own number"), "check"),
    ),
    shows_itself=True,
)
NUMBER = PageAction(
    page=to_page("numbers:numbers"),
    words=_number,
    fields=(Field("to", _("Phone number"), "text", 32),),
    shows_itself=True,
)
CODE = PageAction(
    page=to_page("numbers:code", "number_pk"),
    words=_code,
    fields=(Field("code", _("Code"), "text", 6),),
    shows_itself=True,
)
FORGET = PageAction(page=to_page("numbers:numbers"), words=_forget)
