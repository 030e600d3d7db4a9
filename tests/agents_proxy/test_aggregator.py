"""Linking, listing, identity, removal and signals through the addresses and the page, against a stand-in over HTTP."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from accounts.models import User
from agents_proxy.financial import client, links, refreshes
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.errors import AggregatorProblem, AggregatorRefused, UnknownLink
from agents_proxy.financial.models import Item, LinkSession, RefreshRun
from agents_proxy.financial.tasks import maintain_institutions
from agents_proxy.processing_consent import actions as consents
from agents_proxy.signing import pairwise
from agents_proxy.states import Purpose
from common.clock import database_now
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed, there
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory
from tests.fakes.aggregator import Aggregator
from tests.refused import refused_as

ROOT = "/api/a2a/financial"


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_from_the_link_to_the_signals(
    bank: Aggregator, person: User, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    owner = signed_in(person)
    agreed(person)

    made = owner.post(f"{ROOT}/links")
    back = bank.visit(made.json()["url"], *coffees(12))
    with django_capture_on_commit_callbacks(execute=True):
        returned = owner.client.get(path_of(back))

    assert (made.status_code, made.json().keys()) == (201, {"linkId", "url", "expiresAt"})
    assert (returned.status_code, returned["Location"]) == (302, "/profile/financial/")
    [item] = owner.get(f"{ROOT}/items").json()["items"]
    assert (item["institution"], item["status"], item["transactions"]) == ("First Bank of Tests", "active", 12)
    assert item["accounts"] == [{"name": "Everyday", "mask": "0042", "type": "depository", "subtype": "checking"}]
    assert (item["refresh"]["status"], item["refresh"]["added"]) == ("completed", 12)
    signals = owner.get(f"{ROOT}/signals").json()["signals"]
    assert signals == linked_items.financial_signals(person)
    assert (signals["likes"], signals["brand_affinities"]) == (["coffee"], ["Blue Bottle"])
    bodies = dict(bank.calls)
    user_id = bodies["/link/token/create"]["user"]["client_user_id"]
    assert user_id == pairwise(client.origin(), person.pk) != pairwise("https://another.example", person.pk)
    assert person.public_id not in user_id
    assert {
        name: bodies["/link/token/create"][name] for name in ("products", "transactions", "language", "webhook")
    } == {
        "products": ["transactions"],
        "transactions": {"days_requested": 730},
        "language": "en",
        "webhook": f"{settings.BASE_URL}/api/a2a/financial/webhooks",
    }
    assert "/identity/get" not in bodies
    assert not any(
        "access-sandbox" in str(owner.get(f"{ROOT}/items{more}").content) for more in ("", f"/{item['itemId']}")
    )
    session = LinkSession.objects.get()
    assert (session.status, session.link_token, session.item.item_id) == ("completed", None, item["itemId"])


@pytest.mark.parametrize(("language", "expected"), [("de", "de"), ("en", "en"), ("tlh", "en"), ("", "en")])
def test_the_page_of_the_aggregator_speaks_the_language_of_its_person(
    bank: Aggregator, person: User, language: str, expected: str
) -> None:
    person.language = language
    agreed(person)

    links.start_link(by=person)

    assert bank.calls[-1][1]["language"] == expected


def test_an_aggregator_elsewhere_is_told_of_no_address_that_it_cannot_reach(
    bank: Aggregator, person: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "is_encrypted", lambda: True)
    bank.fails["/link/token/create"] = [b'{"link_token": "t", "hosted_link_url": "https://a.example/"}'] * 2
    agreed(person)

    for settings.BASE_URL in ("http://localhost:8000", "https://consent.example"):
        links.start_link(by=person)

    webhooks = [body.get("webhook") for _, body in bank.calls]
    assert webhooks == [None, "https://consent.example/api/a2a/financial/webhooks"]


def test_a_sign_in_once_more_keeps_the_item_and_what_was_read(
    bank: Aggregator, person: User, django_capture_on_commit_callbacks: Any
) -> None:
    item = linked(person, bank, *coffees(5))
    refreshed(item)
    bank.fails["/transactions/sync"] = ["ITEM_LOGIN_REQUIRED"]
    refreshed(item)
    there(bank, item).history += [("added", each) for each in coffees(2, merchant="Peet's")]
    owner = signed_in(person)
    assert "Sign in there again" in owner.client.get("/profile/financial/").content.decode()

    going = owner.client.post(f"/profile/financial/{item.item_id}/link/")
    assert owner.client.get(going["Location"]).status_code == 200
    body = bank.calls[-1][1]
    left = owner.client.get(path_of(bank.visit(f"{bank.address}/hl/{list(bank.links)[-1]}", leave=True)), follow=True)
    again = owner.post(f"{ROOT}/items/{item.item_id}/links").json()
    with django_capture_on_commit_callbacks(execute=True):
        owner.client.get(path_of(bank.visit(again["url"])))

    assert "Nothing was linked." in left.content.decode()
    assert bank.items[body["access_token"]] == there(bank, item)
    assert not {"products", "transactions", "webhook"} & body.keys()
    [shown] = owner.get(f"{ROOT}/items").json()["items"]
    assert (shown["itemId"], shown["status"], shown["transactions"]) == (item.item_id, "active", 7)
    assert bank.paths.count("/item/public_token/exchange") == 0
    sessions = LinkSession.objects.order_by("pk").values_list("status", "item")
    assert list(sessions) == [("exited", None), ("completed", item.pk)]


def test_where_the_access_ended_meanwhile_it_has_to_be_linked_anew(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(5))
    bank.fails["/link/token/create"] = ["USER_PERMISSION_REVOKED"]

    shown = signed_in(person).client.post(f"/profile/financial/{item.item_id}/link/", follow=True).content.decode()

    assert "The institution ended the access. Link it anew." in shown
    assert Item.objects.get().status == "removed"


def test_nobody_signs_in_for_somebody_elses_institution(bank: Aggregator, person: User) -> None:
    item = linked(PersonFactory(), bank)
    agreed(person)

    assert signed_in(person).post(f"{ROOT}/items/{item.item_id}/links").status_code == 404
    assert signed_in(person).client.post(f"/profile/financial/{item.item_id}/link/").status_code == 404
    assert bank.calls == []


def test_a_state_works_once_and_for_one_person(bank: Aggregator, person: User) -> None:
    agreed(person)
    stranger = PersonFactory()
    agreed(stranger)
    back = path_of(bank.visit(links.start_link(by=person).url))

    assert signed_in(stranger).client.get(back).status_code == 404
    assert signed_in(person).client.get(back).status_code == 302
    assert signed_in(person).client.get(back).status_code == 404
    assert signed_in(person).client.get("/profile/financial/linked/").status_code == 404
    assert Item.objects.count() == 1


def test_a_page_left_without_linking(bank: Aggregator, person: User) -> None:
    agreed(person)
    back = bank.visit(links.start_link(by=person).url, leave=True)

    assert "Nothing was linked." in signed_in(person).client.get(path_of(back), follow=True).content.decode()
    assert (LinkSession.objects.get().status, Item.objects.count()) == ("exited", 0)


@pytest.mark.parametrize("path", ["/link/token/get", "/item/public_token/exchange"])
def test_a_return_can_be_repeated_where_the_aggregator_failed(bank: Aggregator, person: User, path: str) -> None:
    agreed(person)
    state = bank.visit(links.start_link(by=person).url).split("state=")[1]
    bank.fails[path] = [500]

    with pytest.raises(AggregatorProblem):
        links.finish_link(by=person, state=state)

    assert links.finish_link(by=person, state=state) == Item.objects.get()


def test_a_visit_that_is_over_is_closed(bank: Aggregator, person: User) -> None:
    agreed(person)
    state = bank.visit(links.start_link(by=person).url).split("state=")[1]
    LinkSession.objects.update(expires_at=database_now() - timedelta(seconds=1))

    with refused_as(UnknownLink):
        links.finish_link(by=person, state=state)
    maintain_institutions()
    assert (LinkSession.objects.get().status, LinkSession.objects.get().link_token) == ("expired", None)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://", "https://a@b.example/", "/here"])
def test_a_page_that_is_none(bank: Aggregator, person: User, url: str) -> None:
    agreed(person)
    bank.fails["/link/token/create"] = [f'{{"link_token": "t", "hosted_link_url": "{url}"}}'.encode()]

    with pytest.raises(AggregatorRefused):
        links.start_link(by=person)


def test_identity_needs_its_own_consent(bank: Aggregator, person: User) -> None:
    item = linked(person, bank)
    owner, address = signed_in(person), f"{ROOT}/items/{item.item_id}/identity"

    refused = owner.post(address)
    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    assert "purposes=identity" in refused.json()["consent_url"]
    assert "/identity/get" not in bank.paths
    agreed(person, Purpose.IDENTITY)
    assert owner.post(address).json() == {
        "names": ["Zoe Doe"],
        "emails": ["zoe@example.org"],
        "phoneNumbers": ["+4915112345678"],
        "addresses": [{"street": "1 Main", "city": "Poway"}],
    }
    links.start_link(by=person)
    assert bank.calls[-1][1]["additional_consented_products"] == ["identity"]


def test_removal_ends_the_access_there_and_here(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(5))
    refreshed(item)
    owner, address = signed_in(person), f"{ROOT}/items/{item.item_id}"
    bank.fails["/item/remove"] = [500]

    assert owner.delete(address).status_code == 502
    assert Item.objects.get().status == "active"
    assert owner.delete(address).status_code == 204
    kept = Item.objects.get()
    assert (kept.status, kept.access_token, kept.signals, there(bank, item).removed) == ("removed", None, None, True)
    assert owner.get(address).status_code == owner.delete(address).status_code == 404
    assert owner.get(f"{ROOT}/items").json() == {"items": []}


def test_a_refresh_is_asked_for_once(bank: Aggregator, person: User) -> None:
    item = linked(person, bank)
    owner, address = signed_in(person), f"{ROOT}/items/{item.item_id}/refreshes"

    assert [owner.post(address).status_code, owner.post(address).status_code] == [202, 202]
    assert RefreshRun.objects.count() == 1


ADDRESSES = [
    ("POST", "/links"), ("GET", "/items"), ("GET", "/items/itm_x"), ("DELETE", "/items/itm_x"),
    ("POST", "/items/itm_x/refreshes"), ("POST", "/items/itm_x/identity"), ("GET", "/signals"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_addresses_want_their_method_a_session_consent_and_no_query(
    bank: Aggregator, client_json: JsonClient, person: User, method: str, path: str
) -> None:
    owner = signed_in(person)

    assert client_json.put(ROOT + path, {}).status_code == 405
    assert client_json.send(method, ROOT + path, b"{}").status_code == 401
    if method != "DELETE":  # what is linked can be removed without any consent
        assert owner.send(method, ROOT + path, b"{}").json()["code"] == "consent_required"
    agreed(person, Purpose.FINANCIAL, Purpose.IDENTITY)
    assert owner.send(method, f"{ROOT}{path}?x=1", b"{}").status_code == 400
    if method == "POST":
        assert owner.post(ROOT + path, {"x": 1}).status_code == 400
    if "itm_x" in path:
        assert owner.send(method, ROOT + path, b"{}").json()["code"] == "unknown_item"


def test_another_persons_item_is_not_there(bank: Aggregator, person: User) -> None:
    item = linked(PersonFactory(), bank)
    agreed(person)

    assert signed_in(person).get(f"{ROOT}/items/{item.item_id}").status_code == 404
    assert signed_in(person).delete(f"{ROOT}/items/{item.item_id}").status_code == 404


def test_without_an_aggregator_there_is_nothing(person: User, settings: Any) -> None:
    settings.AGGREGATOR = None
    agreed(person)
    owner = signed_in(person)

    assert (owner.post(f"{ROOT}/links").status_code, owner.post(f"{ROOT}/links").json()["code"]) == (
        503, "aggregator_not_configured",
    )  # fmt: skip
    assert owner.client.get("/profile/financial/").status_code == 404
    assert linked_items.financial_signals(person) == {}
    maintain_institutions()


def test_signals_only_under_a_live_consent_to_financial(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(5))
    refreshed(item)
    assert linked_items.financial_signals(person) != {}

    consents.withdraw(consent_id=item.consent.consent_id, by=person)
    agreed(person, Purpose.BRAND_AFFINITY, Purpose.IDENTITY)

    assert linked_items.financial_signals(person) == {}


def test_the_page(bank: Aggregator, person: User) -> None:
    page = signed_in(person).client

    first = page.get("/profile/financial/").content.decode()
    refused = page.post("/profile/financial/link/", follow=True).content.decode()
    went = page.post("/profile/financial/link/", {"agreed": "yes"}, follow=True)
    back = bank.visit(f"{bank.address}/hl/{next(iter(bank.links))}", *coffees(6))
    page.get(path_of(back))
    refreshes.run_refresh(RefreshRun.objects.get().pk)
    shown = page.get("/profile/financial/").content.decode()

    assert "Merchants and categories of your transactions" in first
    assert "Agree first" in refused
    assert f'href="{bank.address}/hl/' in went.content.decode()
    assert "First Bank of Tests" in shown
    assert "Blue Bottle" in shown
    assert page.post(f"/profile/financial/{Item.objects.get().item_id}/refresh/").status_code == 302
    page_before = page.get(f"/profile/financial/{Item.objects.get().item_id}/remove/").content.decode()
    assert "Remove this institution?" in page_before
    assert Item.objects.get().status == "active"
    bank.fails["/item/remove"] = [500]
    failed = page.post(f"/profile/financial/{Item.objects.get().item_id}/remove/", follow=True).content.decode()
    assert "try again" in failed
    page.post(f"/profile/financial/{Item.objects.get().item_id}/remove/")
    assert Item.objects.get().status == "removed"
