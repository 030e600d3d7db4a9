"""Whom agents may be asked about: the person who agreed, by the verified address and number that their consent names.

What a prompt names is looked at as a courtesy, so that a slip is told at once. The control is what comes back: a reply
whose e-mail or phone fields name somebody, and nobody of the subject's, goes to nobody.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from agents_proxy.errors import ConsentRequired, SubjectMismatch, SubjectNotVerified
from agents_proxy.processing_consent.identifiers import Identifiers, folded, named_by, verified_by, verify_url
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.callers import consent_url
from agents_proxy.proxy.objects import Search
from agents_proxy.proxy.spelling import canonical
from agents_proxy.states import Purpose

# every repetition is bounded: what an upstream says may be a megabyte of anything
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{0,62}")
_MARKS = "*_`'/={|}~.-"  # around an address, and hardly ever a part of one
_NUMBER = re.compile(r"[+(]{0,2}[0-9][0-9 ()/.-]{5,24}[0-9]")
_DIGITS = re.compile(r"(?<![\w+.@-])[1-9][0-9]{9,14}(?![\w@-])")
_BY_TRUNK = re.compile(r"(?<![\w+])(?<![0-9][\s./-])00(?=[1-9])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_MONTH, _DAY_OF_MONTH, _YEAR = r"(?:0\d|1[0-2])", r"[0-3]\d", r"(?:19|20)\d\d"
_DAY = re.compile(
    r"(?<!\d)(?<!\d[ ()/.-])"  # no part of a longer number
    rf"(?:{_YEAR}([./-]){_MONTH}\1{_DAY_OF_MONTH}"
    rf"|(?:{_DAY_OF_MONTH}[./-]{_MONTH}|{_MONTH}[./-]{_DAY_OF_MONTH})[./-]{_YEAR})"
    r"(?![./-]?\d)"
)
_SEPARATOR = r"[\s()/.-]{0,3}"
# a field in a text that may be no JSON: its name up to the colon, and where the next one begins
_FIELD = re.compile(
    r"(?:(?P<email>e[-_ ]?mail|\bmail)|phone|mobile|\bcell|\btel)[\w -]{0,30}\\{0,4}[\"']?\s{0,3}[:=]\s{0,9}",
    re.IGNORECASE,
)
_NEXT_FIELD = re.compile(r"[,{\n]\s{0,9}\\{0,4}[\"']?[A-Za-z_][\w -]{0,40}\\{0,4}[\"']?\s{0,3}:")
_CLOSING = re.compile(r"[\]}]")
_NO_ADDRESS = frozenset({"email@example.com", "example@example.com", "name@example.com", "name@domain.com",
                         "user@example.com", "you@example.com"})  # fmt: skip
LEAST_DIGITS = 7  # of what is a phone number
LONGEST_FIELD = 300  # characters of a field in which addresses and numbers are looked for
MOST_IDENTIFIERS = 1000  # addresses and numbers of a reply
MOST_FIELDS = 5000  # of a text
DEEPEST_TEXT = 3  # texts in objects in texts
MOST_TRIES = 100  # places in a text where an object may begin


@dataclass(frozen=True, kw_only=True)
class Subject(Identifiers):
    """A person, by what their consent names of the addresses and numbers that they verified.

    `disclosed` is which of them an agent is shown, with the call's text or beside it.
    """

    person_pk: int
    disclosed: tuple[str, ...] = ()

    @property
    def disclosed_identifiers(self) -> Identifiers:
        """`disclosed`, by their kinds."""
        emails = tuple(one for one in self.disclosed if "@" in one)
        return Identifiers(emails, tuple(one for one in self.disclosed if "@" not in one))

    def for_prompt(self, text: str) -> "Subject":
        """The same, disclosing what `text` names of theirs, or else one identifier; raises `SubjectMismatch`."""
        rest, disclosed = _plain(text), []
        for own in self.all:
            rest, times = _written(own).subn(" ", rest)
            disclosed += [own] if times else []
        if named_in(rest) - set(self.all):
            raise SubjectMismatch
        return replace(self, disclosed=tuple(disclosed) or self.all[:1])

    def is_named_in(self, result: Any) -> bool:
        """Whether a reply may be about them: of the addresses and numbers that its fields hold one is theirs, or none
        is real. One that is nested too deep to be looked at is about nobody."""
        try:
            found = list(islice(_identifiers_in(result), MOST_IDENTIFIERS))
        except RecursionError:
            return False
        return not found or any(self._has(kind, value) for kind, value in found)

    def _has(self, kind: str, value: str) -> bool:
        if kind == "email":
            return value in map(_plain, self.emails)
        return any(_same_number(value, own) for own in self.phone_numbers)


def subject_from(named: Identifiers, person_pk: int) -> Subject:
    return Subject(named.emails, named.phone_numbers, person_pk=person_pk)


def subject_of(consent_pk: int, purpose: Purpose, origin: str | None = None) -> Subject:
    """Whom a call under this consent is about.

    Raises `SubjectNotVerified` where its person verified nothing, and `ConsentRequired` where it names nothing of
    what they verified: then they have to agree anew.
    """
    consent = ProcessingConsent.objects.only("user", "email", "number_digest").get(pk=consent_pk)
    own = verified_by(consent.user_id)
    named = named_by(consent, own)
    if not own.all:
        raise SubjectNotVerified(verify_url=verify_url())
    if not named.all:
        raise ConsentRequired(consent_url=consent_url(purpose, origin))
    return subject_from(named, consent.user_id)


def named_in(text: str) -> set[str]:
    """The e-mail addresses and phone numbers that a text names, in lower case and in E.164.

    A number without its country is nobody's in particular; ten digits and more count where they are one with a plus.
    """
    import phonenumbers  # large, and most processes read no prompt

    plain = _BY_TRUNK.sub("+", _plain(text))
    emails = {found[0].strip(_MARKS) for found in _ADDRESS.finditer(plain)}
    rest = _ADDRESS.sub(" ", plain)  # what stands behind a plus in one is no number
    matches = phonenumbers.PhoneNumberMatcher(rest, None, phonenumbers.Leniency.VALID, max_tries=1000)
    numbers = {_e164(found.number) for found in matches}
    for digits in _DIGITS.findall(rest):
        with suppress(phonenumbers.NumberParseException):
            parsed = phonenumbers.parse(f"+{digits}")
            numbers |= {_e164(parsed)} if phonenumbers.is_valid_number(parsed) else set()
    return emails | numbers


def _plain(text: str) -> str:
    return _DASHES.sub("-", _UNSEEN.sub("", unicodedata.normalize("NFKC", text))).casefold()


def _written(own: str) -> re.Pattern[str]:
    """How a text may name this address, or this number: with its country, or as it is dialled in it."""
    import phonenumbers

    if "@" in own:
        return re.compile(rf"(?<![a-z0-9.+_'-]){re.escape(own)}(?!\.?[a-z0-9_-])")
    parsed = phonenumbers.parse(own)
    code, national = (_SEPARATOR.join(str(part)) for part in (parsed.country_code, parsed.national_number))
    before = rf"\(?(?:\+|00)?{_SEPARATOR}{code}{_SEPARATOR}(?:0{_SEPARATOR})?|0{_SEPARATOR}"
    return re.compile(rf"(?<![0-9a-z_+])(?:{before})?{national}(?![0-9])")


def _e164(number: Any) -> str:
    import phonenumbers

    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _kind_of(name: str) -> str:
    """What a field of this name holds of whom it is about: `email`, `phone` or nothing."""
    words = canonical(name).split("_")
    if not {"email", "emails", "mail", "mails"}.isdisjoint(words):
        return "email"
    last = words[-2] if words[-1] in ("number", "numbers", "no") and len(words) > 1 else words[-1]
    phones = {"phone", "phones", "telephone", "telephones", "mobile", "cell", "tel", "msisdn"}
    return "phone" if last in phones or not {"phone", "phones", "telephone"}.isdisjoint(words) else ""


def _identifiers_in(value: Any, kind: str = "", inside: int = 0) -> Iterator[tuple[str, str]]:
    """The real addresses and numbers in the fields of a reply, whatever they are nested in: kind and value."""
    match value:
        case dict():
            for name, part in value.items():
                yield from _identifiers_in(part, _kind_of(str(name)) or kind, inside)
        case list():
            for part in value:
                yield from _identifiers_in(part, kind, inside)
        case str():
            yield from _real(kind, value[:LONGEST_FIELD])
            if inside < DEEPEST_TEXT and (":" in value or "=" in value):
                for found in Search(characters=0, tries=MOST_TRIES).objects_in(
                    value
                ):  # of what is broken `_in_text` sees the fields
                    yield from _identifiers_in(found.value, "", inside + 1)
                yield from _in_text(value)
        case bool():
            return
        case int() | float() if kind == "phone" and value == value // 1:  # some write a number as a float
            yield from _real(kind, str(int(value)))


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    """The same in a text that an object may stand in, whole or broken, cut off or as words."""
    for field in islice(_FIELD.finditer(text), MOST_FIELDS):
        value = text[field.end() : field.end() + LONGEST_FIELD]
        end = (_CLOSING if value[:1] in ("[", "{") else _NEXT_FIELD).search(value)
        yield from _real("email" if field["email"] else "phone", value[: end.start()] if end else value)


def _real(kind: str, value: str) -> Iterator[tuple[str, str]]:
    """What of a value is an address or a number, and neither masked nor a placeholder, nor a day."""
    value = _plain(value)
    if kind == "email":
        for found in _ADDRESS.finditer(value):
            for address in {folded(found[0]), folded(found[0].strip(_MARKS))}:
                if "**" not in address and address not in _NO_ADDRESS:
                    yield kind, address
    elif kind == "phone":
        for written in _NUMBER.findall(value):
            for number in [written] if "+" in written else _NUMBER.findall(_DAY.sub(" ", written)):
                digits = re.sub("[^0-9]", "", number)
                if len(digits) >= LEAST_DIGITS and len(set(digits)) > 2 and digits not in "01234567890":
                    yield kind, number


def _same_number(value: str, own: str) -> bool:
    """Whether a number, written anyhow, with its country or as it is dialled in that of `own`, is `own`, in E.164."""
    import phonenumbers

    mine = phonenumbers.parse(own)
    with suppress(phonenumbers.NumberParseException):
        theirs = phonenumbers.parse(value, phonenumbers.region_code_for_number(mine))
        if (theirs.country_code, theirs.national_number) == (mine.country_code, mine.national_number):
            return True
    return "+" not in value and re.sub("[^0-9]", "", value) == own[1:]
