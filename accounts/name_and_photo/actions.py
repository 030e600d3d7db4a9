"""A person says what they are called here, and sends or removes the picture of their account."""

import base64
import hashlib

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User, UserPhoto
from common.encryption import DecryptionFailed, opened, sealed
from common.limits import Limit, count
from common.pictures import small_picture

SIDE = 256  # pixels
_PHOTOS = Limit("photos-of-person", 30, 3600)  # those that were refused count too


class TooManyPhotos(Exception):
    """So many within an hour that the server would do little else."""


def rename(*, by: User, display_name: str) -> None:
    """Keep what they want to be called; with "" it is their address. The caller has checked that it is plain text."""
    User.objects.filter(pk=by.pk).update(display_name=display_name)


def take_photo(*, by: User, sent: "UploadedFile[bytes]") -> None:
    """Keep the picture, small, clean and encrypted at rest, in place of the one before.

    Raises InvalidRequest where it is none, TooManyPhotos.
    """
    if count(_PHOTOS, by.public_id).exceeded:
        raise TooManyPhotos
    webp = small_picture(sent.read(), side=SIDE, kind="WEBP")
    with transaction.atomic():
        UserPhoto.objects.update_or_create(user=by, defaults={"webp": sealed(base64.b64encode(webp).decode())})
        User.objects.filter(pk=by.pk).update(photo_digest=hashlib.sha256(webp).hexdigest())


def remove_photo(*, by: User) -> None:
    """Delete the picture; twice is as once."""
    with transaction.atomic():
        UserPhoto.objects.filter(user=by).delete()
        User.objects.filter(pk=by.pk).update(photo_digest="")


def photo_of(user: "User") -> bytes | None:
    """Their picture as WebP; None where they have none, or it was sealed under a key that is gone."""
    kept = UserPhoto.objects.filter(user=user).values_list("webp", flat=True).first()
    try:
        return base64.b64decode(opened(kept)) if kept else None
    except DecryptionFailed:
        return None
