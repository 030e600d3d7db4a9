"""Logos: taken in as a picture of any common kind, kept as a small clean PNG."""

import hashlib
from datetime import timedelta

from django.apps import apps
from django.utils import timezone

from common.pictures import small_picture
from developers.apps.models import App, Logo

_SIDE = 256
_UNUSED_FOR = timedelta(days=1)


def take_logo(data: bytes) -> Logo:
    """The picture as it is shown, kept once however often it comes. Raises `InvalidRequest`."""
    png = small_picture(data, side=_SIDE, kind="PNG")
    logo, _ = Logo.objects.get_or_create(digest=hashlib.sha256(png).hexdigest(), defaults={"png": png})
    return logo


def forget_unused_logos() -> int:
    """Delete what was sent with a form that nothing came of; returns how many."""
    used = {*App.objects.values_list("logo_digest", flat=True)}
    used |= {*apps.get_model("developers.DeveloperApplication").objects.values_list("logo_digest", flat=True)}
    old = Logo.objects.filter(created_at__lt=timezone.now() - _UNUSED_FOR)
    return old.exclude(digest__in=used).delete()[0]
