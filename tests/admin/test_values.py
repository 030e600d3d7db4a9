"""What staff read in place of identifiers and of JSON."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from accounts.staff_values import has_raw_choices, in_words, kind_in_words
from consent.event_types import WEBHOOK_TYPES, EventType
from consent.states import Actor
from developers.apps.audit import WORDS
from tests import factories
from tests.architecture.test_house import files, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.own_process("git says which files there are")]

CHOICES = [
    value
    for model in admin.site._registry
    for field in model._meta.local_fields
    if has_raw_choices(field)
    for value, _label in field.flatchoices  # type: ignore[attr-defined]  # it has choices
]
_RECORDED = re.compile(r"\brecord\(\s*app=[^\"]*?\baction=\"([a-z_.]+)\"")
EVENTS = [event for event in EventType if not event.is_derived]


def test_each_state_and_event_is_said_in_both_languages() -> None:
    identifiers = [*CHOICES, *EVENTS, *WEBHOOK_TYPES, *Actor]
    assert len(CHOICES) > 50

    raw = [one for one in identifiers if kind_in_words(one) == one]
    with override("de"):
        german = {one: kind_in_words(one) for one in identifiers}
    same = [one for one in identifiers if german[one] == kind_in_words(one)]

    assert raw == []
    assert set(same) <= {"release"}
    assert german["processing_consent.given"] == "Einwilligung in die Verarbeitung: Erteilt"


def test_each_action_of_an_apps_audit_is_said() -> None:
    recorded = {action for path in files(".py") for action in _RECORDED.findall(text_of(path))}

    assert len(recorded) > 30
    assert recorded - set(WORDS) == set()


def test_json_is_lines_and_tables_whose_text_is_inert() -> None:
    shown = in_words({"grant_id": "<b>", "purposes": ["profile", "own words"], "is_new": True, "none": None})

    assert shown == (
        '<table class="facts"><tbody><tr><th scope=row>grant id</th><td>&lt;b&gt;</td></tr>'
        "<tr><th scope=row>purposes</th><td><div>Profile</div>\n<div>own words</div></td></tr>"
        "<tr><th scope=row>is new</th><td>Yes</td></tr><tr><th scope=row>none</th><td>-</td></tr></tbody></table>"
    )
    with override("de"):
        assert in_words("2026-11-29T16:02:07Z") == "29. November 2026 16:02"


@pytest.mark.parametrize(
    "text",
    ["staff", "revoked", "2026-11-29", "2026-13-01T00:00:00Z", "9999-12-31T23-23", "0001-01-01T00:00:00Z", "%(name)s"],
)
def test_what_somebody_called_something_stays_as_it_is(text: str) -> None:
    with timezone.override("Pacific/Honolulu"):  # where the first day of all is none any more
        assert in_words({"label": text}).count(f"<td>{text}</td>") == 1


@pytest.mark.parametrize(
    ("made", "path", "raw", "words"),
    [
        (lambda: factories.GrantFactory(status="paused"), "consent/grant", ">paused<", "Pausiert"),
        (factories.ProcessingConsentFactory, "agents_proxy/processingconsent", "[&quot;", "Zwecke"),
        (factories.NoticeFactory, "consent/notice", ">consent.denied<", "Abgelehnt"),
        (factories.ItemFactory, "agents_proxy/item", ">active<", "Aktiv"),
    ],
)
def test_pages_say_it_in_the_readers_language(page: Client, made: Any, path: str, raw: str, words: str) -> None:
    row = made()
    page.cookies["django_language"] = "de"

    listed = page.get(f"/admin/{path}/", headers={"Accept-Language": "de"}).content.decode()
    one = page.get(f"/admin/{path}/{row.pk}/change/", headers={"Accept-Language": "de"}).content.decode()

    assert raw not in listed + one
    assert words in one


def test_a_filter_says_its_choices_in_words_and_filters_by_the_identifier(page: Client) -> None:
    paused, _active = factories.GrantFactory(status="paused"), factories.GrantFactory()

    answer = page.get("/admin/consent/grant/?status__exact=paused")

    assert list(answer.context_data["cl"].result_list) == [paused]  # type: ignore[attr-defined]
    assert ">Stopped</a>" in answer.content.decode()
