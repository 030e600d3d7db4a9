"""A way for one person to one app, which nobody else gets by the link that was meant for them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from consent.connections import actions
from consent.connections.models import Connection
from consent.decisions import actions as decisions
from consent.decisions import blocked_apps
from consent.errors import AlreadyDecided, UnknownConnection
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.retention import forget_old_records
from consent.states import Actor
from consent.tasks import write_down_expiry
from consent.verification.run import notices_after, verify_notices
from consent_bridge import sealed
from developers.models import AppPerson
from pkm.registry.hidden_scopes import hide_scope
from pkm.signatures import sha256
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import CONNECTOR, FOOD, problem, request_body
from tests.consent.api.test_budgets import rate_limits
from tests.consent.decisions import approval
from tests.factories import AppFactory, Vault, known_as

SHOP = "https://shop.example"
BACK = f"{SHOP}/back?order=4711"
RIDING = {
    "scope": FOOD,
    "purpose": "Suggest restaurants that you would like",
    "connector_public_key": sealed.public_half(CONNECTOR),
    "connector_key_id": "shop-1",
    "connector_wrapping_alg": "ECDH-ES+A256KW",
}


@pytest.fixture
def shop(api: Developer) -> Developer:
    api.app.origins = [SHOP]
    api.app.save(update_fields=["origins"])
    return api


@pytest.fixture
def browser(person: User) -> Client:
    return signed_in(person).client


def begin(api: Developer, **body: Any) -> dict[str, Any]:
    answer = api.post("/connections", body)
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def page_of(made: dict[str, Any]) -> str:
    return urlsplit(made["connect_url"]).path


def answers(browser: Client, made: dict[str, Any], answer: str = "connect", **form: str) -> Any:
    return browser.post(f"/connect/{made['connection_id']}/", {"decision": answer, **form})


def members_of(answer: Any) -> dict[str, str]:
    """What an answer leads back to the shop with."""
    assert answer.status_code == 303
    assert answer["Location"].startswith(f"{BACK}&")
    return {name: values[0] for name, values in parse_qs(urlsplit(answer["Location"]).query).items()}


def stands(api: Developer, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/connections/{made['connection_id']}").json()
    return found


def completes(api: Developer, made: dict[str, Any], code: str) -> Any:
    return api.post(f"/connections/{made['connection_id']}/complete", {"connection_code": code})


def notice_kinds(api: Developer) -> list[str]:
    return list(Notice.objects.filter(app=api.app).order_by("sequence").values_list("kind", flat=True))


def moved(made: dict[str, Any], **columns: Any) -> None:
    Connection.objects.filter(connection_id=made["connection_id"]).update(**columns)


def approved(request_id: str, vault: Vault) -> Grant:
    request = ConsentRequest.objects.get(request_id=request_id)
    decisions.approve(request_id=request_id, by=vault.user, body=approval(request, vault))
    return Grant.objects.get(request=request)


def test_a_link_leads_to_the_slice_and_back(shop: Developer, vault: Vault, browser: Client) -> None:
    made = begin(shop, return_url=BACK, binding_message="Order 4711", request=RIDING)
    page = browser.get(page_of(made))
    sheet = answers(browser, made)
    request_id = ConsentRequest.objects.get().request_id
    approved(request_id, vault)
    back = members_of(browser.get(f"/consent/requests/{request_id}/return/"))
    answer = completes(shop, made, back["connection_code"])

    assert "Only if you started this yourself" in page.content.decode()
    assert f"form-action 'self' {SHOP}" in page["Content-Security-Policy"].split("; ")
    assert (sheet.status_code, sheet["Location"]) == (302, f"/consent/requests/{request_id}/")
    assert back.keys() == {"order", "connection_id", "connection_code", "status"}
    assert (back["connection_id"], back["status"]) == (made["connection_id"], "connected")
    body = answer.json()
    assert (answer.status_code, body["status"], body["request_id"]) == (200, "connected", request_id)
    assert body["user_id"] == AppPerson.objects.get().pairwise_id
    assert body["request"]["request"]["invitation_sha256"] == sha256(made["connection_id"])
    assert body["request"]["request"]["return_url"] == BACK
    again = stands(shop, made)
    for one in (again, body):
        del one["request"]["expires_in"]  # which is less with each second
    assert again == body
    assert notice_kinds(shop) == ["connection.connected", "consent.approved"]
    assert shop.get("/consent-export", request_id=request_id).status_code == 200
    assert AuditEntry.objects.filter(kind="app_connected").count() == 1


def test_until_it_is_completed_nothing_is_told(shop: Developer, vault: Vault, browser: Client) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    grant = approved(ConsentRequest.objects.get().request_id, vault)
    request_id = grant.request.request_id
    receipt_id = grant.request.receipts.get().receipt_id
    user_id = AppPerson.objects.get().pairwise_id

    standing = stands(shop, made)
    assert standing["status"] == "pending"
    assert {standing[name] for name in ("user_id", "request_id", "request", "refusal", "sequence")} == {None}
    assert notice_kinds(shop) == []
    assert shop.get("/consent-requests").json()["requests"] == []
    for answer in (
        shop.get("/consent-status", request_id=request_id),
        shop.get("/consent-status", user_id=user_id, scope=FOOD),
        shop.get("/consent-export", request_id=request_id),
        shop.post("/end-consent", {"request_id": request_id}),
    ):
        assert problem(answer) == (404, "unknown_request")
    assert problem(shop.get(f"/receipts/{receipt_id}")) == (404, "unknown_receipt")


def test_whoever_sent_the_link_to_another_gets_nothing(shop: Developer, vault: Vault, browser: Client) -> None:
    """The shop's session that began never sees the code: ten minutes later what was given has ended."""
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    grant = approved(ConsentRequest.objects.get().request_id, vault)

    for guess in ("cc_" + "a" * 26, made["code"], made["connection_id"]):
        assert problem(completes(shop, made, guess)) == (403, "invalid_connection_code")
    within = Connection.objects.get().complete_by - timezone.now()
    assert timedelta(minutes=9) < within <= timedelta(minutes=10)
    moved(made, complete_by=timezone.now() - timedelta(seconds=1))
    assert stands(shop, made)["status"] == "expired"
    write_down_expiry()

    grant.refresh_from_db()
    assert (grant.status, grant.ended_by) == ("released", "system")
    assert (stands(shop, made)["status"], stands(shop, made)["user_id"]) == ("expired", None)
    assert notice_kinds(shop) == []


