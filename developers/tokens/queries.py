"""What is asked about tokens more than once."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from developers.tokens.models import DeveloperToken


def live_tokens() -> QuerySet[DeveloperToken]:
    """The tokens that work now; a rotated one works until its overlap ends."""
    now = timezone.now()
    return DeveloperToken.objects.filter(Q(revoked_at=None) | Q(revoked_at__gt=now), expires_at__gt=now)
