"""What a person should look at before deciding: each in a word or two for the folded line, and in full below it."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy

from consent.requests.models import ConsentRequest
from developers.apps.models import AppStatus
from pkm.registry.models import SensitivityTier

# hurry and threats
_HURRY: Final = re.compile(
    r"""
    \b(?: urgent(?:ly)? | immediate(?:ly)? | at\ once | right\ now | (?:act|approve|confirm|respond|reply|click)\ now
      | last\ (?:chance|warning|reminder) | final\ (?:notice|warning) | or\ else | asap | expires?\ today
      | within\ (?:the\ next\ )?\w+\ (?:minutes?|hours?)
      | (?:account|card|access)\b[^.!?]{0,40}\b(?:closed|blocked|suspended|locked|deleted|deactivated|terminated)
      | verify\ your\ (?:account|identity|card) | avoid\ (?:closure|suspension|a\ fine|fees?)
      | dringend | sofort | umgehend | unverzüglich
      | letzte\ (?:chance|warnung|mahnung) | jetzt\ (?:zustimmen|bestätigen)
      | innerhalb\ von\ \w+\ (?:minuten?|stunden?)
      | (?:konto|karte|zugang)\b[^.!?]{0,40}\b(?:gesperrt|geschlossen|gelöscht|eingeschränkt)
    )\b
    """,
    re.VERBOSE,
)
_SHOUTING: Final = re.compile(r"(?=\b(\w{4,}\W+\w{3,})\b)")

_NAMES: Final = {
    gettext_lazy(
        "a bank's name"
    ): r"(?!datenbank|databank)\w*bank(?:en|s|ing)?|sparkasse\w*|credit\ union|hsbc|barclays|santander|revolut|n26",
    gettext_lazy("a payment service's name"): r"paypal|visa|mastercard|klarna|stripe|western\ union",
    gettext_lazy("an authority's name"): (
        r"police|polizei|\w*ministry|ministerium|government|court|gericht|tax\ (?:office|authority)|finanzamt|irs|hmrc"
        r"|social\ security|interpol|europol|fbi|customs|zoll|immigration"
    ),
    gettext_lazy("a well-known company's name"): (
        r"google|microsoft|amazon|facebook|whatsapp|instagram|netflix|dhl|fedex|openai"
    ),
}
_ALPHABETS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN")


def presses(words: str) -> bool:
    """Whether they hurry, threaten, or shout: two words in a row of capitals, the first of four letters or more."""
    shouted = any(found.group(1).isupper() for found in _SHOUTING.finditer(_plain(words)))
    return shouted or _HURRY.search(_plain(words).casefold()) is not None


def borrowed_name(words: str, *, own: str) -> str:
    """Whose name stands in the words and not in what we checked of the app (`own`), or ""; translated.

    A word of letters out of two alphabets counts: it is there to look like another.
    """
    text, known = _plain(words).casefold(), _plain(own).casefold()
    for kind, names in _NAMES.items():
        pattern = rf"\b(?:{names})\b"
        if any(re.search(rf"\b{re.escape(found)}\b", known) is None for found in re.findall(pattern, text)):
            return str(kind)
    if any(len({name for name in map(_alphabet, word) if name}) > 1 for word in text.split()):
        return str(gettext_lazy("a name in look-alike letters"))
    return ""


def _plain(words: str) -> str:
    """Compatible letters are one, what cannot be seen is left out."""
    folded = unicodedata.normalize("NFKC", words)
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")


def _alphabet(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((alphabet for alphabet in _ALPHABETS if name.startswith(alphabet)), "") if letter.isalpha() else ""


_GRAVITY = ("danger", "warn", "info")


@dataclass(frozen=True)
class Caution:
    """`tone` is that of a notice: danger, warn or info. `label` goes on in a line; a title begins it with a capital."""

    tone: str
    label: str
    text: str


def cautions_of(
    consent_request: ConsentRequest,
    *,
    first_time: bool,
    new_key: bool,
    beyond_registered: bool,
    tier: str,
    unvouched: bool,
    replaced_at: datetime | None = None,
) -> list[Caution]:
    """The gravest first. `replaced_at`: when the app made the request that it took back and that this one replaces."""
    found = [
        caution_about_wording(consent_request),
        _of_data(tier),
        *_of_app(consent_request, first_time=first_time),
        _of_key(consent_request, tier) if unvouched else None,
        *_of_request(consent_request, new_key, beyond_registered),
        _of_replaced(consent_request, replaced_at) if replaced_at else None,
    ]
    return sorted(filter(None, found), key=lambda caution: _GRAVITY.index(caution.tone))


def caution_about_wording(consent_request: ConsentRequest) -> Caution | None:
    """What the app's own words do to a hurried reader; nothing optional comes ticked then."""
    texts = (consent_request.purpose, consent_request.required_because, consent_request.binding_message)
    words = " ".join(filter(None, [*texts, consent_request.app_name]))
    own = f"{consent_request.app_name} {consent_request.app.legal_name}" if consent_request.app.verified else ""
    pressed, name = presses(words), borrowed_name(words, own=own)
    if not (pressed or name):
        return None
    if pressed and name:
        label = gettext("pressure, and %(name)s") % {"name": name}
    else:
        label = gettext("pressure") if pressed else name
    if not consent_request.app.verified:
        text = gettext(
            "Nobody checked who this is. Nothing optional is ticked for you. If you did not expect this, deny."
        )
        return Caution("danger", label, text)
    text = gettext(
        "We checked who %(app)s is, but not what it says. Nothing optional is ticked for you. Take your time: denying "
        "costs you nothing."
    )
    return Caution("warn", label, text % {"app": consent_request.app_name})


