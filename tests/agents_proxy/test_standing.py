"""One answer to where a consent to processing stands: of one, of many, and in the statements that every call asks."""

from datetime import timedelta

from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import ProcessingStatus, Purpose
from common.clock import database_now
from tests.factories.agents import ProcessingConsentFactory


def test_consents_are_found_by_where_they_stand(db: None) -> None:
    now = database_now()
    given = now - timedelta(days=1)
    for ends in (now - timedelta(minutes=1), now, now + timedelta(minutes=1)):
        for withdrawn in (None, given):
            ProcessingConsentFactory(given_at=given, expires_at=ends, withdrawn_at=withdrawn)
    every = list(ProcessingConsent.objects.all())
    live = {consent.pk for consent in every if consent.status_at(now) is ProcessingStatus.LIVE}

    assert sorted(consent.status_at(now) for consent in every) == ["expired"] * 2 + ["live"] + ["withdrawn"] * 3
    assert {consent.pk for consent in ProcessingConsent.objects.live(now)} == live
    assert {consent.pk for consent in ProcessingConsent.objects.ended(now)} == {one.pk for one in every} - live
    assert {consents.own(consent.user, Purpose.PROFILE) for consent in every} - {None} == live
