"""Whom agents may be asked about: the person who agreed, by the addresses and numbers that they verified.

What a prompt names is looked at as a courtesy, so that a slip is told at once. The control is what comes back: a reply
whose e-mail or phone fields name somebody, and nobody of the subject's, goes to nobody.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from allauth.account.models import EmailAddress
from django.apps import apps
from django.conf import settings

from agents_proxy.errors import AddressNotVerified, SubjectMismatch, SubjectNotVerified
from agents_proxy.proxy.replies import objects_in
from agents_proxy.proxy.spelling import canonical
from common import encryption

_ADDRESS = re.compile(r"[^\s\"'<>(),:;\[\]{}\\|]+@[^\s\"'<>(),:;\[\]{}\\|@]+\.[^\W\d_][\w-]*")
_DIGITS = re.compile(r"(?<![\w+.@-])[1-9][0-9]{9,14}(?![\w@-])")
_BY_TRUNK = re.compile(r"(?<![\w+])00(?=[1-9])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_FIELDS = {"email": "email", "email_address": "email", "emails": "email", "phone": "phone", "phones": "phone",
           "phone_number": "phone", "phone_numbers": "phone", "mobile": "phone", "telephone": "phone"}  # fmt: skip
LEAST_DIGITS = 7  # of what is a phone number


@dataclass(frozen=True)
class Subject:
    """A person, by their verified addresses (in lower case) and numbers (E.164), the primary address first.

    `told` is which of them an agent is told, with the call's text or beside it.
    """

    person_pk: int
    emails: tuple[str, ...] = ()
    phone_numbers: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def any(self) -> tuple[str, ...]:
        """Everything by which they may be named."""
        return self.emails + self.phone_numbers

    def asked_about(self, text: str) -> "Subject":
        """The same, told what `text` names of theirs, or else one identifier; raises `SubjectMismatch`."""
        named = named_in(text)
        if not all(self._is_own(one) for one in named):
            raise SubjectMismatch
        return replace(self, told=tuple(one for one in self.any if one in named) or self.any[:1])

    def _is_own(self, named: str) -> bool:
        """A number of theirs without its country may read as one of another: +49 17604069055 ends in a number of +1."""
        return named in self.any or any(number.endswith(named[1:]) for number in self.phone_numbers if named[0] == "+")

    def is_named_in(self, result: Any) -> bool:
        """Whether a reply may be about them: of the addresses and numbers that its fields hold one is theirs, or none
        is real."""
        said = [*_said(result), *(one for found in objects_in(_texts(result)) for one in _said(found))]
        return not said or any(self._has(kind, value) for kind, value in said)

    def _has(self, kind: str, value: str) -> bool:
        if kind == "email":
            return value in self.emails
        return any(_same_number(value, own) for own in self.phone_numbers)


def verified(person_pk: int) -> Subject:
    """Everything that this person verified, which may be nothing."""
    found = EmailAddress.objects.filter(user=person_pk, verified=True).order_by("-primary", "pk")
    emails = [_folded(address) for address in found.values_list("email", flat=True)]
    return Subject(person_pk, tuple(emails), tuple(numbers_of(person_pk)))


def subject_of(person_pk: int) -> Subject:
    """Whom a call under this person's consent is about; raises `SubjectNotVerified` where nothing is verified."""
    subject = verified(person_pk)
    if not subject.any:
        raise SubjectNotVerified(verify_url=verify_url())
    return subject


def verify_url() -> str:
    """Where a person verifies an address."""
    return f"{settings.BASE_URL}/accounts/email/"


def not_verified() -> AddressNotVerified:
    """The refusal for addresses whose refusals are problems."""
    return AddressNotVerified(verify_url=verify_url(), data={"verify_url": verify_url()})


def numbers_of(person_pk: int) -> Iterator[str]:
    """The numbers that this person verified. One that was kept masked has to be verified again."""
    numbers = apps.get_model("agents_proxy.PhoneNumber")._default_manager  # of a room that stands on this one
    for row in numbers.filter(user=person_pk, verified_at__isnull=False).order_by("pk"):
        with suppress(encryption.Unreadable):
            number = encryption.opened(row.number)
            if number[1:].isdecimal():
                yield number


def named_in(text: str) -> set[str]:
    """The e-mail addresses and phone numbers that a text names, in lower case and in E.164.

    A number without its country is nobody's in particular; ten digits and more count where they are one with a plus.
    """
    import phonenumbers  # large, and most processes read no prompt

    plain = _BY_TRUNK.sub("+", _UNSEEN.sub("", unicodedata.normalize("NFKC", text)))
    emails = {_folded(found[0].strip(".")) for found in _ADDRESS.finditer(plain)}
    matches = phonenumbers.PhoneNumberMatcher(plain, None, phonenumbers.Leniency.POSSIBLE, max_tries=1000)
    numbers = {_e164(found.number) for found in matches}
    for digits in _DIGITS.findall(plain):
        with suppress(phonenumbers.NumberParseException):
            parsed = phonenumbers.parse(f"+{digits}")
            numbers |= {_e164(parsed)} if phonenumbers.is_valid_number(parsed) else set()
    return emails | numbers


def _e164(number: Any) -> str:
    import phonenumbers

    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _folded(address: str) -> str:
    return address.strip().casefold()


def _said(value: Any, kind: str = "") -> Iterator[tuple[str, str]]:
    """The real addresses and numbers in the fields of a reply, whatever they are nested in: kind and value."""
    match value:
        case dict():
            for name, part in value.items():
                yield from _said(part, _FIELDS.get(canonical(str(name)), ""))
        case list():
            for part in value:
                yield from _said(part, kind)
        case str() if kind == "email" and _ADDRESS.search(value):
            yield from (("email", _folded(found[0].strip("."))) for found in _ADDRESS.finditer(value))
        case str() | int() if kind == "phone" and not isinstance(value, bool) and len(_digits(value)) >= LEAST_DIGITS:
            yield "phone", str(value)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a reply that may hold an object."""
    match value:
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case str() if "{" in value or "[" in value:
            yield value


def _digits(value: Any) -> str:
    return re.sub(r"[^0-9]", "", unicodedata.normalize("NFKC", str(value)))


def _same_number(value: str, own: str) -> bool:
    """Whether a number, written anyhow, with or without its country, is `own`, in E.164."""
    digits = _digits(value)
    if value.strip().startswith("+"):
        return digits == own[1:]
    national = digits.lstrip("0")
    return len(national) >= LEAST_DIGITS and own.endswith(national)
