"""What is the same thing is called the same on every form."""

import re
from collections.abc import Iterator

import pytest
from django.utils.html import strip_tags

from tests.access.walk import Walk, all_well, parts
from tests.addresses import Address, Caller, pages

_READERS = (Caller.ANONYMOUS, Caller.OWNER, Caller.STAFF_2FA)
_FIELD = re.compile(r"<(?:input|select)\b[^>]*>")
_OF_AN_ADDRESS = re.compile(r'\s(?:type="email"|name="(?:\w*_)?email"|autocomplete="(?:[\w -]* )?email")')
_NOT_TYPED = re.compile(r'\stype="(?:hidden|radio|checkbox)"')
_LABEL = re.compile(r'<label\b[^>]*\sfor="([^"]+)"[^>]*>(.*?)</label>', re.DOTALL)
_NAME = "E-mail address"


@pytest.mark.parametrize("addresses", parts(pages()))
def test_an_email_address_has_one_name(addresses: list[Address], walk: Walk) -> None:
    found: dict[str, list[str]] = {}
    for address in addresses:
        for reader in _READERS:
            answer = walk.ask(address, reader)
            if answer.status == 200 and answer.media_type == "text/html":
                other = [label for label in _labels(answer.body.decode()) if label != _NAME]
                found |= {f"{address.name} as {reader.value}": other} if other else {}

    all_well(found)


def test_forms_for_an_email_address_are_among_the_pages(walk: Walk) -> None:
    """Or the search for their labels would prove nothing."""
    forms = {
        address.route
        for address in pages()
        for reader in _READERS
        if address.room in ("accounts", "profile") and list(_labels(walk.ask(address, reader).body.decode()))
    }

    assert {"accounts/login/", "accounts/signup/", "accounts/password/reset/", "accounts/email/", "profile/"} <= forms


def _labels(page: str) -> Iterator[str]:
    """What each field for an e-mail address is called, without what marks it as optional."""
    labels = {name: " ".join(strip_tags(label).split()) for name, label in _LABEL.findall(page)}
    for field in _FIELD.findall(page):
        if _OF_AN_ADDRESS.search(field) and not _NOT_TYPED.search(field):
            own = re.search(r'\sid="([^"]*)"', field)
            label = labels.get(own[1] if own else "", "no label")
            yield re.sub(r" \(optional\)$|:$", "", label).replace("\N{NON-BREAKING HYPHEN}", "-")
