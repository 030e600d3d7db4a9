"""What ends with a consent to processing, in the transaction that withdraws it."""

from typing import Any

from django.dispatch import receiver

from agents_proxy.activations.actions import end_sendings_under
from agents_proxy.analyses.actions import end_analyses_under
from agents_proxy.signals import consent_withdrawn


@receiver(consent_withdrawn)
def end_what_hangs_on_it(*, consent_pk: int, **_: Any) -> None:
    """Nothing waits for a worker to notice: what is under way ends now, and what was to be sent is gone."""
    end_analyses_under(consent_pk)
    end_sendings_under(consent_pk)
