"""Phone numbers that people verified, by a code that the messaging agent brought: sealed, and found by digests."""

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from agents_proxy.digests import digest, digests, is_digest
from agents_proxy.errors import CallFailed, ConsentRequired, InvalidParams, NotConfigured, Refusal
from agents_proxy.messaging import opt_outs
from agents_proxy.messaging.delivery import Delivery, delivery_of
from agents_proxy.messaging.models import OutboundMessage, PhoneNumber
from agents_proxy.messaging.schemas import MessageBody
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import named_by, numbers_url, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import calls
from agents_proxy.proxy.callers import consent_url
from agents_proxy.proxy.envelope import Prompt, new_session_id, new_task_id
from agents_proxy.states import EndReason, MessageStatus, Purpose, Reach
from common import encryption, limits
from common.clock import database_now, rfc3339
from common.limits import Count, Limit
from common.problems import Kind, Problem
from common.sql.statements import lock_for_transaction

CODE_LIFETIME = timedelta(minutes=10)
TRIES = 5  # guesses at one code
CODES_PER_NUMBER = 3  # in an hour, whoever asks: nobody is to be flooded
CODES_PER_PERSON = Limit("codes-per-person", 6, 3600)


# fmt: off
InvalidNumber = Kind("invalid_phone_number", 400, "No such phone number",
    "This is no phone number of a plan that is in use.")
TooManyCodes = Kind("too_many_codes", 429, "Too many codes",
    "Too many codes were asked for lately, by this person or for this number; `Retry-After` says when to return.")
MessagingUnavailable = Kind("messaging_unavailable", 503, "The code could not be sent",
    "The code could not be sent: the messaging agent is not configured, does not answer or refused.")
OptedOut = Kind("number_opted_out", 409, "This number wants no messages",
    "Whoever has this number wrote that they want no messages; START from it takes that back.")
# fmt: on


class WrongCode(Problem):
    """The code is not the one that was sent, or it is over: after ten minutes or five tries a new one is needed."""

    code, title = "wrong_code", "The code does not fit"


class UnknownNumber(Problem):
    """This person has no such phone number."""

    code, status, title = "unknown_phone_number", 404, "No such phone number of yours"


def check_number(number: str) -> None:
    """Raises `InvalidParams` where `number` is E.164 by its form only."""
    if not _is_in_use(number):
        error = {"field": "to", "code": "phone_number", "message": "This is no phone number of a plan in use."}
        raise InvalidParams(errors=[error])


def require_named(consent: ProcessingConsent, number: str) -> None:
    """Raises `ConsentRequired`, pointing to where numbers are verified, unless the number is one that its person
    verified and that the consent names. Of another one of theirs no site is told that it is."""
    own = verified_by(consent.user_id)
    if number in named_by(consent, own).phone_numbers:
        return
    if consent.reach == Reach.OWN and number in own.phone_numbers:
        raise ConsentRequired(consent_url=consent_url(Purpose.MESSAGING, None))
    raise ConsentRequired(consent_url=numbers_url())


def send_code(*, by: User, number: str) -> int:
    """Send a code to a number that `by` says is theirs; returns the primary key of the number.

    Raises `InvalidNumber`, `TooManyCodes`, `OptedOut` or `MessagingUnavailable`.
    """
    if not _is_in_use(number):
        raise InvalidNumber()
    _count(by)
    if opt_outs.is_opted_out(number):
        raise OptedOut()
    code = f"{secrets.randbelow(10**6):06d}"
    with transaction.atomic():
        lock_for_transaction(f"code {digest('number', number)}")
        number_pk, message = _noted(by, number, code)
    _deliver(message, number, code)
    return number_pk


def verify_code(*, by: User, number: str, code: str) -> None:
    """Take the number as this person's own, and as nobody else's any more. Raises `WrongCode`."""
    row = PhoneNumber.objects.filter(user=by, digest__in=digests("number", number)).first()
    if row is None:
        raise WrongCode
    verify_number(by=by, number_pk=row.pk, code=code)


def verify_number(*, by: User, number_pk: int, code: str) -> None:
    """`verify_code` for a number that is kept here already. Raises `WrongCode`."""
    if not _verified(by, number_pk, code):
        raise WrongCode


def number_awaiting_code(*, by: User, number_pk: int) -> str:
    """The number, masked, whose code may still come; raises `UnknownNumber` where none is awaited."""
    row = _awaiting(by).filter(pk=number_pk).first()
    if row is None:
        raise UnknownNumber
    return masked(encryption.opened(row.number))


def awaiting_code(user: User) -> set[int]:
    """The primary keys of a person's numbers to which a code is on its way, or has come."""
    return set(_awaiting(user).values_list("pk", flat=True))


def _awaiting(user: User) -> QuerySet[PhoneNumber]:
    return PhoneNumber.objects.filter(user=user, code_expires_at__gt=database_now(), attempts__lt=TRIES)


def forget_number(*, by: User, number_pk: int) -> None:
    """What was agreed to about it ends, and messages to it stop at once. Raises `UnknownNumber`."""
    with transaction.atomic():
        row = PhoneNumber.objects.select_for_update().filter(user=by, pk=number_pk).first()
        if row is None:
            raise UnknownNumber
        row.delete()
        consents.end_naming(person_pks=[by.pk], reason=EndReason.NUMBER_REMOVED, number_digests=_digests_of(row))