def test_a_late_code_completes_nothing(shop: Developer, person: User, browser: Client) -> None:
    made = begin(shop, return_url=BACK)
    code = members_of(answers(browser, made))["connection_code"]
    moved(made, complete_by=timezone.now() - timedelta(seconds=1))

    assert problem(completes(shop, made, code)) == (403, "invalid_connection_code")
    write_down_expiry()
    assert problem(completes(shop, made, code)) == (403, "invalid_connection_code")


def test_a_newer_return_ends_the_code_before_and_a_repetition_is_the_same(
    shop: Developer, vault: Vault, browser: Client
) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    request_id = ConsentRequest.objects.get().request_id
    decisions.deny(request_id=request_id, by=vault.user)
    here = f"/consent/requests/{request_id}/return/"
    first, second = (members_of(browser.get(here))["connection_code"] for _ in range(2))

    assert problem(completes(shop, made, first)) == (403, "invalid_connection_code")
    once, again = (completes(shop, made, second) for _ in range(2))
    assert (once.status_code, again.status_code) == (200, 200)
    assert once.json() | {"request": None} == again.json() | {"request": None}
    assert notice_kinds(shop) == ["connection.connected", "consent.denied"]
    assert "connection_code" not in browser.get(here)["Location"]


def test_the_code_leads_there_where_nothing_can_return(shop: Developer, person: User, browser: Client) -> None:
    made = begin(shop)
    typed = f" {made['code'][:4].lower()}-{made['code'][4:]} "
    page = browser.post("/connect/", {"code": typed})

    assert made["connect_url"] is None
    assert browser.get(f"/connect/{made['connection_id']}/").status_code == 404
    assert answers(browser, made).status_code == 302
    assert Connection.objects.get().status == "pending"  # without the code nobody answers
    assert f'action="/connect/{made["connection_id"]}/"' in page.content.decode()
    assert made["code"] not in browser.get("/connect/").content.decode()
    answers(browser, made, code=typed)
    standing = stands(shop, made)
    assert (standing["status"], standing["user_id"]) == ("connected", AppPerson.objects.get().pairwise_id)
    assert notice_kinds(shop) == ["connection.connected"]


