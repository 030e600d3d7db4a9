"""Pages speak the person's language; what programs read does not change."""

import gettext as gettext_module
import re
from datetime import timedelta
from pathlib import Path

import allauth
import pytest
from django.conf import settings
from django.core import mail
from django.test import Client
from django.utils import translation

from accounts import language
from agents_proxy.agents import AGENTS
from common.clock import database_now
from pkm.registry.labels import translated
from pkm.registry.models import Domain, ScopeEntry
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, ReadFactory
from tests.factories.accounts import PASSWORD
from tests.outbox import send_mails

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
ENGLISH = {"Accept-Language": "en"}
SAME = {"X-Request-Id": "the-same-id"}


def language_of(page):
    """The language that the answer and its markup name, which are the same."""
    language_code = re.search(r'<html lang="([a-z-]+)"', page.content.decode())[1]
    assert page.headers["Content-Language"] == language_code
    return language_code


def switch_to(client, language, onwards="/accounts/login/", **kept):
    return client.post("/language/", {"language": language, "next": onwards}, **kept)


# --- pages ------------------------------------------------------------------------------------------------------------


def test_page_follows_the_browsers_language(client, db):
    page = client.get("/accounts/login/", headers=GERMAN)

    assert language_of(page) == "de"
    assert "<h1>Anmelden</h1>" in page.content.decode()
    assert {"Accept-Language", "Cookie"} <= set(page.headers["Vary"].split(", "))


@pytest.mark.parametrize("headers", [{}, ENGLISH, {"Accept-Language": "fr"}])
def test_page_is_english_for_everybody_else(client, db, headers):
    page = client.get("/accounts/login/", headers=headers)

    assert language_of(page) == "en"
    assert "<h1>Sign in</h1>" in page.content.decode()


def test_no_german_sentence_of_a_script_ends_with_a_date():
    """Which ends with a full stop of its own where its month is shortened."""
    with (settings.LOCALE_PATHS[0] / "de/LC_MESSAGES/djangojs.mo").open("rb") as compiled:
        german = gettext_module.GNUTranslations(compiled)._catalog.values()

    assert [text for text in german if re.search(r"%\(date\)s\W*\.", text)] == []


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.name)
def test_agents_have_a_german_name(agent):
    with translation.override("en"):
        english = agent.title
    with translation.override("de"):
        assert agent.title != english
        assert not agent.title.startswith("Agent „")


@pytest.mark.parametrize("path", ["/nothing-here/", "/consent/requests/req_x/", "/consent/history/?page=x"])
def test_refusals_are_in_the_pages_language(owner, path):
    assert language_of(owner.get(path, headers=GERMAN)) == "de"


def test_registry_is_read_in_german_and_kept_in_english(owner, person):
    consent_request = ConsentRequestFactory(user=person)
    page = owner.get("/consent/inbox/", headers=GERMAN).content.decode()

    assert consent_request.scope_entry.scope_label == "Food and drink"
    assert "Essen und Trinken" in page
    assert "Food and drink" not in page
    assert f'<q class="voice">{consent_request.purpose}</q>' in page


def test_every_word_of_the_registry_has_a_translation(db):
    seeded = {
        *Domain.objects.values_list("display_name", flat=True),
        *Domain.objects.values_list("description", flat=True),
        *ScopeEntry.objects.values_list("scope_label", flat=True),
        *ScopeEntry.objects.values_list("description", flat=True),
    }
    with translation.override("de"):
        same = {words for words in seeded if translated(words) == words}

    assert len(seeded) > 100
    assert same == {"Fitness"}  # a German word, too


def test_history_file_is_in_the_language_of_who_saves_it(owner, person):
    grant = GrantFactory(request__user=person, request__app_name="Lunch Finder")
    ReadFactory(export=ExportFactory(grant=grant))
    answer = owner.get("/consent/history/file/", headers=GERMAN, format="csv")

    assert "Lunch Finder hat „Essen und Trinken“ gelesen" in b"".join(answer.streaming_content).decode()
    assert translation.get_language() == settings.LANGUAGE_CODE


def test_scripts_get_their_words_in_the_pages_language(client):
    words = client.get("/jsi18n/", headers=GERMAN).json()["catalog"]

    assert words["The passkey was not used."] == "Der Passkey wurde nicht benutzt."
    assert "The passkey was not used." not in client.get("/jsi18n/", headers=ENGLISH).json()["catalog"]


def test_sign_in_librarys_sentences_say_du(db):
    own = gettext_module.translation("django", Path(allauth.__file__).parent / "locale", languages=["de"])
    formal = re.compile(r"\b(?:Sie|Ihr|Ihre[nmr]?)\b")

    with translation.override("de"):
        sentences = {words: translation.gettext(words) for words in language.OVERRIDDEN}

    assert [words for words in language.OVERRIDDEN if not formal.search(own.gettext(words))] == []
    assert [words for words in sentences.values() if formal.search(words)] == []


# --- the switch -------------------------------------------------------------------------------------------------------


def test_switch_is_a_form_on_every_page_that_says_which_language_is_on(client, db):
    page = client.get("/accounts/login/?next=/consent/", headers=GERMAN).content.decode()
    form = re.search(r'<form [^>]*action="/language/".*?</form>', page, re.S)[0]

    assert 'method="post"' in form
    assert 'name="csrfmiddlewaretoken"' in form
    assert 'name="next" value="/accounts/login/?next=/consent/"' in form
    assert re.findall(r'value="(\w+)" lang="\w+" aria-pressed="(\w+)">(\w+)<', form) == [
        ("en", "false", "English"),
        ("de", "true", "Deutsch"),
    ]


