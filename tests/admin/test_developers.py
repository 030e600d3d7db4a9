"""What staff do to apps and tokens."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from developers.authentication import find_token
from developers.models import DeveloperToken
from tests import factories
from tests.admin.staff_actions import act, list_of, messages


def _token_form(of, **change):
    return {
        "app": of.pk,
        "label": "backend",
        "permissions": ["discover", "read"],
        "days": 30,
    } | change


def test_token_is_shown_once(page, staff, app):
    answer = page.post(reverse("admin:developers_developertoken_add"), _token_form(app))
    (token,) = set(re.findall(r"cr_live_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}", answer.content.decode()))
    assert answer.headers["Cache-Control"].startswith("max-age=0")
    row = DeveloperToken.objects.get()
    assert (row.app, row.label, row.permissions, row.created_by) == (app, "backend", ["discover", "read"], staff)
    assert timedelta(days=29, hours=23) < row.expires_at - timezone.now() <= timedelta(days=30)
    assert find_token(token).app_id == app.app_id
    for address in (
        list_of("developers", "developertoken"),
        reverse("admin:developers_developertoken_change", args=[row.pk]),
        reverse("admin:developers_developertoken_history", args=[row.pk]),
        "/admin/",
    ):
        assert token[-43:] not in page.get(address).content.decode()
    assert token[-43:] not in repr(list(LogEntry.objects.values()))
    assert token[-43:] not in repr(dict(page.session.items()))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"label": "two\u2028lines"}, "label"),
        ({"permissions": []}, "permissions"),
        ({"permissions": ["approve"]}, "permissions"),
        ({"days": 0}, "days"),
        ({"days": 366}, "days"),
        ({"app": ""}, "app"),
    ],
)
def test_token_that_may_not_be_is_refused(page, app, change, field):
    answer = page.post(reverse("admin:developers_developertoken_add"), _token_form(app, **change))
    assert list(answer.context["adminform"].form.errors) == [field]
    assert not DeveloperToken.objects.exists()


def test_closed_app_is_not_offered(page):
    closed = factories.AppFactory(status="closed")
    answer = page.post(reverse("admin:developers_developertoken_add"), _token_form(closed))
    assert list(answer.context["adminform"].form.errors) == ["app"]


def test_token_is_rotated_and_revoked(page, app):
    old = factories.TokenFactory(app=app)
    answer = act(page, "developers", "developertoken", "rotate", old)
    (token,) = set(re.findall(r"cr_live_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}", answer.content.decode()))
    assert find_token(token) is not None
    assert find_token(old.secret) is not None
    again = act(page, "developers", "developertoken", "rotate", old)
    assert messages(again) == ["Only a live token that was not rotated yet can be rotated."]
    rows = list(DeveloperToken.objects.all())
    assert messages(act(page, "developers", "developertoken", "rotate", *rows)) == ["Choose one token to rotate."]
    assert messages(act(page, "developers", "developertoken", "revoke", *rows)) == ["2 tokens were revoked."]
    assert (find_token(token), find_token(old.secret)) == (None, None)