def test_ten_wrong_codes_an_hour(shop: Developer, person: User, browser: Client) -> None:
    made = begin(shop)

    codes = [browser.post("/connect/", {"code": "CCCCCCCC"}).status_code for _ in range(10)]
    assert codes == [400] * 10
    assert browser.post("/connect/", {"code": made["code"]}).status_code == 429
    assert answers(browser, made, code=made["code"]).status_code == 302
    assert Connection.objects.get().status == "pending"


def test_codes_sent_at_once_are_tried_one_after_another(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """None may look how many are left before the one ahead has counted."""
    steps: list[str] = []
    for name in ("lock_for_transaction", "peek", "count"):
        done = getattr(actions, name)
        monkeypatch.setattr(actions, name, lambda *given, name=name, done=done: (steps.append(name), done(*given))[1])

    with pytest.raises(UnknownConnection):
        actions.open_by_code("CCCCCCCC", by=person)

    assert steps == ["lock_for_transaction", "peek", "count"]


def test_opening_gives_time_to_sign_up(shop: Developer, client: Client) -> None:
    made = begin(shop, return_url=BACK)
    row = Connection.objects.get()
    assert row.expires_at - row.created_at == timedelta(seconds=made["expires_in"]) == timedelta(seconds=600)

    answer = client.get(page_of(made))

    row.refresh_from_db()
    assert answer.status_code == 200
    assert row.expires_at - row.created_at == timedelta(seconds=3600)


def test_whoever_is_not_signed_in_sees_who_asks_and_comes_back(shop: Developer, client: Client) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    page = client.get(page_of(made)).content.decode()

    for words in ("Only if you started this yourself", shop.app.name, RIDING["purpose"], "Then you go back to"):
        assert words in page
    assert f"<blockquote>{RIDING['purpose']}</blockquote>" in page  # an app's own words look like nobody else's
    assert 'name="decision"' not in page
    sign_up = client.post("/accounts/signup/passkey/", {"email": "ann@example.org", "next": page_of(made)})
    assert sign_up["Location"] == "/accounts/signup/passkey/create/"
    assert client.session["passkey_sign_up"]["leads_to"] == page_of(made)

    moved(made, status="declined")
    gone = client.get(page_of(made))
    assert (gone.status_code, gone["Location"]) == (302, f"/accounts/login/?next={page_of(made)}")


def test_following_a_link_writes_one_time_once_and_to_what_waits_alone(shop: Developer, client: Client) -> None:
    """Before anybody signed in: somebody who signs up for twenty minutes is waited for, and the app hears so."""
    made, ended = begin(shop, return_url=BACK), begin(shop, return_url=BACK)
    Connection.objects.filter(connection_id=ended["connection_id"]).update(expires_at=timezone.now())
    Connection.objects.filter(connection_id=made["connection_id"]).update(
        created_at=timezone.now() - timedelta(minutes=9), expires_at=timezone.now() + timedelta(minutes=1)
    )
    before = {row["connection_id"]: row for row in Connection.objects.values()}

    client.get(page_of(made))
    client.get(page_of(ended))
    once = {row["connection_id"]: row for row in Connection.objects.values()}
    client.get(page_of(made))
    client.head(page_of(made))

    changed = {
        name for name, value in once[made["connection_id"]].items() if value != before[made["connection_id"]][name]
    }
    assert changed == {"expires_at"}
    assert once[ended["connection_id"]] == before[ended["connection_id"]]
    assert {row["connection_id"]: row for row in Connection.objects.values()} == once
    assert stands(shop, made)["status"] == "pending"


def test_one_person_answers_and_only_in_time(shop: Developer, person: User, browser: Client) -> None:
    taken, late = begin(shop, return_url=BACK), begin(shop, return_url=BACK)
    answers(browser, taken)
    an_hour_ago = timezone.now() - timedelta(hours=1, seconds=1)
    moved(late, created_at=an_hour_ago, expires_at=an_hour_ago + timedelta(hours=1))
    from tests.factories import PersonFactory

    other = signed_in(PersonFactory()).client

    assert answers(other, taken).status_code == 409
    assert answers(browser, late).status_code == 409
    assert AppPerson.objects.get().user == person
    assert "no longer open" in other.get(page_of(taken)).content.decode()
    write_down_expiry()
    assert stands(shop, late)["status"] == "expired"


def test_what_apps_were_told_of_connections_is_verified(shop: Developer, person: User, browser: Client) -> None:
    connected = begin(shop, return_url=BACK)
    completes(shop, connected, members_of(answers(browser, connected))["connection_code"])
    answers(browser, begin(shop, return_url=BACK), "decline")

    assert notice_kinds(shop) == ["connection.connected", "connection.declined"]
    assert list(verify_notices(notices_after(0, 100), {}, restored=False)) == []


def test_declining_tells_nothing_of_who_it_was(shop: Developer, person: User, browser: Client) -> None:
    made = begin(shop, return_url=BACK)

    back = members_of(answers(browser, made, "decline"))

    assert back == {"order": "4711", "connection_id": made["connection_id"], "status": "declined"}
    assert (stands(shop, made)["status"], stands(shop, made)["user_id"]) == ("declined", None)
    assert notice_kinds(shop) == ["connection.declined"]
    assert not AppPerson.objects.exists()
    assert Connection.objects.get().user is None


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example.evil.example/", "https://evil.example/?https://shop.example/", "http://shop.example/",
        "https://shop.example@evil.example/", "https://shop.example/#fragment", "https://shop.example\\evil.example",
        "javascript:alert(1)", "//shop.example/", "https://shop.example:444/",
    ],
)  # fmt: skip
def test_nobody_is_led_elsewhere(shop: Developer, vault: Vault, url: str) -> None:
    for answer in (
        shop.post("/connections", {"return_url": url}),
        shop.post("/request-consent", request_body(vault.user, return_url=url)),
    ):
        assert problem(answer) == (400, "invalid_return_url")


