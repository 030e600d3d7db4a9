"""Which addresses an endpoint may have."""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from common import addresses
from common.problems import InvalidRequest

LONGEST_ADDRESS = 500


def check_address(url: str) -> None:
    """Raise `InvalidRequest` where `url` cannot be an endpoint's; the code of its error says what is wrong.

    `url`: no web address. `not_https`: would travel in clear. `not_bare`: has a name, a password or a fragment.
    `not_public`: names an address inside. A name is resolved and judged when something is sent, each time anew.
    """
    internal = settings.WEBHOOK_INTERNAL_ADDRESSES
    try:
        URLValidator(schemes=["https", "http"], message="Give a web address.")(url)
        split = urlsplit(url)
        host = split.hostname or ""
        if split.port == 0:
            raise ValueError
    except (ValidationError, ValueError):
        raise refused_address("url", "Give a web address.") from None
    if len(url) > LONGEST_ADDRESS:
        raise refused_address("url", f"Give an address of at most {LONGEST_ADDRESS} characters.")
    if split.scheme != "https" and not internal:
        raise refused_address("not_https", "Give an https address.")
    if split.username is not None or split.password is not None or "#" in url:
        raise refused_address("not_bare", "Give an address without a name, a password or a fragment.")
    if not internal and not _may_be_public(host):
        raise refused_address("not_public", "Give an address on the public internet.")


def _may_be_public(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return addresses.is_public(ipaddress.ip_address(host))
    except ValueError:
        return True  # a name


def refused_address(code: str, message: str) -> InvalidRequest:
    """The refusal that names `url`, with a code that says why."""
    return InvalidRequest(message, errors=[{"field": "url", "code": code, "message": message}])
