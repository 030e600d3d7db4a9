"""A consent that ends soon: one mail, one press, and as long again as its person had chosen."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import DatabaseError, transaction

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Duration, Purpose
from common.clock import database_now, rfc3339
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory
from tests.factories.agents import ProcessingConsentFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
DAY, MONTH = timedelta(days=1), Duration.MONTH.length


def ending(person: User, *, left: timedelta = 2 * DAY, **columns: Any) -> ProcessingConsent:
    """A consent for a month of which so much is left."""
    ends = database_now() + left
    lasts = int(MONTH.total_seconds())
    made: ProcessingConsent = ProcessingConsentFactory(
        user=person, purposes=["profile"], given_at=ends - MONTH, expires_at=ends, lasts=lasts, **columns
    )
    return made


def ends(consent: ProcessingConsent) -> datetime:
    return ProcessingConsent.objects.get(pk=consent.pk).expires_at


def renew(owner: JsonClient, consent: ProcessingConsent) -> Any:
    return owner.post(f"/api/a2a/consents/{consent.consent_id}/renew")


def test_renewing_adds_the_time_that_was_chosen(owner: JsonClient, person: User) -> None:
    consent = ending(person)
    answer = renew(owner, consent)

    assert ends(consent) == consent.expires_at + MONTH
    assert (answer.status_code, answer.json()) == (
        200, {"consentId": consent.consent_id, "purposes": ["profile"], "expiresAt": rfc3339(ends(consent))},
    )  # fmt: skip


def test_renewals_do_not_pile_up(owner: JsonClient, person: User) -> None:
    consent = consents.give(by=person, purposes=[Purpose.PROFILE], lasts=MONTH)
    for _ in range(3):
        renew(owner, consent)

    assert MONTH < ends(consent) - database_now() <= 2 * MONTH


def test_neither_do_those_of_a_consent_of_before_that_was_kept(owner: JsonClient, person: User) -> None:
    consent = ending(person)
    ProcessingConsent.objects.filter(pk=consent.pk).update(lasts=None)
    for _ in range(3):
        renew(owner, consent)

    assert MONTH < ends(consent) - database_now() <= 2 * MONTH


def test_what_has_ended_or_is_for_one_time_is_not_renewed(owner: JsonClient, person: User) -> None:
    over = ending(person, left=-DAY)
    withdrawn = ending(person, withdrawn_at=database_now())
    once = ending(person, reach="run")
    others = ending(PersonFactory())
    answers = [renew(owner, consent) for consent in (over, withdrawn, once, others)]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (403, "consent_ended"), (403, "consent_ended"), (404, "unknown_consent"), (404, "unknown_consent"),
    ]  # fmt: skip
    assert not ProcessingConsent.objects.filter(renewed_at__isnull=False).exists()


def test_one_mail_leads_to_the_button(person: User) -> None:
    consent, later = ending(person, site=True), ending(person, left=9 * DAY)
    send_mails()
    send_mails()

    [sent] = mail.outbox
    [path] = re.findall(rf"http://localhost:8000(/\S+{consent.consent_id}/renew/)", sent.body)
    browser = signed_in(person).client
    page = browser.get(path).content.decode()
    browser.post(path)
    assert ("Your profile" in sent.body, consent.statement in page, '<button class="btn p"' in page) == (
        True, True, True,
    )  # fmt: skip
    assert ends(consent) == consent.expires_at + MONTH
    assert ends(later) == later.expires_at


def test_those_that_end_about_the_same_time_are_in_one_mail(person: User) -> None:
    other = ending(PersonFactory())
    near, next_day = ending(person, left=2 * DAY), ending(person, left=3.5 * DAY, site=True)
    ending(person, left=5 * DAY)
    send_mails()
    send_mails()

    links = {sent.to[0]: re.findall(r"/profile/consent/(\w+)/renew/", sent.body) for sent in mail.outbox}
    assert links == {person.email: [near.consent_id, next_day.consent_id], other.user.email: [other.consent_id]}
    assert len(mail.outbox) == 2


def test_who_agreed_for_a_day_gets_no_mail(person: User) -> None:
    consents.give(by=person, purposes=[Purpose.PROFILE])
    send_mails()

    assert mail.outbox == []


def test_the_database_lets_a_consent_end_later_by_a_renewal_alone(person: User) -> None:
    consent = ending(person)
    now = database_now()
    for changed in (
        {"expires_at": consent.expires_at + DAY},
        {"expires_at": consent.expires_at - DAY, "renewed_at": now},
        {"expires_at": consent.expires_at + DAY, "renewed_at": consent.expires_at + DAY},
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            ProcessingConsent.objects.filter(pk=consent.pk).update(**changed)

    assert ends(consent) == consent.expires_at