def test_an_origin_that_was_taken_away_leads_nowhere(shop: Developer, vault: Vault, browser: Client) -> None:
    request_id = shop.post("/request-consent", request_body(vault.user, return_url=BACK)).json()["request_id"]
    decisions.deny(request_id=request_id, by=vault.user)
    shop.app.origins = []
    shop.app.save(update_fields=["origins"])

    assert browser.get(f"/consent/requests/{request_id}/return/").status_code == 404
    assert f"Back to {shop.app.name}" not in browser.get(f"/consent/requests/{request_id}/").content.decode()


def test_a_request_of_its_own_leads_back_too(shop: Developer, vault: Vault, browser: Client) -> None:
    made = shop.post("/request-consent", request_body(vault.user, return_url=BACK)).json()
    here = f"/consent/requests/{made['request_id']}/"
    waiting = browser.get(f"{here}return/")
    sheet = browser.get(here).content.decode()
    decisions.deny(request_id=made["request_id"], by=vault.user)

    assert (waiting.status_code, waiting["Location"]) == (302, here)
    assert made["request"]["return_url"] == BACK
    assert 'data-shown="return_url">https://shop.example/back?order=4711<' in sheet
    assert members_of(browser.get(f"{here}return/")) == {
        "order": "4711",
        "request_id": made["request_id"],
        "status": "denied",
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"scope": "attr.lifestyle.nothing.*"}, "invalid_scope"),
        ({"connector_public_key": {"kty": "oct", "k": "AA"}}, "invalid_connector_key"),
        ({"connector_key_id": None}, "connector_key_required"),
        ({"scope": [FOOD]}, "one_scope_per_request"),
        ({"user_id": "usr_somebody"}, "invalid_request"),
        ({"return_url": BACK}, "invalid_request"),
        ({"access_duration": 31536001}, "invalid_request"),
    ],
)
def test_what_could_be_asked_of_nobody_is_refused_at_once(shop: Developer, change: dict[str, Any], code: str) -> None:
    answer = shop.post("/connections", {"request": {**RIDING, **change}})

    assert problem(answer) == (400, code)
    assert not Connection.objects.exists()


