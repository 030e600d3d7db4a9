"""What the app of a site's consent is told of what happens under it; nobody is told of what is a person's own."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from agents_proxy.processing_consent.models import ProcessingConsent
from developers.app_events import Occurrence, ProcessingEvent, notify_apps


def notify_app(
    consent: ProcessingConsent, event: ProcessingEvent, *, status: StrEnum, at: datetime, **names: str | None
) -> None:
    """In the transaction of what it tells; `names` are `analysis_id`, `activation_id` and `deletion_id`."""
    if consent.app_id is not None:
        notify_apps([Occurrence(event, consent.app_id, consent.consent_id, status.value, **names)], at=at)


def notify_apps_of(
    consents: Iterable[ProcessingConsent], event: ProcessingEvent, *, status: StrEnum, at: datetime
) -> None:
    """The same of several consents at once, so that two who do it lock the apps in one order."""
    found = [
        Occurrence(event, consent.app_id, consent.consent_id, status.value)
        for consent in consents
        if consent.app_id is not None
    ]
    notify_apps(found, at=at)
