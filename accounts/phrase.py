"""The phrase of a person's own that each mail to them begins with."""

from django.utils.translation import gettext

from accounts.models import AlertSettings, User
from common.encryption import DecryptionFailed, opened


def phrase_of(user: User) -> str:
    """What each mail to them begins with, so that they know it from one that only says that it is ours; "" is none."""
    kept = AlertSettings.objects.filter(user=user).values_list("phrase", flat=True).first()
    try:
        return opened(kept) if kept else ""
    except DecryptionFailed:  # a mail without it is better than none
        return ""


def with_phrase(reader: User, address: str, body: str) -> str:
    """The mail's text behind the reader's own phrase, by which they know a mail of ours; only to their own address."""
    phrase = phrase_of(reader) if address == reader.email else ""
    if not phrase:
        return body
    first = gettext("Your phrase: %(phrase)s") % {"phrase": phrase}
    return f"{first}\n\n{body.lstrip()}"