def test_null_names_nothing_that_the_connection_gives(shop: Developer) -> None:
    nothing = dict.fromkeys(("user_id", "invitation_sha256", "return_url"))
    assert shop.post("/connections", {"request": {**RIDING, **nothing}}).status_code == 201


def test_who_has_nothing_of_it_is_asked_all_the_same(shop: Developer, person: User, browser: Client) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    page = browser.get(page_of(made)).content.decode()
    assert "You decide about that on the next page" in page

    sheet = answers(browser, made)["Location"]

    assert sheet == f"/consent/requests/{ConsentRequest.objects.get().request_id}/"
    standing = stands(shop, made)  # and whether they kept it before is nothing that the app learns
    assert (standing["status"], standing["refusal"], standing["request_id"]) == ("pending", None, None)


def test_who_hides_it_is_told_and_connects_all_the_same(shop: Developer, vault: Vault, browser: Client) -> None:
    hide_scope(by=vault.user, scope=FOOD)
    made = begin(shop, return_url=BACK, request=RIDING)
    page = browser.get(page_of(made)).content.decode()
    assert "You hide this from apps" in page
    assert "on the next page" not in page

    code = members_of(answers(browser, made))["connection_code"]
    body = completes(shop, made, code).json()

    assert (body["status"], body["request_id"], body["refusal"]) == ("connected", None, "invalid_scope")
    assert body["user_id"] == AppPerson.objects.get().pairwise_id


def test_beginning_anew_takes_the_place_of_what_waits(shop: Developer, vault: Vault, browser: Client) -> None:
    known_as(shop.app, vault.user)
    first, second = (begin(shop, return_url=BACK, request=RIDING) for _ in range(2))
    answers(browser, first)
    abandoned = ConsentRequest.objects.get()
    answers(browser, second)

    assert Connection.objects.get(connection_id=second["connection_id"]).refusal == ""
    assert ConsentRequest.objects.get(pk=abandoned.pk).status == "cancelled"
    assert ConsentRequest.objects.get(status="pending").withheld
    # and a direct one that of an uncompleted connection, of which it may know nothing
    direct = shop.post("/request-consent", request_body(vault.user, user_id=AppPerson.objects.get().pairwise_id))
    assert direct.status_code == 201


def known_of(shop: Developer, user_id: str) -> list[Any]:
    """All that the shop can see of somebody whom it knows."""
    events = [(notice.kind, notice.request_id) for notice in Notice.objects.filter(app=shop.app)]
    listed = shop.get("/consent-requests").json()["requests"]
    status = shop.get("/consent-status", user_id=user_id, scope=FOOD).json()
    return [events, listed, status]


@pytest.mark.parametrize("shared", [False, True])
def test_what_the_app_knows_of_stays_as_it_is_and_tells_nothing(
    shop: Developer, vault: Vault, browser: Client, shared: bool
) -> None:
    """What its link closed or replaced would tell the shop that it was she who followed it."""
    user_id = known_as(shop.app, vault.user)
    direct = {**request_body(vault.user, user_id=user_id), **RIDING}
    request_id = shop.post("/request-consent", direct).json()["request_id"]
    if shared:
        approved(request_id, vault)
    before = known_of(shop, user_id)
    made = begin(shop, return_url=BACK, request=RIDING)
    page = browser.get(page_of(made)).content.decode()

    code = members_of(answers(browser, made))["connection_code"]

    assert ("Connecting changes nothing about that" in page, "on the next page" in page) == (True, False)
    assert ConsentRequest.objects.count() == 1
    assert (known_of(shop, user_id), stands(shop, made)["refusal"]) == (before, None)
    other = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, other)
    moved(other, complete_by=timezone.now() - timedelta(seconds=1))
    write_down_expiry()
    assert (known_of(shop, user_id), stands(shop, other)["status"]) == (before, "expired")
    assert completes(shop, made, code).json()["refusal"] == "request_pending"