def numbers_of(user: User) -> list[dict[str, Any]]:
    """A person's numbers, masked: `+49 … 78`."""
    return [
        {"numberId": row.pk, "number": masked(encryption.opened(row.number)), "verifiedAt": rfc3339(row.verified_at)}
        for row in PhoneNumber.objects.filter(user=user).order_by("pk")
    ]


def masked(number: str) -> str:
    """As much of a number as its owner needs to tell it from their others; what is masked stays so."""
    if not number[1:].isdecimal():
        return number
    import phonenumbers  # large, and few requests name a number

    return f"+{phonenumbers.parse(number).country_code} … {number[-2:]}"


def _is_in_use(number: str) -> bool:
    import phonenumbers  # as above

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return False
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return phonenumbers.is_valid_number(parsed) and written == number  # one spelling, so one digest


def codes_left(user: User) -> Count:
    """How many codes this person may still ask for."""
    return limits.peek(CODES_PER_PERSON, str(user.pk))


def _count(by: User) -> None:
    limits.count(CODES_PER_PERSON, str(by.pk)).require(TooManyCodes)


def _noted(by: User, number: str, code: str) -> tuple[int, OutboundMessage]:
    """The number that this code is for, and the row of the message that brings it."""
    now = database_now()
    kept = digests("number", number)
    lately = OutboundMessage.objects.filter(
        recipient_digest__in=kept,
        consent=None,
        task_id__startswith="task-code-",
        created_at__gt=now - timedelta(hours=1),
    )
    if lately.count() >= CODES_PER_NUMBER:
        raise TooManyCodes(headers={"Retry-After": "3600"})
    # under the newest key, by which a code that comes later finds everybody's rows of this number
    PhoneNumber.objects.filter(digest__in=kept[1:]).update(digest=kept[0])
    row = PhoneNumber.objects.filter(user=by, digest=kept[0]).first() or PhoneNumber(user=by, digest=kept[0])
    row.number = encryption.sealed(number)
    row.code_digest = digest("code", str(by.pk), row.digest, code)
    row.code_expires_at, row.attempts = now + CODE_LIFETIME, 0
    row.save()
    return row.pk, OutboundMessage.objects.create(
        task_id=new_task_id().replace("task-", "task-code-"), recipient_digest=kept[0],
        body_digest=digest("message", number, code),
    )  # fmt: skip


def _deliver(message: OutboundMessage, number: str, code: str) -> None:
    from agents_proxy.messaging.outbound import AGENT, record_delivery, written

    text = gettext("%(code)s is your code for %(site)s. It holds for ten minutes. Nobody will ask you for it.")
    body = MessageBody(to=number, text=text % {"code": code, "site": settings.BASE_URL.split("//")[-1]})
    try:
        reply = calls.call_agent(AGENT, Prompt(written(body), new_session_id(), message.task_id), consent_pk=None)
    except CallFailed:
        record_delivery(message.pk, Delivery(MessageStatus.UNKNOWN))
        raise MessagingUnavailable() from None
    except (NotConfigured, Refusal):
        record_delivery(message.pk, Delivery(MessageStatus.FAILED, error_code="not_sent"))
        raise MessagingUnavailable() from None
    delivery = delivery_of(reply)
    record_delivery(message.pk, delivery)
    if delivery.status is MessageStatus.FAILED:
        raise MessagingUnavailable()


def _verified(by: User, number_pk: int, code: str) -> bool:
    now = database_now()
    with transaction.atomic():
        known = PhoneNumber.objects.filter(user=by, pk=number_pk).values_list("digest", flat=True).first()
        lock_for_transaction(f"number {known}")  # of two who verify it at once one is the last
        row = PhoneNumber.objects.select_for_update().filter(user=by, pk=number_pk).first()
        if row is None or row.code_expires_at is None or row.code_expires_at <= now or row.attempts >= TRIES:
            return False
        # a wrong guess is kept too, so this transaction must commit either way
        row.attempts += 1
        fits = is_digest(row.code_digest, "code", str(by.pk), row.digest, code)
        if fits:
            # numbers change hands: whoever receives its messages now has it
            _take_from_others(row)
            row.verified_at, row.code_digest, row.code_expires_at = now, "", None
        row.save()
    return fits


def _take_from_others(row: PhoneNumber) -> None:
    """It is theirs no more, nor is what they agreed to about it in force; they are told by mail."""
    others = PhoneNumber.objects.filter(digest=row.digest, verified_at__isnull=False).exclude(pk=row.pk)
    lost = list(others.select_for_update(of=("self",)).select_related("user"))
    others.update(verified_at=None)
    people = [one.user_id for one in lost]
    consents.end_naming(person_pks=people, reason=EndReason.NUMBER_VERIFIED_BY_ANOTHER, number_digests=_digests_of(row))
    for one in lost:
        note_change(of=one.user, kind=WayChange.PHONE_NUMBER_TAKEN, detail=masked(encryption.opened(row.number)))


def _digests_of(row: PhoneNumber) -> list[str]:
    """All digests under which a consent may name this number."""
    with suppress(encryption.DecryptionFailed):
        return digests("number", encryption.opened(row.number))
    return [row.digest]
