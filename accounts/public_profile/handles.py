"""Which handles there can be, and how names are compared when somebody searches for them (pure)."""

import hashlib
import re
import unicodedata

from accounts.public_profile.errors import InvalidHandle, ReservedHandle

SHORTEST, LONGEST = 3, 32
_HANDLE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_LONGEST_SEARCHED = 300
# what people would take for the service, its staff, or a page of it
_RESERVED = """
abuse account accounts admin administrator anonymous api app apps billing consent consent-runtime contact developer
developers directory docs edit everybody everyone help hostmaster info legal login logout mail me moderator new
nobody null official operator people person postmaster preview privacy profile register root sandbox security
service settings sign-in sign-out sign-up signin signout signup staff support system team terms test undefined user
users vault verified webmaster www you
"""
RESERVED = frozenset(_RESERVED.split())


def checked_handle(text: str) -> str:
    """`text` as a handle; raises InvalidHandle or ReservedHandle."""
    handle = text.strip().lower()
    if not SHORTEST <= len(handle) <= LONGEST or not _HANDLE.match(handle):
        raise InvalidHandle
    if handle in RESERVED:
        raise ReservedHandle
    return handle


def folded(text: str) -> str:
    """`text` without its case, as one composed form: what names and searches are compared by."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())[:_LONGEST_SEARCHED]


def erased_handle(handle: str) -> str:
    """How the handle of somebody who was erased rests: nobody reads it, and nobody takes it."""
    return "#" + hashlib.sha256(handle.encode()).hexdigest()[:31]
