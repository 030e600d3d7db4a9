"""The addresses and numbers that a person verified, and which of them a consent names: one of each at most."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from django.apps import apps
from django.conf import settings
from django.db.models.functions import Lower

from agents_proxy.digests import digest, digests
from agents_proxy.errors import AddressNotVerified
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from common import encryption

# what agents are asked about a person by; institutions know by themselves whose account is linked
_BY_EMAIL = frozenset({Purpose.PROFILE, Purpose.ENRICHMENT, Purpose.BRAND_AFFINITY, Purpose.ACTIVATION})
_BY_NUMBER = _BY_EMAIL | {Purpose.MESSAGING}


@dataclass(frozen=True)
class Identifiers:
    """E-mail addresses, in lower case, and phone numbers (E.164) of one person, the preferred ones first."""

    emails: tuple[str, ...] = ()
    phone_numbers: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return self.emails + self.phone_numbers

    def needed_for(self, purposes: Iterable[str]) -> "Identifiers":
        """Those of the kinds that these purposes use."""
        wanted = set(purposes)
        emails = self.emails if wanted & _BY_EMAIL else ()
        return Identifiers(emails, self.phone_numbers if wanted & _BY_NUMBER else ())

    def first(self) -> "Identifiers":
        """One of each: what a consent names unless the person chooses others."""
        return Identifiers(self.emails[:1], self.phone_numbers[:1])

    def choosing(self, identifier: str) -> "Identifiers":
        """`first`, but for the kind of `identifier`, which is one of these."""
        rest = self.first()
        if identifier in self.emails:
            return Identifiers((identifier,), rest.phone_numbers)
        return Identifiers(rest.emails, (identifier,))

    def within(self, *others: "Identifiers") -> "Identifiers":
        """Those that are in any of `others` too."""
        return Identifiers(
            tuple(email for email in self.emails if any(email in one.emails for one in others)),
            tuple(number for number in self.phone_numbers if any(number in one.phone_numbers for one in others)),
        )

    def without(self, other: "Identifiers") -> "Identifiers":
        return Identifiers(
            tuple(email for email in self.emails if email not in other.emails),
            tuple(number for number in self.phone_numbers if number not in other.phone_numbers),
        )

    def body(self) -> dict[str, list[str]]:
        """As addresses tell them."""
        return {"emails": list(self.emails), "phone_numbers": list(self.phone_numbers)}


def are_used_for(purposes: Iterable[str]) -> bool:
    """Whether agents are asked for these purposes about somebody by an address or a number."""
    return not _BY_NUMBER.isdisjoint(purposes)


def verified_by(person_pk: int, *, lock: bool = False) -> Identifiers:
    """Everything that this person verified, the primary address and the newest number first.

    With `lock` it stays theirs until the transaction ends.
    """
    addresses: Any = EmailAddress.objects.filter(user=person_pk, verified=True).order_by("-primary", "pk")
    numbers = _numbers().filter(user=person_pk, verified_at__isnull=False).order_by("-verified_at", "-pk")
    if lock:
        addresses, numbers = addresses.select_for_update(), numbers.select_for_update()
    emails = tuple(folded(email) for email in addresses.values_list("email", flat=True))
    opened = (_opened(sealed) for sealed in numbers.values_list("number", flat=True))
    return Identifiers(emails, tuple(number for number in opened if number))


def verified_by_others(named: Identifiers, person_pk: int) -> Identifiers:
    """Those of `named` that somebody other than this person has verified now."""
    others: Any = EmailAddress.objects.filter(verified=True).exclude(user=person_pk).annotate(lowered=Lower("email"))
    emails = {folded(email) for email in others.filter(lowered__in=named.emails).values_list("email", flat=True)}
    kept_as = {kept: number for number in named.phone_numbers for kept in digests("number", number)}
    verified = _numbers().filter(verified_at__isnull=False, digest__in=kept_as).exclude(user=person_pk)
    numbers = {kept_as[kept] for kept in verified.values_list("digest", flat=True)}
    return named.within(Identifiers(tuple(emails), tuple(numbers)))


def named_by(consent: ProcessingConsent, own: Identifiers) -> Identifiers:
    """What the consent names of its person's `own`: nothing that is theirs no more."""
    return Identifiers(
        tuple(email for email in own.emails if email == consent.email),
        tuple(number for number in own.phone_numbers if consent.number_digest in digests("number", number)),
    )


def columns_of(named: Identifiers) -> dict[str, str]:
    """How a consent keeps what it names; a number is found by its digest alone."""
    [email] = named.emails or ("",)
    [number] = named.phone_numbers or ("",)
    return {"email": email, "number_digest": digest("number", number) if number else ""}


def require_verified(named: Identifiers, own: Identifiers) -> None:
    """Raises `AddressNotVerified` where any of `named` is not among the person's `own`."""
    if set(named.emails) - set(own.emails):
        raise not_verified()
    if set(named.phone_numbers) - set(own.phone_numbers):
        raise not_verified(numbers_url())


def not_verified(where: str = "") -> AddressNotVerified:
    """The refusal for addresses whose refusals are problems; `where` the person verifies it."""
    url = where or verify_url()
    return AddressNotVerified(verify_url=url, data={"verify_url": url})


def verify_url() -> str:
    """Where a person verifies an e-mail address."""
    return f"{settings.BASE_URL}/accounts/email/"


def numbers_url() -> str:
    """Where a person verifies a phone number."""
    return f"{settings.BASE_URL}/profile/numbers/"


def folded(address: str) -> str:
    """The one spelling that addresses are compared in."""
    return address.strip().casefold()


def _numbers() -> Any:
    return apps.get_model("agents_proxy.PhoneNumber")._default_manager  # of a feature that is above this one


def _opened(sealed: str) -> str:
    """Nothing where it cannot be opened, or was kept masked: then it has to be verified again."""
    with suppress(encryption.DecryptionFailed):
        number = encryption.opened(sealed)
        if number[1:].isdecimal():
            return number
    return ""
