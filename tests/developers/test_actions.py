"""Tokens, apps and applications: minted once, kept as a digest, ended at once."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from common.problems import InvalidRequest
from developers.applications import actions as application_actions
from developers.applications.queries import undecided_applications
from developers.apps import actions as app_actions
from developers.apps.queries import app_by_id
from developers.authentication import find_token
from developers.models import App, AppMember, DeveloperApplication, DeveloperToken
from developers.signals import app_changed
from developers.tokens import actions as token_actions
from developers.tokens.format import has_form
from developers.tokens.queries import live_tokens
from tests.factories import AppFactory, ApplicationFactory, PersonFactory, StaffFactory, TokenFactory

LINKS = {"website": "https://trips.example", "privacy_policy": "https://trips.example/privacy"}
WORDS = {"name": "Trip Planner", "legal_name": "Trips GmbH", "contact_email": "privacy@trips.example"}


@pytest.mark.parametrize(
    ("change", "times"),
    [
        ({"legal_name": "Another GmbH"}, 1),
        ({"website": "https://other.example"}, 1),
        ({"privacy_policy": "https://other.example"}, 1),
        ({"contact_email": "other@trips.example"}, 1),
        ({"needed_scopes": ["attr.contact.*"]}, 1),
        ({"note": "Looked at again"}, 0),
        ({}, 0),
    ],
)
def test_other_rooms_learn_what_people_see_changed_of_an_app(app, change, times):
    heard = []

    def hear(**sent):
        heard.append((sent["app_pk"], sent["by"]))

    staff = StaffFactory()
    app_changed.connect(hear)
    try:
        with app_actions.changing_app(app_pk=app.pk, by=staff):
            DeveloperApplication.objects.filter(pk=app.application_id).update(
                **{"reviewed_at": timezone.now(), **change}
            )
    finally:
        app_changed.disconnect(hear)
    assert heard == [(app.pk, staff)] * times


def test_minted_token_works_and_is_kept_as_a_digest(app, person):
    expires_at = timezone.now() + timedelta(days=30)
    row, token = token_actions.mint_token(
        app=app, label="backend", by=person, permissions=["read", "discover"], expires_at=expires_at, header_only=True
    )
    kept = DeveloperToken.objects.get()
    assert kept == row
    assert re.fullmatch(rf"cr_live_{kept.prefix}_[A-Za-z0-9_-]{{43}}", token)
    assert has_form(token)
    assert (kept.digest, kept.label, kept.permissions) == (
        hashlib.sha256(token.encode()).hexdigest(),
        "backend",
        ["discover", "read"],
    )
    assert (kept.app, kept.created_by, kept.header_only, kept.expires_at) == (app, person, True, expires_at)
    assert (kept.revoked_at, kept.last_used_at) == (None, None)
    assert find_token(token).app_id == app.app_id
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM developer_tokens")
        assert token[-43:] not in repr(cursor.fetchall())


def test_token_lives_ninety_days_with_all_permissions_by_default(app, person):
    row, _ = token_actions.mint_token(app=app, label="backend", by=person)
    assert row.permissions == ["discover", "request", "read"]
    assert timedelta(days=89, hours=23) < row.expires_at - timezone.now() <= timedelta(days=90)


@pytest.mark.parametrize(
    "change",
    [
        {"label": ""},
        {"label": "two\nlines"},
        {"label": "hidden\u200bspace"},
        {"label": "x" * 81},
        {"permissions": []},
        {"permissions": ["read", "approve"]},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"expires_at": timezone.now() + timedelta(days=366)},
    ],
)
def test_token_that_may_not_be_is_refused(app, person, change):
    with pytest.raises(InvalidRequest):
        token_actions.mint_token(**({"app": app, "label": "backend", "by": person} | change))
    assert not DeveloperToken.objects.exists()


def test_expired_token_cannot_be_revoked_any_more(app):
    assert token_actions.revoke_token(token=TokenFactory(app=app, expires_at=timezone.now()), by=None) is False


def test_rotated_token_works_until_its_overlap_ends(app, person):
    row, old = token_actions.mint_token(app=app, label="backend", by=person, permissions=["read"], header_only=True)
    fresh, token = token_actions.rotate_token(token=row, by=person, overlap=timedelta(hours=2))
    assert (fresh.label, fresh.permissions, fresh.header_only) == ("backend", ["read"], True)
    assert find_token(old) is not None
    assert find_token(token) is not None
    row.refresh_from_db()
    assert timedelta(hours=1, minutes=59) < row.revoked_at - timezone.now() <= timedelta(hours=2)
    assert set(live_tokens()) == {row, fresh}
    DeveloperToken.objects.filter(pk=row.pk).update(revoked_at=timezone.now())
    assert find_token(old) is None
    assert set(live_tokens()) == {fresh}


@pytest.mark.parametrize("overlap", [timedelta(seconds=-1), timedelta(days=31)])
def test_overlap_has_bounds(app, person, overlap):
    row, _ = token_actions.mint_token(app=app, label="backend", by=person)
    with pytest.raises(InvalidRequest):
        token_actions.rotate_token(token=row, by=person, overlap=overlap)
    assert DeveloperToken.objects.count() == 1


def test_make_app_leaves_its_application_and_its_owner(person):
    staff = StaffFactory()
    app = application_actions.make_app(**WORDS, **LINKS, owner=person, by=staff, verified=True)
    kept = App.objects.get()
    assert (kept, kept.name, kept.status, kept.verified) == (app, "Trip Planner", "active", True)
    application = kept.application
    assert (application.applicant, application.reviewer, application.status) == (person, staff, "approved")
    assert list(AppMember.objects.values_list("app", "user", "role")) == [(app.pk, person.pk, "owner")]
    assert app_by_id(app.app_id) == app
    assert app_by_id("app_unknown") is None


@pytest.mark.parametrize(
    "change",
    [
        {"name": "two\nlines"},
        {"name": " "},
        {"legal_name": "turned\u202earound"},
        {"website": "http://trips.example"},
        {"privacy_policy": "javascript:alert(1)"},
    ],
)
def test_app_that_people_could_not_trust_is_refused_whole(person, change):
    with pytest.raises(InvalidRequest):
        application_actions.make_app(**(WORDS | LINKS | change), owner=person, by=person)
    assert not DeveloperApplication.objects.exists()


def test_application_is_decided_once(person):
    staff = StaffFactory()
    waiting = ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None, applicant=person)
    assert list(undecided_applications()) == [waiting]
    app = application_actions.approve_application(application=waiting, by=staff, verified=False, note="fine")
    assert (app.verified, waiting.status, waiting.note) == (False, "approved", "fine")
    for decide in (
        application_actions.approve_application,
        application_actions.send_back_application,
        application_actions.reject_application,
    ):
        with pytest.raises(InvalidRequest, match="decided this application already"):
            decide(application=waiting, by=staff, note="again")
    assert App.objects.count() == 1
    assert list(undecided_applications()) == []


def test_closed_app_stays_closed(db):
    closed = AppFactory(status="closed", application=ApplicationFactory(applicant=PersonFactory()))
    assert (
        app_actions.suspend_app(app=closed, by=None, note="why"),
        app_actions.restore_app(app=closed, by=None, note="why"),
    ) == (False, False)