def test_what_rides_replaces_no_approval_of_meanwhile(shop: Developer, vault: Vault, browser: Client) -> None:
    user_id = known_as(shop.app, vault.user)
    answers(browser, begin(shop, return_url=BACK, request=RIDING))
    riding = ConsentRequest.objects.get()
    another_key = sealed.public_half(sealed.generate_connector_key())
    direct = {**request_body(vault.user, user_id=user_id), **RIDING, "connector_public_key": another_key}
    grant = approved(shop.post("/request-consent", direct).json()["request_id"], vault)
    before = known_of(shop, user_id)

    with pytest.raises(AlreadyDecided):
        approved(riding.request_id, vault)

    riding.refresh_from_db()
    grant.refresh_from_db()
    assert (riding.status, grant.status) == ("cancelled", "active")
    assert known_of(shop, user_id) == before


def left_for(shop: Developer, vault: Vault, user_id: str) -> dict[str, int]:
    """What the app is told that it may still ask of this person, with one request that it takes back."""
    answer = shop.post("/request-consent", request_body(vault.user, user_id=user_id, scope="attr.lifestyle.*"))
    assert answer.status_code == 201, answer.content
    shop.post("/end-consent", {"request_id": answer.json()["request_id"]})
    return rate_limits(answer)


def test_what_is_withheld_counts_in_no_limit_that_the_app_is_told(
    shop: Developer, vault: Vault, browser: Client
) -> None:
    """A shop that knows her would see from its limits that it is she who connected, before she came back."""
    user_id = known_as(shop.app, vault.user)
    before = left_for(shop, vault, user_id)
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    back = actions.return_to(connection=Connection.objects.get())
    assert ConsentRequest.objects.get(status="pending").withheld

    during = left_for(shop, vault, user_id)
    assert completes(shop, made, parse_qs(urlsplit(back).query)["connection_code"][0]).status_code == 200
    after = left_for(shop, vault, user_id)

    waiting, per_day = "pending-per-person", "requests-per-person"
    assert during[waiting] == before[waiting]
    assert during[per_day] == before[per_day] - 1  # its own one
    assert (after[waiting], after[per_day]) == (before[waiting] - 1, before[per_day] - 3)


def test_a_blocked_app_connects_with_nobody(shop: Developer, vault: Vault, browser: Client) -> None:
    known_as(shop.app, vault.user)
    blocked_apps.block_app(app_id=shop.app.app_id, by=vault.user, stop=True)
    made = begin(shop, return_url=BACK)

    answer = answers(browser, made)

    assert (answer.status_code, answer["Location"]) == (302, f"/consent/apps/{shop.app.app_id}/")
    assert Connection.objects.get().status == "pending"


def test_what_is_not_completed_gives_the_old_name_back_to_nobody(
    shop: Developer, vault: Vault, browser: Client
) -> None:
    """Somebody left the shop, and another's link brings them back: their old name names nobody until it counts."""
    user_id = known_as(shop.app, vault.user)
    assert actions.disconnect(app_pk=shop.app.pk, user=vault.user, actor=Actor.PERSON)
    made = begin(shop, return_url=BACK)
    code = members_of(answers(browser, made))["connection_code"]

    assert problem(shop.get(f"/user-scopes/{user_id}")) == (404, "unknown_user")
    assert problem(shop.post("/request-consent", request_body(vault.user, user_id=user_id))) == (404, "unknown_user")

    assert completes(shop, made, code).json()["user_id"] == user_id
    assert shop.get(f"/user-scopes/{user_id}").status_code == 200


def test_a_connection_that_is_not_completed_can_be_ended(shop: Developer, vault: Vault, browser: Client) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    grant = approved(ConsentRequest.objects.get().request_id, vault)

    assert ends_by_person(shop, vault, browser) == 302

    grant.refresh_from_db()
    assert grant.status == "revoked"
    assert not Connection.objects.exists()


@pytest.mark.parametrize("stop", [True, False])
def test_blocking_ends_what_is_not_completed(shop: Developer, vault: Vault, browser: Client, stop: bool) -> None:
    made = begin(shop, return_url=BACK)
    code = members_of(answers(browser, made))["connection_code"]

    blocked_apps.block_app(app_id=shop.app.app_id, by=vault.user, stop=stop)

    assert problem(completes(shop, made, code)) == (403, "invalid_connection_code")
    assert (stands(shop, made)["status"], stands(shop, made)["user_id"]) == ("expired", None)
    assert notice_kinds(shop) == []


