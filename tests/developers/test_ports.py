"""A port that there is not: refused wherever an address is typed, and not when something is sent there."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from agents_proxy.financial.links import _is_page
from agents_proxy.processing_consent.pages import _is_origin
from common.problems import InvalidRequest
from developers.applications.facts import origin_of
from developers.apps.admin import _has_port
from developers.apps.domains import domain_of
from developers.webhooks.policies import check_address


@pytest.mark.parametrize("port", ["99999", "65536", "0"])
def test_no_address_has_such_a_port(port: str, settings: Any) -> None:
    settings.AGGREGATOR = {"url": "https://bank.example"}
    site = f"https://trips.example:{port}"
    with pytest.raises(InvalidRequest) as refused:
        check_address(f"{site}/hook")
    assert refused.value.errors[0]["code"] == "url"
    assert (domain_of(site), origin_of(site)) == ("", None)
    assert not _is_origin(site)
    assert not _is_page(f"{site}/link")
    assert not _has_port(urlsplit(site))


@pytest.mark.parametrize("site", ["https://trips.example", "https://trips.example:8443", "https://trips.example:65535"])
def test_others_are_taken(site: str, settings: Any) -> None:
    settings.AGGREGATOR = {"url": "https://bank.example"}
    check_address(f"{site}/hook")
    assert domain_of(site) == "trips.example"
    assert origin_of(site) == site
    assert _is_origin(site)
    assert _is_page(f"{site}/link")
    assert _has_port(urlsplit(site))
