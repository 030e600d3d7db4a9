"""Destinations of an app: by page and by management token, whom they obey, and what never changes."""

import re
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from common import encryption
from common.problems import InvalidRequest
from developers.apps.models import AppAuditEntry
from developers.models import App
from tests.callers import JsonClient, manager
from tests.factories import AppFactory, MemberFactory

pytestmark = pytest.mark.django_db

URL = "https://crm.example/in"


@pytest.fixture
def shop(person: User) -> App:
    made: App = AppFactory(name="Trip Planner")
    MemberFactory(app=made, user=person)
    return made


def added(app: App, url: str = URL, name: str = "Trips CRM") -> Destination:
    return destination_actions.add_destination(app=app, name=name, url=url, by=None)[0]


def audited() -> list[str]:
    return list(AppAuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_the_secret_is_shown_once_and_kept_encrypted(owner: JsonClient, shop: App) -> None:
    here = f"/developers/apps/{shop.app_id}/destinations/"
    answer = owner.client.post(here, {"name": "Trips CRM", "url": URL})

    kept = Destination.objects.get()
    found = re.search(r"whsec_[\w+/=]+", answer.content.decode())
    assert found is not None
    assert encryption.opened(kept.secret) == found[0]
    assert found[0] not in kept.secret
    listed = owner.client.get(here).content.decode()
    assert kept.destination_id in listed
    assert "whsec_" not in listed
    assert audited() == ["destination.added"]
    assert (
        "Added the destination Trips CRM" in owner.client.get(f"/developers/apps/{shop.app_id}/audit/").content.decode()
    )


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("", URL), ("x" * 81, URL), ("a\u202eb", URL), ("CRM", "http://crm.example/"), ("CRM", "https://127.0.0.1/"),
        ("CRM", "https://a:b@crm.example/"), ("CRM", "nothing"), ("CRM", f"https://crm.example/{'a' * 500}"),
    ],
)  # fmt: skip
def test_bad_input_makes_nothing(owner: JsonClient, shop: App, name: str, url: str) -> None:
    answer = owner.client.post(f"/developers/apps/{shop.app_id}/destinations/", {"name": name, "url": url})
    by_program = manager(shop.members.get().user).post(f"/apps/{shop.app_id}/destinations", {"name": name, "url": url})

    assert (answer.status_code, by_program.status_code) == (400, 400)
    assert not Destination.objects.exists()


def test_buttons_disable_enable_renew_and_remove(owner: JsonClient, shop: App) -> None:
    made = added(shop)
    here = f"/developers/apps/{shop.app_id}/destinations/{made.destination_id}/"
    owner.client.post(f"{here}switch/", {"enabled": "no"})
    assert Destination.objects.get().disabled_at is not None
    owner.client.post(f"{here}switch/", {"enabled": "yes"})
    assert Destination.objects.get().disabled_at is None
    before = Destination.objects.get().secret
    assert "whsec_" in owner.client.post(f"{here}secret/").content.decode()
    assert Destination.objects.get().secret != before
    assert "cannot be brought back" in owner.client.get(f"{here}remove/").content.decode()
    owner.client.post(f"{here}remove/")

    gone = Destination.objects.get()
    assert (gone.secret, gone.removed_at == gone.disabled_at) == ("", True)
    assert owner.client.post(f"{here}secret/").status_code == 404
    assert audited()[1:] == [
        "destination.disabled", "destination.enabled", "destination.secret_renewed", "destination.removed",
    ]  # fmt: skip


def test_a_destination_of_others_is_not_under_an_app_of_ones_own(owner: JsonClient, shop: App) -> None:
    other = added(AppFactory())
    mixed = f"/developers/apps/{shop.app_id}/destinations/{other.destination_id}/"
    for path in (f"{mixed}switch/", f"{mixed}secret/", f"{mixed}remove/"):
        assert owner.client.post(path).status_code == 404


def test_by_program(person: User, shop: App) -> None:
    program = manager(person)
    here = f"/apps/{shop.app_id}/destinations"
    made = program.post(here, {"name": "Trips CRM", "url": URL})
    body = made.json()
    secret = body.pop("secret")
    assert made.status_code == 201
    assert secret.startswith("whsec_")
    assert body.keys() == {"destination_id", "name", "url", "enabled", "disabled_at", "created_at"}
    assert program.get(here).json() == {"items": [body], "next_cursor": None}

    one = f"{here}/{body['destination_id']}"
    off = program.patch(one, {"enabled": False}).json()
    assert (off["enabled"], off["disabled_at"] is None) == (False, False)
    assert program.patch(one, {"enabled": True}).json() == body
    renewed = program.post(f"{one}/rotate-secret").json()
    assert renewed["secret"] != secret
    assert program.delete(one).status_code == 204
    again = program.delete(one)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_destination")
    assert program.get(here).json()["items"] == []


def test_an_address_is_there_once_and_an_app_has_so_many(shop: App, settings: Any) -> None:
    made = added(shop)
    with pytest.raises(InvalidRequest, match="already"):
        added(shop)
    destination_actions.remove_destination(destination=made, by=shop.members.get().user)
    added(shop)
    for number in range(destination_actions.MOST_DESTINATIONS - 1):
        added(shop, f"https://crm.example/{number}")
    with pytest.raises(InvalidRequest, match="at most 20"):
        added(shop, "https://crm.example/more")


@pytest.mark.parametrize("changed", [{"name": "Other"}, {"url": "https://other.example/"}, {"destination_id": "des_x"}])
def test_what_people_agree_to_never_changes(shop: App, changed: dict[str, str]) -> None:
    added(shop)
    with pytest.raises(IntegrityError), transaction.atomic():
        Destination.objects.update(**changed)


def test_a_removed_destination_stays_removed(shop: App) -> None:
    destination_actions.remove_destination(destination=added(shop), by=shop.members.get().user)
    with pytest.raises(IntegrityError), transaction.atomic():
        Destination.objects.update(removed_at=None, secret="new")


def test_an_address_inside_is_for_trying_out_alone(shop: App, settings: Any) -> None:
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    assert added(shop, "http://127.0.0.1:8099/in").host == "127.0.0.1:8099"
