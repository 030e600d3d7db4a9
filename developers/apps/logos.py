"""Logos: taken in as a picture of any common kind, kept as a small clean PNG."""

import hashlib
import io
import warnings
from datetime import timedelta

from django.apps import apps
from django.utils import timezone
from django.utils.translation import gettext
from PIL import Image, UnidentifiedImageError

from common.problems import InvalidRequest
from developers.apps.models import App, Logo

LARGEST = 512 * 1024  # bytes of what is sent
_KINDS = ("PNG", "JPEG", "WEBP")
_MOST_PIXELS = 4096 * 4096  # a file of few bytes may unfold to many
_SIDE = 256
_UNUSED_FOR = timedelta(days=1)


def take_logo(data: bytes) -> Logo:
    """The picture as it is shown, kept once however often it comes. Raises `InvalidRequest`."""
    if len(data) > LARGEST:
        raise InvalidRequest(gettext("A logo has at most 512 KiB."))
    png = _clean(data)
    logo, _ = Logo.objects.get_or_create(digest=hashlib.sha256(png).hexdigest(), defaults={"png": png})
    return logo


def forget_unused_logos() -> int:
    """Delete what was sent with a form that nothing came of; returns how many."""
    used = {*App.objects.values_list("logo_digest", flat=True)}
    used |= {*apps.get_model("developers.DeveloperApplication").objects.values_list("logo_digest", flat=True)}
    old = Logo.objects.filter(created_at__lt=timezone.now() - _UNUSED_FOR)
    return old.exclude(digest__in=used).delete()[0]


def _clean(data: bytes) -> bytes:
    """Only the pixels, small: what else the file held, such as where a photo was taken, stays behind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_KINDS) as picture:
                if picture.width * picture.height > _MOST_PIXELS:
                    raise InvalidRequest(gettext("A logo has at most 4096 by 4096 pixels."))
                small = picture.convert("RGBA")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise InvalidRequest(gettext("A logo has at most 4096 by 4096 pixels.")) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError):
        raise InvalidRequest(gettext("A logo is a PNG, JPEG or WebP picture.")) from None
    small.thumbnail((_SIDE, _SIDE))
    pixels = Image.new("RGBA", small.size)
    pixels.paste(small)
    written = io.BytesIO()
    pixels.save(written, "PNG", optimize=True)
    return written.getvalue()
