"""What ends with a consent to processing, and with an address that it names, in the transaction that ends that."""

from typing import Any

from allauth.account.models import EmailAddress
from django.db.models.signals import post_delete
from django.dispatch import receiver

from agents_proxy.activations.actions import end_sendings_under, send_corrected
from agents_proxy.analyses.actions import end_analyses_under
from agents_proxy.analyses.models import Run
from agents_proxy.deletions.actions import request_under
from agents_proxy.processing_consent.actions import end_naming
from agents_proxy.signals import consent_withdrawn, profile_corrected
from agents_proxy.states import EndReason


@receiver(consent_withdrawn)
def end_processing_under_consent(*, consent_pk: int, **_: Any) -> None:
    """Nothing waits for a worker to notice: what is under way ends now, what was to be sent is gone, and whoever got
    something is to delete it. The consent itself is locked last, as whoever records a disclosure does."""
    end_analyses_under(consent_pk)
    end_sendings_under(consent_pk)
    request_under(consent_pk)


@receiver(profile_corrected)
def send_what_was_corrected(*, run: Run, before: dict[str, Any], **_: Any) -> list[str]:
    return send_corrected(run, before)


@receiver(post_delete, sender=EmailAddress)
def end_consents_naming_it(*, instance: EmailAddress, **_: Any) -> None:
    """Removed, or replaced by another one: nothing is asked or sent by it any more."""
    end_naming(person_pks=[instance.user_id], reason=EndReason.EMAIL_REMOVED, email=instance.email)
