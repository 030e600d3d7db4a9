"""What is asked about the pictures of accounts."""

import base64
from typing import TYPE_CHECKING

from accounts.models import UserPhoto
from common.encryption import Unreadable, opened

if TYPE_CHECKING:
    from accounts.models import User


def photo_of(user: "User") -> bytes | None:
    """Their picture as WebP; None where they have none, or it was sealed under a key that is gone."""
    kept = UserPhoto.objects.filter(user=user).values_list("webp", flat=True).first()
    try:
        return base64.b64decode(opened(kept)) if kept else None
    except Unreadable:
        return None