def _of_data(tier: str) -> Caution | None:
    if tier == SensitivityTier.RESTRICTED:
        text = gettext(
            "This is among the most private things you keep here. Share it only with someone you would tell in person."
        )
        return Caution("danger", gettext("restricted data"), text)
    if tier == SensitivityTier.CONFIDENTIAL:
        text = gettext(
            "This tells who you are, where you live or how to reach you. Tick only what is needed for the purpose."
        )
        return Caution("warn", gettext("confidential data"), text)
    return None


def _of_app(consent_request: ConsentRequest, *, first_time: bool) -> list[Caution]:
    app = {"app": consent_request.app_name, "legal": consent_request.app.legal_name}
    found = []
    if consent_request.app.status != AppStatus.ACTIVE:
        text = gettext(
            "Our staff suspended %(app)s. Nothing can be shared with it now; you can deny, or leave the request until "
            "it ends."
        )
        found.append(Caution("danger", gettext("suspended by our staff"), text % app))
    if not consent_request.app.verified:
        text = gettext("Nobody has checked who is behind %(app)s. Approve only if you know and expect this request.")
        found.append(Caution("warn", gettext("nobody checked who this is"), text % app))
    if first_time:
        text = (
            gettext("You have never shared anything with %(app)s before. We checked that it belongs to %(legal)s.")
            if consent_request.app.verified
            else gettext("You have never shared anything with %(app)s before.")
        )
        found.append(Caution("info", gettext("first time it asks"), text % app))
    return found


def _of_key(consent_request: ConsentRequest, tier: str) -> Caution:
    is_restricted = tier == SensitivityTier.RESTRICTED
    text = gettext(
        "What you share is sealed to a key that %(app)s neither publishes on a domain of its own nor registered here. "
        "Whoever asks may be somebody else in its name."
    )
    if is_restricted:
        text += " " + gettext("So this cannot be approved.")
    label, app = gettext("nobody vouches for its key"), {"app": consent_request.app_name}
    return Caution("danger" if is_restricted else "warn", label, text % app)


def _of_replaced(consent_request: ConsentRequest, at: datetime) -> Caution:
    text = gettext(
        "%(app)s asked for the same on %(day)s and took that back. This is the newer request; nothing of the older one "
        "counts any more."
    )
    return Caution(
        "info", gettext("replaces an older request"), text % {"app": consent_request.app_name, "day": date_format(at)}
    )


def _of_request(consent_request: ConsentRequest, new_key: bool, beyond_registered: bool) -> list[Caution]:
    app = {"app": consent_request.app_name}
    found = []
    if beyond_registered:
        text = gettext(
            "This is more than %(app)s said it would ask for when it was registered here. So nothing is ticked that it "
            "does not require."
        )
        found.append(Caution("warn", gettext("wants more than it told us"), text % app))
    if new_key:
        text = gettext(
            "%(app)s uses a key that it has not used with you before. That can be a new device or server of theirs. "
            "If you did not expect it, ask them, or deny."
        )
        found.append(Caution("warn", gettext("its key is new"), text % app))
    return found
