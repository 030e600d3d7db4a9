"""What the buttons of consent to processing ask for, in words."""

from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.statements import TITLES
from agents_proxy.states import Purpose


def _agree(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if values.get("decision") == "agree":
        return Words(gettext("You said that you agree to what is written below."), gettext("I agree"))
    if values.get("decision") == "refuse":
        return Words(gettext("You said that you do not agree to what is written below."), gettext("I do not agree"))
    return None


def _withdraw(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    own = ProcessingConsent.objects.filter(user=person_of(request), consent_id=kwargs["consent_id"]).first()
    if own is None or not consents.is_live(own):
        return None
    titles = ", ".join(str(TITLES[Purpose(purpose)]) for purpose in own.purposes)
    asked = gettext("You asked to withdraw what you agreed to: %(titles)s.") % {"titles": titles}
    return Words(asked, gettext("Withdraw"), danger=True)


AGREE = PageAction(
    page=to_page("processing:consent"), words=_agree, shows_itself=True, on_its_page=True,
    fields=(Field("decision"), Field("shown"), Field("email"), Field("number")),
)  # fmt: skip
WITHDRAW = PageAction(page=to_page("processing:given"), words=_withdraw)
