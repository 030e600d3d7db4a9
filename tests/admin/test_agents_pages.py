"""What staff see of profile agents: metadata on every page, and nothing that is sealed."""

from typing import Any

import pytest
from django.test import Client

from common import encryption
from tests import factories
from tests.staff import at_the_admin

ROWS: dict[str, Any] = {
    "processingconsent": factories.ProcessingConsentFactory,
    "call": factories.CallFactory,
    "run": factories.RunFactory,
    "messagetemplate": factories.MessageTemplateFactory,
    "outboundmessage": factories.OutboundMessageFactory,
    "item": factories.ItemFactory,
    "linksession": factories.LinkSessionFactory,
    "refreshrun": factories.RefreshRunFactory,
}


@pytest.fixture
def page(db: None) -> Client:
    return at_the_admin(factories.StaffFactory(is_superuser=True))


@pytest.mark.parametrize("name", ROWS)
def test_pages_of_a_record(page: Client, name: str) -> None:
    row = ROWS[name]()
    listed = f"/admin/agents_proxy/{name}/"
    sealed = {value for value in vars(row).values() if isinstance(value, str) and value.startswith("gAAAA")}

    for address in (listed, f"{listed}{row.pk}/change/", f"{listed}{row.pk}/history/"):
        answer = page.get(address)
        assert answer.status_code == 200, address
        shown = answer.content.decode()
        assert not any(text in shown or encryption.opened(text) in shown for text in sealed)
        assert Client().get(address).status_code == 302
    assert page.post(f"{listed}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    if name != "messagetemplate":
        assert page.get(f"{listed}add/").status_code == 403


def test_a_person_is_told_who_looked(page: Client) -> None:
    from consent.ledger.models import AuditEntry

    item = factories.ItemFactory()
    page.get(f"/admin/agents_proxy/item/{item.pk}/change/")

    assert AuditEntry.objects.of(f"person:{item.user.public_id}").filter(kind="staff_viewed").count() == 1
