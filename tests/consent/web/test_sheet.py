"""What comes ticked on the sheet of a request, and what there is to look at before a decision."""

import re
import time
from html import unescape

import pytest
import time_machine
from django.utils.formats import date_format
from fido2.utils import websafe_encode

from accounts.models import User
from consent.requests import published_keys
from consent.web.entering import MOST_FIELDS
from pkm.registry import copy as registry_copy
from tests.accounts.test_passkey_sign_up import SoftwareKey, begin, sign_up
from tests.consent.web.test_pages import text
from tests.factories import AppFactory, ConsentRequestFactory, GrantFactory, PublishedKeysFactory, give_vault
from tests.factories.consent_requests import now
from tests.vouched import vouch_for

STORED = {
    ("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "favourite_dessert": "Mango"},
    ("location", "home"): {"city": "Turku", "country": "Finland"},
    ("financial", "signals"): {"spend_bracket": "Middle"},
}
DIET, CUISINE, DESSERT, CITY = (
    "lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine", "lifestyle.food.favourite_dessert",
    "location.home.city",
)  # fmt: skip
EATING, LIVING = {"scope": "attr.lifestyle.food.*"}, {"scope": "attr.location.home.*"}
WIDE, STYLE, ADULT = {"scope": "attr.lifestyle.*"}, "lifestyle.shopping.fashion_style", "identity.basic.age_over_18"
# what is asked for, what the app registered, what was shared before: what comes ticked
TICKS = {
    "everyday": (EATING, ["attr.lifestyle.*"], None, {DIET, CUISINE}),
    "beyond": (EATING, ["attr.interests.*"], None, set()),
    "nothing registered": (EATING, [], None, set()),
    "wider than registered": ({"scope": "attr.lifestyle.*"}, ["attr.lifestyle.food.*"], None, set()),
    "beyond, one required": (
        EATING | {"required_attributes": [DIET], "optional_attributes": [CUISINE]}, [], None, {DIET},
    ),
    "confidential": (LIVING, ["attr.location.*"], None, set()),
    "confidential, one required": (LIVING | {"required_attributes": [CITY]}, ["attr.location.*"], None, {CITY}),
    "restricted": ({"scope": "attr.financial.signals.*"}, ["attr.financial.*"], None, set()),
    "renewal": (EATING, ["attr.lifestyle.*"], [DIET], {DIET}),
    "renewal, beyond": (EATING, [], [DIET], set()),
    "renewal, confidential": (LIVING, ["attr.location.*"], [CITY], set()),
    "renewal, their own": (EATING, ["attr.lifestyle.*"], [DESSERT], set()),
}  # fmt: skip


@pytest.mark.parametrize(("terms", "registered", "before", "ticked"), TICKS.values(), ids=TICKS)
def test_nothing_optional_comes_ticked_that_is_sensitive_or_beyond_what_was_registered(
    owner, person, terms, registered, before, ticked
):
    give_vault(person, STORED)
    request = ConsentRequestFactory(user=person, app__application__needed_scopes=registered, **terms)
    if before:
        GrantFactory(
            request__user=person, request__app=request.app, request__scope=request.scope, status="revoked",
            approved_attributes=before,
        )  # fmt: skip
    page = text(owner.get(f"/consent/requests/{request.request_id}/"))
    boxes = re.findall(r'<input type="checkbox" name="attribute" value="([^"]+)" (checked)?', page)
    assert len(boxes) >= 1
    assert {path for path, checked in boxes if checked} == ticked
    assert f"{len(ticked)} of {len(boxes)}<" in page


def test_review_counts_what_there_is_to_look_at(owner, person):
    older = GrantFactory(request__user=person)
    again = ConsentRequestFactory(user=person, app=older.app, connector=older.request.connector)
    vouch_for(again)
    calm = text(owner.get(f"/consent/requests/{again.request_id}/"))
    assert "1 thing to know:</strong> <span data-names>you share this already</span>" in calm

    loud = ConsentRequestFactory(
        user=person, app__status="suspended", app__verified=False, scope="attr.financial.signals.*"
    )
    page = text(owner.get(f"/consent/requests/{loud.request_id}/"))
    names = (
        "restricted data · suspended by our staff · nobody vouches for its key · nobody checked who this is · "
        "wants more than it told us · first time it asks"
    )
    assert f"6 things to know:</strong> <span data-names>{names}</span>" in page


WORDS = {
    "Suggest restaurants that you would like": "",
    "Plan trips now and then; GPS and MAPS help": "",
    "APPROVE NOW, or your account is closed: verify your account with the bank": "pressure, and a bank's name",
    "Please respond within 2 hours": "pressure",
    "Bitte bestätige sofort, sonst wird dein Konto gesperrt": "pressure",
    "Show your Sparkasse balance": "a bank's name",
    "Pay with PayPal": "a payment service's name",
    "Your Finanzamt needs this": "an authority's name",
    "The new Google sign-in": "a well-known company's name",
    "Log in to P\u200bay\u200bPal": "a payment service's name",  # with signs of no width
    "Welcome to p\u0430yments": "a name in look-alike letters",  # a Cyrillic letter among Latin ones
}


@pytest.mark.parametrize(("purpose", "label"), WORDS.items())
def test_pressure_and_borrowed_names_are_marked_and_untick_what_is_optional(owner, person, purpose, label):
    give_vault(person, STORED)
    app = AppFactory(verified=False, application__needed_scopes=["attr.lifestyle.*"])
    request = ConsentRequestFactory(user=person, app=app, purpose=purpose, **EATING)

    page = unescape(text(owner.get(f"/consent/requests/{request.request_id}/")))

    named = re.search(r"data-names>([^<]*)<", page)[1]
    always = "nobody checked who this is · nobody vouches for its key · first time it asks"
    assert named == (f"{label} · {always}" if label else always)
    assert ("checked" in re.findall(r'name="attribute" value="[^"]+" (checked)?', page)) == (not label)


def test_pressure_is_marked_in_why_something_is_required_too(owner, person):
    request = ConsentRequestFactory(user=person, required_because="Please respond within 2 hours", **EATING)
    assert "pressure" in text(owner.get(f"/consent/requests/{request.request_id}/"))


def test_the_name_of_an_app_that_was_checked_is_its_own(owner, person):
    app = AppFactory(name="Nordbank", application__legal_name="Nordbank AB")
    request = ConsentRequestFactory(user=person, app=app, purpose="See your Nordbank card in one place")
    assert "bank's name" not in unescape(text(owner.get(f"/consent/requests/{request.request_id}/")))

    other = ConsentRequestFactory(user=person, app=app, purpose="See your Sparkasse card in one place")
    assert "a bank's name" in unescape(text(owner.get(f"/consent/requests/{other.request_id}/")))


@pytest.mark.parametrize("status", ["pending", "denied", "cancelled", "expired"])
def test_review_leads_to_the_page_of_the_app(owner, person, status):
    request = ConsentRequestFactory(user=person, status=status)
    assert f'href="/consent/apps/{request.app.app_id}/"' in text(owner.get(f"/consent/requests/{request.request_id}/"))


# --- who vouches for the key ------------------------------------------------------------------------------------------

BLOCKED = "it is restricted, and nobody vouches for the key"


def sheet(owner, consent_request):
    return unescape(text(owner.get(f"/consent/requests/{consent_request.request_id}/")))


@pytest.mark.parametrize("scope", ["attr.lifestyle.food.*", "attr.location.home.*", "attr.financial.signals.*"])
def test_the_sheet_says_that_nobody_vouches_and_what_follows(owner, person, scope):
    give_vault(person, STORED)
    page = sheet(owner, ConsentRequestFactory(user=person, scope=scope))

    assert "nobody vouches for its key" in re.search(r"data-names>([^<]*)<", page)[1]
    is_restricted, is_confidential = scope == "attr.financial.signals.*", scope == "attr.location.home.*"
    assert (BLOCKED in page) == is_restricted
    assert ("data-ready" in page) == (not is_restricted)
    assert ('id="share-unvouched"' in page) == is_confidential


@pytest.mark.parametrize("scope", ["attr.location.home.*", "attr.financial.signals.*"])
def test_the_sheet_says_who_vouches(owner, person, scope):
    give_vault(person, STORED)
    request = ConsentRequestFactory(user=person, scope=scope)
    key = vouch_for(request)

    page = sheet(owner, request)

    assert "key registered on <time" in page
    assert f">{date_format(key.registered_at, 'j M Y')}</time>" in page
    assert "Nobody vouches" not in page
    assert "data-ready" in page
    assert "share-unvouched" not in page


def test_the_sheet_names_the_domain_that_publishes_the_key(owner, person):
    app = AppFactory(proved_domain="plateandtable.example", domain_proved_at=now())
    request = ConsentRequestFactory(user=person, app=app)
    kept = published_keys.seal_fetched_keys(
        app_id=app.app_id,
        domain="plateandtable.example",
        request_id=request.request_id,
        fetched_at=request.created_at,
        keys=[request.connector_public_key],
    )
    PublishedKeysFactory(request=request, token=kept)

    assert "key published there" in sheet(owner, request)


def entered_on(page):
    """The paths of the fields that the sheet shows, and whether a vault is to be made."""
    enter = page.context["enter"]
    return [field["path"] for field in enter.get("fields", [])], bool(enter.get("person"))


@pytest.mark.parametrize(
    ("terms", "fields"),
    [
        ({}, []),
        ({"required_attributes": [DIET]}, []),
        (WIDE | {"required_attributes": [STYLE, DIET], "optional_attributes": [CUISINE]}, [STYLE]),
        (LIVING | {"optional_attributes": [CITY]}, [CITY]),
        ({"scope": "attr.interests.leisure.*"}, "all"),
    ],
    ids=["something is there", "what is required is there", "required alone", "nothing is there", "nothing of a scope"],
)
def test_what_a_request_lacks_is_entered_on_its_sheet(owner, person, terms, fields):
    give_vault(person, {("lifestyle", "food"): STORED["lifestyle", "food"]})
    request = ConsentRequestFactory(user=person, **terms)
    page = owner.get(f"/consent/requests/{request.request_id}/")
    wanted = request.attributes[:MOST_FIELDS] if fields == "all" else fields
    assert entered_on(page) == (wanted, False)
    assert ('id="enter-form"' in page.content.decode()) == bool(wanted)


def test_of_an_answer_what_it_is_made_from_is_entered(owner, person):
    give_vault(person, {})
    derived = {ADULT: registry_copy.entries().answers[ADULT]}
    request = ConsentRequestFactory(user=person, scope=f"attr.{ADULT}", required_attributes=[ADULT], derived=derived)
    assert entered_on(owner.get(f"/consent/requests/{request.request_id}/")) == (["identity.basic.birth_date"], False)


def test_whoever_has_no_vault_makes_one_there_with_the_passkey_that_signs_them_in(owner, person):
    key, newcomer = SoftwareKey(), begin()
    sign_up(key, newcomer)
    made = ConsentRequestFactory(user=User.objects.get(email="ann@example.org"), optional_attributes=[DIET])
    page = newcomer.get(f"/consent/requests/{made.request_id}/")
    assert entered_on(page) == ([DIET], True)
    assert page.context["enter"]["person"]["signIn"] == [websafe_encode(key.id)]
    assert "Your passkey will be the only way in" in text(page)

    with time_machine.travel(time.time() + 601, tick=False):
        later = newcomer.get(f"/consent/requests/{made.request_id}/")
    assert entered_on(later) == ([DIET], True)
    assert "First confirm that it is you" in text(later)
    assert 'id="enter-form"' not in later.content.decode()

    page = owner.get(f"/consent/requests/{ConsentRequestFactory(user=person).request_id}/")  # by a password
    assert entered_on(page) == ([], False)
    assert "Your data is not set up yet" in text(page)