@pytest.mark.parametrize("answer", ["connect", "decline"])
def test_nobody_is_led_to_an_origin_that_was_taken_away_meanwhile(
    shop: Developer, person: User, browser: Client, answer: str
) -> None:
    made = begin(shop, return_url=BACK)
    shop.app.origins = []
    shop.app.save(update_fields=["origins"])

    answered = answers(browser, made, answer)

    assert answered.status_code == 302
    assert answered["Location"].startswith("/consent/")


def test_permissions(shop: Developer) -> None:
    discovering = Developer.of(shop.app, permissions=["discover"])

    assert discovering.post("/connections", {}).status_code == 201
    assert problem(discovering.post("/connections", {"request": RIDING})) == (403, "insufficient_scope")
    assert problem(discovering.delete("/connections/usr_a")) == (403, "insufficient_scope")
    made = begin(shop)
    other = Developer.of(AppFactory())
    assert problem(other.get(f"/connections/{made['connection_id']}")) == (404, "unknown_connection")
    assert problem(completes(other, made, "cc_a")) == (404, "unknown_connection")


def test_every_answer_says_what_is_left(shop: Developer, person: User, browser: Client, settings: Any) -> None:
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 2, 0.01
    made = begin(shop, return_url=BACK)
    answers(browser, made, "decline")
    path = f"/connections/{made['connection_id']}"

    refused = [shop.post("/connections", body) for body in ({"x": 1}, {"return_url": "https://evil.example/"})]
    refused += [Developer.of(shop.app, permissions=["discover"]).post("/connections", {"request": RIDING})]
    polled = [shop.get(path, wait="5"), shop.get(path, wait="x"), shop.get("/connections/con_a", wait="5")]

    assert [answer.status_code for answer in (*refused, *polled)] == [400, 400, 403, 200, 400, 404]
    assert [rate_limits(answer) for answer in refused] == [{"connections": left} for left in (599, 598, 597)]
    assert [rate_limits(answer) for answer in polled] == [{"status-polls": 2}] * 3
    assert not shop.delete("/connections/usr_a").has_header("RateLimit")


def ends_by_app(shop: Developer, vault: Vault, browser: Client) -> int:
    return int(shop.delete(f"/connections/{AppPerson.objects.get().pairwise_id}").status_code)


def ends_by_person(shop: Developer, vault: Vault, browser: Client) -> int:
    return int(browser.post(f"/consent/apps/{shop.app.app_id}/disconnect/").status_code)


@pytest.mark.parametrize(("end", "code", "status"), [(ends_by_app, 204, "released"), (ends_by_person, 302, "revoked")])
def test_either_ends_it(
    shop: Developer, vault: Vault, browser: Client, end: Callable[..., int], code: int, status: str
) -> None:
    made = begin(shop, return_url=BACK, request=RIDING)
    answers(browser, made)
    grant = approved(ConsentRequest.objects.get().request_id, vault)
    back = members_of(browser.get(f"/consent/requests/{grant.request.request_id}/return/"))
    user_id = completes(shop, made, back["connection_code"]).json()["user_id"]
    assert shop.app.name in browser.get("/consent/apps/").content.decode()

    assert end(shop, vault, browser) == code

    grant.refresh_from_db()
    assert grant.status == status
    assert notice_kinds(shop)[-1] == f"consent.{status}"
    assert problem(shop.get(f"/user-scopes/{user_id}")) == (404, "unknown_user")
    assert problem(shop.delete(f"/connections/{user_id}")) == (404, "unknown_user")
    assert AuditEntry.objects.filter(kind="app_disconnected").count() == 1
    again = begin(shop)
    browser.post("/connect/", {"code": again["code"]})
    answers(browser, again, code=again["code"])
    assert stands(shop, again)["user_id"] == user_id  # the vault knows the app's one name for them


def test_ending_nothing_says_so(shop: Developer, vault: Vault) -> None:
    assert not actions.disconnect(app_pk=shop.app.pk, user=vault.user, actor=Actor.PERSON)


def test_old_ones_go(shop: Developer, person: User) -> None:
    old, new = begin(shop), begin(shop)
    moved(old, created_at=timezone.now() - timedelta(days=41))

    forget_old_records()

    assert list(Connection.objects.values_list("connection_id", flat=True)) == [new["connection_id"]]
