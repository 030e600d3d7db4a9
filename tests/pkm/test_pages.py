"""The vault's pages: whose they are, that they hold no value, and the forms that work without a script."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.http import urlencode

from pkm.registry.labels import described
from pkm.registry.models import HiddenScope
from pkm.vault.actions import NewWrapper, add_wrapper
from pkm.vault.models import KeyWrapper, VaultKey
from tests.callers import signed_in
from tests.factories import PersonFactory, give_vault, invitation_of
from tests.pkm.sealed_segments import wrapper as wrapper_body


@pytest.fixture
def vault(person):
    return give_vault(person)


def text(answer):
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    return answer.content.decode()


@pytest.mark.parametrize(
    ("form", "back"),
    [
        ("/vault/discovery/", "/vault/"),
        ("/vault/setup/done/", "/vault/setup/"),
        ("/account/security/wrappers/wrp_x/restore/", "/account/security/"),
    ],
)
def test_who_signs_in_comes_back_to_the_page_of_the_form(client_json, db, form, back):
    answer = client_json.send("POST", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={back}")


@pytest.mark.parametrize(
    "path",
    [
        *(f"/vault/{page}" for page in ("", "changes/", "data/lifestyle/", "transfer/")),
        "/vault/setup/first/",
        "/vault/setup/preview/",
        "/account/security/recover/",
    ],
)
def test_without_a_vault_the_first_minutes_begin(owner, path):
    assert owner.get(path).headers["Location"] == "/vault/setup/"


def test_first_minutes_are_over_once_there_is_a_vault(owner, vault):
    assert owner.get("/vault/setup/").headers["Location"] == "/vault/"


def test_whoever_is_signed_in_for_longer_confirms_before_a_vault_is_made(person):
    page = signed_in(person, seconds_ago=601).get("/vault/setup/", next="/consent/inbox/").content.decode()
    assert 'href="/accounts/reauthenticate/?next=%2Fvault%2Fsetup%2F%3Fnext%3D%252Fconsent%252Finbox%252F"' in page
    assert "passphrase-form" not in page
    assert "passphrase-form" in signed_in(person, seconds_ago=590).get("/vault/setup/").content.decode()


def test_pages_hold_no_value_and_pin_their_queries(owner, vault, django_assert_max_num_queries):
    for path in (
        "/vault/",
        "/vault/data/lifestyle/",
        "/vault/transfer/",
        "/vault/setup/preview/",
        "/account/security/",
        "/account/security/recover/",
    ):
        with django_assert_max_num_queries(19):  # on PostgreSQL, which is asked for the time with a query
            shown = text(owner.get(path))
        assert "Vegetarian" not in shown
        assert not re.search(r"\bThai\b", shown)  # random tokens may spell it within a word
        assert "eyJhbGciOi" not in shown  # how a JOSE header begins


def test_what_the_service_knows_names_domains_in_their_order(person, owner):
    give_vault(person, {("contact", "email"): {"email": "x"}, ("identity", "basic"): {"full_name": "x"}})
    shown = text(owner.get("/vault/changes/"))
    assert re.findall("<dt>(.*?)</dt>", shown)[:3] == ["Identity", "Contact", "Total"]
    assert "1 entry, confidential" in shown


def test_preview_takes_no_query_for_each_segment(db, django_assert_max_num_queries):
    kept = {
        ("identity", "basic"): {"full_name": "Zoe"},
        ("contact", "email"): {"email": "zoe@example.org"},
        ("location", "home"): {"city": "Porto"},
        ("lifestyle", "food"): {"favorite_cuisine": "Thai"},
    }
    owner = signed_in(give_vault(PersonFactory(), kept).user)

    with django_assert_max_num_queries(11):
        seen = owner.get("/vault/setup/preview/").context["seen"]

    assert [one["icon"] for one in seen] == ["identity", "contact", "location", "lifestyle"]
    assert "City" in seen[2]["names"]


def test_overview_counts_what_is_kept(owner, vault, person):
    shown = text(owner.get("/vault/"))
    assert "3 entries" in shown
    assert person.public_id in shown


def test_domain_that_does_not_exist_is_not_found(owner, vault):
    assert owner.get("/vault/data/nowhere/").status_code == 404


def test_sharing_id_image_is_an_svg(owner, person):
    assert owner.get("/vault/sharing-id.svg").status_code == 404
    invitation_of(person)
    answer = owner.get("/vault/sharing-id.svg")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
    assert b"<path" in answer.content or b"<svg:path" in answer.content


def test_scope_is_hidden_and_shown_by_form(owner, vault):
    scope = "attr.lifestyle.food.*"
    answer = owner.client.post("/vault/discovery/", {"scope": scope, "hide": "1"})
    assert answer.headers["Location"] == "/vault/data/lifestyle/"
    assert list(HiddenScope.objects.values_list("scope", flat=True)) == [scope]
    owner.client.post("/vault/discovery/", {"scope": scope, "hide": "0"})
    assert not HiddenScope.objects.exists()


@pytest.mark.parametrize("scope", ["", "attr.nowhere.*", "nonsense", "pkm.write"])
def test_unknown_scope_is_not_found(owner, vault, scope):
    assert owner.client.post("/vault/discovery/", {"scope": scope, "hide": "1"}).status_code == 404


def _move(owner, wrapper, move, **typed):
    return owner.client.post(f"/account/security/wrappers/{wrapper.wrapper_id}/{move}/", typed, follow=True)


def test_way_to_unlock_is_removed_and_put_back(owner, person):
    give_vault(person, {}, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(user=person, kind="passphrase")

    assert "put it back for 7 days" in _move(owner, wrapper, "remove", only_recovery="yes").content.decode()
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is not None
    assert "Put back" in _move(owner, wrapper, "restore").content.decode()
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None


def test_removing_says_by_name_what_remains(owner, person):
    vault = give_vault(person, {}, passphrase="gravel lantern otter plum 7")
    add_wrapper(by=person, wrapper=NewWrapper(**wrapper_body(person, vault.key, "passkey", label="My phone")))
    code = KeyWrapper.objects.get(user=person, kind="recovery")
    path = f"/account/security/wrappers/{code.wrapper_id}/remove/"

    shown = text(owner.get(path))

    left = shown[shown.index("What then still unlocks your data") : shown.index("</form>", shown.index("Remove it"))]
    assert re.findall(r'class="t">([^<]+)<', left) == ["Passphrase", "My phone"]
    assert "only_recovery" not in left
    assert _move(owner, code, "remove").redirect_chain == [("/account/security/", 302)]


def test_recovery_code_alone_is_left_only_after_a_second_look(owner, person):
    give_vault(person, {}, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(user=person, kind="passphrase")
    assert "Only a piece of paper would be left" in text(
        owner.get(f"/account/security/wrappers/{wrapper.wrapper_id}/remove/")
    )

    refused = _move(owner, wrapper, "remove")

    assert (refused.status_code, refused.redirect_chain) == (400, [])
    assert "Tick this first" in refused.content.decode()
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None
    assert _move(owner, wrapper, "remove", only_recovery="yes").status_code == 200
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is not None


def test_recovery_code_is_asked_for_once_a_year(owner, vault, person):
    code = KeyWrapper.objects.filter(user=person)
    for made, used, due in ((364, None, False), (366, None, True), (800, 364, False), (800, 366, True)):
        now = timezone.now()
        code.update(created_at=now - timedelta(days=made), last_used_at=used and now - timedelta(days=used))
        assert ("not tried for a year" in text(owner.get("/account/security/"))) is due
        assert ("not tried for a year" in text(owner.get("/vault/"))) is due


@pytest.mark.parametrize(
    ("next_url", "back"),
    [("/consent/grants/?page=2", "/consent/grants/?page=2"), ("https://evil.example/", "/vault/"), ("", "/vault/")],
)
def test_forgotten_passphrase_leads_back_to_this_site_only(owner, vault, next_url, back):
    shown = text(owner.get("/account/security/recover/?" + urlencode({"next": next_url})))
    assert f'data-back="{back}"' in shown


def test_forgotten_passphrase_needs_a_fresh_sign_in(person, vault):
    shown = text(signed_in(person, seconds_ago=601).get("/account/security/recover/?next=/vault/"))
    assert "/accounts/reauthenticate/?next=%2Faccount%2Fsecurity%2Frecover%2F%3Fnext%3D%2Fvault%2F" in shown
    assert "recover-form" not in shown


def test_last_way_to_unlock_stays(owner, vault, person):
    wrapper = KeyWrapper.objects.get(user=person)
    assert "cannot be removed" in _move(owner, wrapper, "remove").content.decode()
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None


def test_old_sign_in_confirms_first(person):
    give_vault(person, {}, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(user=person, kind="passphrase")
    old = signed_in(person, seconds_ago=601)
    answer = old.client.post(f"/account/security/wrappers/{wrapper.wrapper_id}/remove/")
    assert answer.headers["Location"] == "/accounts/reauthenticate/?next=%2Faccount%2Fsecurity%2F"
    assert KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None


def test_described_groups_by_domain_and_knows_own_attributes(db):
    groups = described(["lifestyle.food.favorite_cuisine", "location.home.dog", "lifestyle.food.shoe_size", "no path"])
    found = [(g.domain, [(a.name, a.label, a.own, a.sensitive) for a in g.attributes]) for g in groups]
    assert dict(found) == {
        "lifestyle": [("favorite_cuisine", "Favourite cuisine", False, False), ("shoe_size", "Shoe size", True, False)],
        "location": [("dog", "Dog", True, True)],
    }


@pytest.mark.parametrize(
    ("then", "to"), [({}, "/consent/"), ({"then": "more"}, "/vault/"), ({"then": "x"}, "/consent/")]
)
def test_setup_ends_once_there_is_a_vault(owner, person, then, to):
    assert owner.client.post("/vault/setup/done/", then).headers["Location"] == "/vault/setup/"
    give_vault(person)

    assert owner.client.post("/vault/setup/done/", then).headers["Location"] == to

    assert VaultKey.objects.get(user=person).pre_onboarding_completed


@pytest.mark.parametrize(
    ("next_page", "to"),
    [
        ("/consent/inbox/", "/consent/inbox/"),
        *((elsewhere, "/vault/setup/first/") for elsewhere in ("", "//example.net/", "consent:home", "/consent/?a=b")),
    ],
)
def test_setup_goes_on_where_it_was_begun_for(owner, person, next_page, to):
    page = owner.client.get("/vault/setup/", {"next": next_page})
    assert f'data-next="{to}"' in page.content.decode()
    give_vault(person)
    there = owner.client.get("/vault/setup/", {"next": next_page}).headers["Location"]
    assert there == (to if to == next_page else "/vault/")


def test_a_part_that_is_called_as_its_domain_is_named_once(owner, vault):
    places = owner.get("/vault/import/").context["places"]

    assert places["occupation"]["group"] == "Work and income"
    assert places["diet_preference"]["group"] == "Lifestyle: Food and drink"