def test_switch_keeps_the_choice_in_its_cookie(client, db):
    answer = switch_to(client, "de")
    cookie = answer.cookies["django_language"]

    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/")
    assert (cookie.value, cookie["samesite"], cookie["httponly"], cookie["max-age"]) == ("de", "Lax", True, 31536000)
    assert language_of(client.get("/accounts/login/", headers=ENGLISH)) == "de"


def test_switch_goes_back_to_english(client, db):
    switch_to(client, "de")
    switch_to(client, "en")

    assert language_of(client.get("/accounts/login/", headers=GERMAN)) == "en"


def test_switch_leads_nowhere_else(client, db):
    assert switch_to(client, "de", "https://elsewhere.example/").headers["Location"] == "/"


def test_switch_keeps_to_the_languages_that_there_are(client, db):
    switch_to(client, "fr")

    assert language_of(client.get("/accounts/login/")) == "en"


def test_switch_needs_the_forms_token(db):
    assert switch_to(Client(enforce_csrf_checks=True), "de").status_code == 403


# --- mail -------------------------------------------------------------------------------------------------------------


def test_mail_that_a_page_sends_is_in_the_persons_language(client, person):
    switch_to(client, "de")
    client.post("/accounts/password/reset/", {"email": person.email})

    assert mail.outbox[0].subject.endswith("Wähle ein neues Passwort")
    assert "Jemand, wahrscheinlich du, hat um ein neues Passwort gebeten." in mail.outbox[0].body


def test_mail_of_the_worker_is_english_for_whom_nothing_else_is_known(person):
    ConsentRequestFactory(user=person, app_name="Lunch Finder")
    with translation.override("de"):
        send_mails()

    assert mail.outbox[0].subject == "Lunch Finder asks to see some of your data"
    assert "What they ask for: Food and drink" in mail.outbox[0].body


def test_mail_of_the_worker_is_in_the_language_of_the_first_sign_in(client, person):
    form = {"login": person.email, "password": PASSWORD}
    client.post("/accounts/login/", form, headers=GERMAN)
    client.post("/accounts/logout/")
    client.post("/accounts/login/", form, headers=ENGLISH)  # elsewhere, later: no choice, so it changes nothing
    consent_request = ConsentRequestFactory(user=person, app_name="Lunch Finder")
    send_mails()

    assert mail.outbox[0].subject == "Lunch Finder möchte einen Teil deiner Daten sehen"
    assert "Essen und Trinken" in mail.outbox[0].body
    assert f"„{consent_request.purpose}“" in mail.outbox[0].body
    assert re.search(rf"bis {consent_request.expires_at.day}\. \w+ 20\d\d, ", mail.outbox[0].body)
    assert translation.get_language() == settings.LANGUAGE_CODE


def test_mail_of_the_worker_follows_the_switch(owner, person):
    switch_to(owner.client, "de")
    switch_to(owner.client, "fr")  # there is no such language here
    now = database_now()
    GrantFactory(request__user=person, starts_at=now - timedelta(days=29), expires_at=now + timedelta(days=1))
    send_mails()

    assert "endet bald" in mail.outbox[0].subject
    assert "Essen und Trinken" in mail.outbox[0].body


# --- programs ---------------------------------------------------------------------------------------------------------

CALLS = [
    ("GET", "/api/v1/scope-catalog", b""),
    ("GET", "/api/v1/user-scopes/usr_unknown", b""),
    ("POST", "/api/v1/request-consent", b'{"scope": 1, "unknown": true}'),
    ("POST", "/api/v1/request-consent", b"{"),
    ("DELETE", "/api/v1/request-consent", b""),
    ("GET", "/api/v1/consent-status?request_id=req_unknown", b""),
    ("GET", "/api/v1/nothing-here", b""),
    ("POST", "/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'),
    ("POST", "/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}'),
    ("POST", "/mcp", b"{"),
    ("GET", "/mcp", b""),
    ("POST", "/api/a2a/consents", b"{}"),
    ("POST", "/api/a2a/nobody", b"{}"),
    ("GET", "/api/schema/", b""),
    ("GET", "/.well-known/consent-keys.json", b""),
    ("GET", "/.well-known/nothing", b""),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
@pytest.mark.parametrize("known", [True, False], ids=["with a token", "unknown"])
def test_programs_read_the_same_in_every_language(api, method, path, body, known):
    headers = {**SAME, **(api.headers if known else {})}

    def answer(language):
        caller = Client()
        caller.cookies["django_language"] = language["Accept-Language"][:2]
        # a page before it on the same thread leaves nothing behind
        caller.get("/accounts/login/", headers=language)
        got = caller.generic(method, path, body, content_type="application/json", headers={**headers, **language})
        return got.status_code, got.content, got.headers.get("Content-Language")

    assert answer(GERMAN) == answer(ENGLISH)
    assert answer(GERMAN)[2] is None


def test_page_takes_its_language_back(client, db):
    client.get("/accounts/login/", headers=GERMAN)

    assert translation.get_language() == settings.LANGUAGE_CODE
