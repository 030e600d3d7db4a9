"""The public profile: written, previewed, switched on and off, and seen by others."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ActorProfile, MarketplacePublicProfile, ReleasedHandle, User
from accounts.public_profile import actions, queries
from accounts.public_profile.errors import HandleTaken
from tests.factories import PersonFactory, PublicProfileFactory, give_vault

pytestmark = pytest.mark.django_db

HERE = "/account/public-profile/"
TYPED = {"handle": "zoe", "display_name": "Zoë Q", "headline": "Likes trains", "location_hint": "Near Turku"}


@pytest.fixture
def person(client: Client) -> User:
    made: User = PersonFactory(display_name="Name Of Account")
    client.force_login(made)
    return made


def seen_by(client: Client) -> str:
    return re.search(r'name="seen" value="([^"]+)"', client.get(f"{HERE}preview/").content.decode())[1]  # type: ignore[index]


def switch_on(client: Client) -> Any:
    return client.post(f"{HERE}switch/", {"shown": "yes", "seen": seen_by(client)})


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", answer.content.decode())


# --- writing ----------------------------------------------------------------------------------------------------------


def test_the_form_begins_empty_whatever_is_kept_elsewhere(client: Client, person: User) -> None:
    page = text_of(client.get(HERE)).partition('id="public"')[
        2
    ]  # above it stands their own name, which nobody else sees

    assert 'name="handle"' in page
    assert "Name Of Account" not in page
    assert not re.search(r'name="(handle|display_name|headline|location_hint)"[^>]* value=', page)
    assert client.get(f"{HERE}preview/")["Location"] == HERE


def test_what_was_saved_is_off_and_previewed_exactly_as_others_will_see_it(client: Client, person: User) -> None:
    assert client.post(HERE, TYPED)["Location"] == f"{HERE}preview/"
    assert Client().get("/people/zoe/").status_code == 404
    card = re.compile(r"<article.*?</article>")
    previewed = card.search(text_of(client.get(f"{HERE}preview/")))[0]  # type: ignore[index]

    assert switch_on(client)["Location"] == HERE

    shown = card.search(text_of(Client().get("/people/zoe/")))[0]  # type: ignore[index]
    assert shown.replace("h1", "h2") == previewed
    assert all(word in shown for word in TYPED.values())


def test_others_see_what_was_typed_and_nothing_else_of_the_person(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    switch_on(client)

    for visitor in (Client(), Client()):
        answer = visitor.get("/people/zoe/")
        page = answer.content.decode()
        assert answer.status_code == 200
        assert not [one for one in (person.public_id, person.email, person.display_name) if one in page]
        assert answer["X-Robots-Tag"] == "noindex, noarchive"
        visitor.force_login(PersonFactory())


@pytest.mark.parametrize(
    "handle", ["zo", "z" * 33, "-zoe", "zoe-", "zo--e", "zoë", "zo e", "zo_e", "zoe\u200b", "zoe/x"]
)
def test_what_is_no_handle_is_refused(client: Client, person: User, handle: str) -> None:
    page = client.post(HERE, {**TYPED, "handle": handle})

    assert (page.status_code, MarketplacePublicProfile.objects.count()) == (200, 0)
    assert 'aria-invalid="true"' in page.content.decode()


@pytest.mark.parametrize("handle", ["abc", "z" * 32, "z-0-e", "123", " Zoe "])
def test_handles_are_letters_digits_and_hyphens(client: Client, person: User, handle: str) -> None:
    assert client.post(HERE, {**TYPED, "handle": handle}).status_code == 302
    assert MarketplacePublicProfile.objects.get().handle == handle.strip().lower()


def test_a_reserved_word_and_a_taken_handle_are_said_plainly(client: Client, person: User) -> None:
    PublicProfileFactory(handle="zoe")

    assert "This word is kept for the service." in text_of(client.post(HERE, {**TYPED, "handle": "Admin"}))
    assert "This handle is taken" in text_of(client.post(HERE, TYPED))
    assert not MarketplacePublicProfile.objects.filter(user=person).exists()


@pytest.mark.parametrize("field", ["display_name", "headline", "location_hint"])
@pytest.mark.parametrize("text", ["a\u202eb", "a\u200bb", "a\u2028b", "\u3164", "a\x07b", "a\nb"])
def test_texts_are_one_line_of_plain_text(client: Client, person: User, field: str, text: str) -> None:
    page = text_of(client.post(HERE, {**TYPED, field: text}))

    assert "Use one line of plain text without invisible characters." in page
    assert not MarketplacePublicProfile.objects.exists()


@pytest.mark.parametrize(("field", "most"), [("display_name", 100), ("headline", 160), ("location_hint", 100)])
def test_texts_are_short(client: Client, person: User, field: str, most: int) -> None:
    assert client.post(HERE, {**TYPED, field: "ü" * (most + 1)}).status_code == 200
    assert client.post(HERE, {**TYPED, field: "ü" * most}).status_code == 302


def test_markup_is_text(client: Client, person: User) -> None:
    client.post(HERE, {**TYPED, "headline": "<b>bold</b>"})
    switch_on(client)

    assert "&lt;b&gt;bold&lt;/b&gt;" in Client().get("/people/zoe/").content.decode()


def test_a_change_of_a_page_that_is_on_is_seen_at_once(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    switch_on(client)

    assert client.post(HERE, {**TYPED, "headline": "Likes boats"})["Location"] == HERE
    assert "Likes boats" in Client().get("/people/zoe/").content.decode()


# --- switching --------------------------------------------------------------------------------------------------------


def test_only_the_text_that_was_previewed_is_switched_on(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    before = seen_by(client)
    client.post(HERE, {**TYPED, "headline": "Another"})

    for seen in (before, "", "now", "2026-11-20T10:00:00", None):
        sent = {"shown": "yes"} if seen is None else {"shown": "yes", "seen": seen}
        assert client.post(f"{HERE}switch/", sent)["Location"] == f"{HERE}preview/"
    assert not MarketplacePublicProfile.objects.get().is_discoverable


def test_off_it_is_the_very_answer_of_a_handle_that_nobody_has(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    switch_on(client)
    client.post(f"{HERE}directory/", {"listed": "yes"})

    assert client.post(f"{HERE}switch/", {"shown": "no"})["Location"] == HERE

    off, nobody = (Client().get(f"/people/{handle}/") for handle in ("zoe", "eoz"))
    assert (off.status_code, nobody.status_code) == (404, 404)
    pages = [
        re.sub(r"[A-Za-z0-9]{64}|[0-9a-f-]{32,36}|zoe|eoz", "", answer.content.decode()) for answer in (off, nobody)
    ]
    assert pages[0] == pages[1]
    assert not queries.is_listed(person)


@pytest.mark.parametrize("handle", ["ZOE", "zoe ", "zoe%00", "z" * 300, "..", "%F0%9F%98%80"])
def test_what_is_no_handle_of_anybody_is_not_found(client: Client, person: User, handle: str) -> None:
    client.post(HERE, TYPED)
    switch_on(client)

    assert Client().get(f"/people/{handle}/").status_code == 404


def test_of_somebody_who_is_locked_out_nothing_is_shown() -> None:
    PublicProfileFactory(handle="zoe", is_discoverable=True, user__is_active=False)

    assert Client().get("/people/zoe/").status_code == 404


def test_the_directory_is_a_switch_of_its_own_behind_the_page(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    client.post(f"{HERE}directory/", {"listed": "yes"})
    assert not queries.is_listed(person)

    switch_on(client)
    assert not queries.is_listed(person)
    client.post(f"{HERE}directory/", {"listed": "yes"})
    assert queries.is_listed(person)
    client.post(f"{HERE}directory/", {"listed": "no"})
    assert not queries.is_listed(person)
    assert Client().get("/people/zoe/").status_code == 200


def test_switched_on_again_it_is_not_in_the_directory_by_itself(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    switch_on(client)
    client.post(f"{HERE}directory/", {"listed": "yes"})
    client.post(f"{HERE}switch/", {"shown": "no"})

    switch_on(client)

    assert ActorProfile.objects.get(user=person).discoverable is False


def test_removed_nothing_of_it_is_left(client: Client, person: User) -> None:
    client.post(HERE, TYPED)
    switch_on(client)
    client.post(f"{HERE}directory/", {"listed": "yes"})

    assert client.post(f"{HERE}remove/")["Location"] == HERE

    assert not MarketplacePublicProfile.objects.exists()
    assert not queries.is_listed(person)
    assert client.post(f"{HERE}remove/").status_code == 302


# --- handles that were given up ---------------------------------------------------------------------------------------


def saved(user: User, handle: str) -> None:
    actions.save_profile(by=user, **{**TYPED, "handle": handle})


def test_a_handle_that_was_given_up_rests_for_everybody_else(person: User) -> None:
    other = PersonFactory()
    saved(person, "zoe")
    saved(person, "zoe-q")

    with pytest.raises(HandleTaken):
        saved(other, "zoe")
    assert not MarketplacePublicProfile.objects.filter(user=other).exists()
    saved(person, "zoe")  # theirs again
    assert set(ReleasedHandle.objects.values_list("handle", flat=True)) == {"zoe-q"}


def test_after_its_rest_anybody_may_have_it(person: User) -> None:
    other = PersonFactory()
    saved(person, "zoe")
    actions.remove_profile(by=person)
    ReleasedHandle.objects.update(released_at=timezone.now() - actions.RESTS_FOR - timedelta(seconds=1))

    saved(other, "zoe")

    assert MarketplacePublicProfile.objects.get(handle="zoe").user == other
    assert not ReleasedHandle.objects.exists()


def test_nobody_takes_many_handles_in_a_day(client: Client, person: User) -> None:
    for number in range(20):
        saved(person, f"zoe-{number}")

    page = text_of(client.post(HERE, {**TYPED, "handle": "zoe-20"}))

    assert "You have chosen many handles today." in page
    assert client.post(HERE, {**TYPED, "handle": "zoe-19", "headline": "New"}).status_code == 302


def test_the_database_shows_nothing_without_a_handle() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        PublicProfileFactory(handle=None, is_discoverable=True)


# --- the addresses ----------------------------------------------------------------------------------------------------


def test_nobody_touches_the_profile_of_another(client: Client, person: User) -> None:
    other = PublicProfileFactory(handle="other", is_discoverable=True)

    client.post(f"{HERE}switch/", {"shown": "no"})
    client.post(f"{HERE}remove/")

    assert MarketplacePublicProfile.objects.get(pk=other.pk).is_discoverable


def test_the_public_page_is_one_query(person: User) -> None:
    PublicProfileFactory(handle="zoe", is_discoverable=True)
    with CaptureQueriesContext(connection) as made:
        assert Client().get("/people/zoe/").status_code == 200

    assert len(made) == 1


def test_it_is_linked_from_the_menu_and_from_my_data(client: Client, person: User) -> None:
    give_vault(person)
    assert f'class="menu-item" href="{HERE}"' in client.get("/consent/").content.decode()
    assert client.get("/vault/").content.decode().count(f'href="{HERE}') == 2


def test_one_page_has_name_photo_and_what_others_see(client: Client, person: User) -> None:
    page = client.get("/account/name/", follow=True).content.decode()
    assert page.count("<h1>") == 1
    assert 'action="/account/name/"' in page
    assert f'action="{HERE}"' in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_menu_says_profile_once(client: Client, person: User) -> None:
    page = client.get("/consent/").content.decode()
    menu = page[page.index('class="menu-panel"') :]
    assert menu[: menu.index("</details>")].lower().count("profile<") == 1


def test_security_links_to_it(client: Client, person: User) -> None:
    assert f'href="{HERE}"' in client.get("/accounts/email/").content.decode()
