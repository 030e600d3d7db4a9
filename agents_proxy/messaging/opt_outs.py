"""Numbers whose owners wrote that they want no more messages, until they write that they do.

The words are those that carriers ask for, in the languages of this service and in French. Only the digest of a number
is kept, apart from whose it is: it holds for whoever adds the number later, too.
"""

import re
import unicodedata

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext

from agents_proxy.digests import digest, digests
from agents_proxy.messaging.models import OptOut
from agents_proxy.messaging.outbound import invalid_field
from common import limits
from common.limits import Limit
from common.sql.statements import lock_for_transaction

_STOP = {
    "en": {"stop", "stopall", "unsubscribe", "cancel", "end", "quit", "revoke", "optout"},
    "de": {"stopp", "ende", "abmelden", "abbestellen"},
    "fr": {"arret", "arreter"},
}
_START = {"en": {"start", "unstop"}, "de": {"anmelden"}}
ONCE = Limit("inbound-message-once", 1, 600, in_database=True)  # longer than its signature is good for


def is_opted_out(number: str) -> bool:
    return OptOut.objects.filter(digest__in=digests("number", number)).exists()


def require_wanted(number: str) -> None:
    """Raises `InvalidParams` for a number whose owner wants no messages."""
    if is_opted_out(number):
        raise invalid_field("to", "opted_out", "Its owner asked for no more messages; START from it takes that back.")


def take_inbound(*, number: str, text: str, message_id: str) -> tuple[bool, str | None]:
    """What somebody wrote back: whether they want no messages now, and what to answer them; None is nothing.

    One that comes again changes nothing: it may be older than what was written since.
    """
    stops, starts = _language(_STOP, text), _language(_START, text)
    if not (stops or starts):
        return is_opted_out(number), None
    with transaction.atomic():  # with its count: a message that could not be kept is taken when it comes again
        if not limits.count(ONCE, message_id).exceeded:
            _keep(number, opted_out=stops is not None)
    with translation.override(stops or starts):
        if stops:
            return True, gettext("You will get no more messages from us. Reply START to get them again.")
        return False, gettext("You will get messages from us again. Reply STOP to end them.")


def _keep(number: str, *, opted_out: bool) -> None:
    lock_for_transaction(f"opt-out {digest('number', number)}")
    OptOut.objects.filter(digest__in=digests("number", number)).delete()
    if opted_out:
        OptOut.objects.create(digest=digest("number", number))


def _language(words: dict[str, set[str]], text: str) -> str | None:
    """Of the word that is the whole message, whatever its case, accents and signs around it."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)).casefold()
    word = re.sub(r"[\W_]+", "", plain) if len(plain) < 80 else ""
    return next((language for language, known in words.items() if word in known), None)
