"""Wording of messages: one member of staff proposes, another approves, and what was approved stays as it is."""

from typing import Any

import pytest
from django.test import Client

from agents_proxy.messaging import templates as messaging_templates
from agents_proxy.messaging.models import MessageTemplate
from tests.factories import MessageTemplateFactory, StaffFactory
from tests.staff import at_the_admin

LIST = "/admin/agents_proxy/messagetemplate/"


def staff(**fields: Any) -> tuple[Any, Client]:
    member = StaffFactory(is_superuser=True, **fields)
    return member, at_the_admin(member)


def act(page: Client, action: str, *rows: MessageTemplate) -> str:
    body = {"action": action, "_selected_action": [row.pk for row in rows]}
    return page.post(LIST, body, follow=True).content.decode()


def test_two_people_agree_on_the_wording(db: None) -> None:
    (_, proposing), (approver, approving) = staff(), staff()
    given = {"name": "table", "language": "en", "text": "Hello {name},\nyour table is ready."}

    assert proposing.post(f"{LIST}add/", given).status_code == 302
    made = MessageTemplate.objects.get()
    assert "Nobody approves their own wording" in act(proposing, "approve", made)
    assert MessageTemplate.objects.get().active is False
    act(approving, "approve", made)
    made.refresh_from_db()
    assert (made.active, made.approved_by, made.version) == (True, approver, 1)
    assert "Nobody approves" in act(approving, "approve", made)


def test_new_wording_takes_the_place_of_the_old(db: None) -> None:
    old = MessageTemplateFactory(name="table", agreed=True)
    (_, proposing), (_, approving) = staff(), staff()
    proposing.post(f"{LIST}add/", {"name": "table", "language": "en", "text": "New."})
    new = MessageTemplate.objects.exclude(pk=old.pk).get()
    act(approving, "approve", new)

    assert list(MessageTemplate.objects.order_by("version").values_list("version", "active")) == [(1, False), (2, True)]
    act(approving, "retire", new)
    assert not MessageTemplate.objects.filter(active=True).exists()


def test_wording_that_was_proposed_is_not_changed(db: None) -> None:
    row = MessageTemplateFactory()
    _, page = staff()

    page.post(f"{LIST}{row.pk}/change/", {"name": row.name, "language": "en", "text": "Other."})

    assert MessageTemplate.objects.get().text == row.text


@pytest.mark.parametrize(
    "given",
    [
        {"name": "Table"}, {"language": "english language"}, {"text": "Hello {Name}"}, {"text": "Hello {"},
        {"text": "Hello \u202eolleh"}, {"text": ""},
    ],
)  # fmt: skip
def test_wording_that_does_not_fit(db: None, given: dict[str, str]) -> None:
    _, page = staff()

    assert (
        page.post(f"{LIST}add/", {"name": "table", "language": "en", "text": "Hello {name}", **given}).status_code
        == 200
    )
    assert MessageTemplate.objects.count() == 0


def test_retiring_what_is_not_active(db: None) -> None:
    assert messaging_templates.retire_template(template_pk=MessageTemplateFactory().pk) is False
