"""What staff do to apps, and what they see beside one."""

import pytest
from django.contrib.admin.models import LogEntry
from django.core import mail
from django.urls import reverse

from developers.apps import admin as app_admin
from developers.authentication import find_token
from developers.models import App, AppAuditEntry
from tests import factories
from tests.admin.staff_actions import act, list_of, messages
from tests.outbox import send_mails


def _app_form(app, **change):
    return {"name": app.name, "verified": "on", "origins": "", "return_addresses": ""} | change


def _page_of(app):
    return reverse("admin:developers_app_change", args=[app.pk])


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": "Another Name"}, "cancelled"),
        ({"verified": ""}, "cancelled"),
        ({"origins": "https://trips.example"}, "pending"),  # nobody is shown these
        ({}, "pending"),
    ],
)
def test_request_is_cancelled_when_what_people_see_of_the_app_changes(page, change, status):
    request = factories.ConsentRequestFactory()
    answer = page.post(_page_of(request.app), _app_form(request.app, **change))
    assert answer.status_code == 302
    request.refresh_from_db()
    assert request.status == status


def test_change_is_written_into_the_apps_audit(page, staff, app):
    page.post(_page_of(app), _app_form(app, origins="https://trips.example\n\n http://localhost:8080 "))
    app.refresh_from_db()
    assert app.origins == ["https://trips.example", "http://localhost:8080"]
    entry = AppAuditEntry.objects.get()
    assert (entry.action, entry.member, "origins" in entry.facts["fields"]) == ("app.changed", staff, True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "a\u202eb"}, "name"),
        ({"origins": "https://trips.example/path"}, "origins"),
        ({"origins": '["https://trips.example"]'}, "origins"),
        ({"origins": "https://x@trips.example"}, "origins"),
        ({"return_addresses": "javascript:alert(1)"}, "return_addresses"),
        ({"return_addresses": "https://trips.example/#x"}, "return_addresses"),
    ],
)
def test_what_does_not_fit_is_refused_and_kept_in_the_form(page, app, change, field):
    answer = page.post(_page_of(app), _app_form(app, **change))
    assert list(answer.context["adminform"].form.errors) == [field]
    assert answer.context["adminform"].form[field].value() == change[field]
    assert not AppAuditEntry.objects.exists()


def test_apps_are_suspended_and_restored_with_a_note(page, staff, app):
    token = factories.TokenFactory(app=app).secret
    for note in ({}, {"note": " "}, {"note": "two\nlines"}, {"note": "x" * 501}):
        assert b'name="note"' in act(page, "developers", "app", "suspend", app, **note).content
    assert App.objects.get().status == "active"
    done = act(page, "developers", "app", "suspend", app, note="They pretend to be a bank")
    assert messages(done) == ["1 app was suspended."]
    assert find_token(token).suspended is True
    assert messages(act(page, "developers", "app", "suspend", app, note="Again")) == ["0 apps were suspended."]
    assert messages(act(page, "developers", "app", "restore", app, note="Sorted out")) == ["1 app was restored."]
    assert find_token(token).suspended is False
    entries = AppAuditEntry.objects.order_by("pk").values_list("action", "member", "facts")
    assert list(entries) == [
        ("app.suspended", staff.pk, {"note": "They pretend to be a bank"}),
        ("app.restored", staff.pk, {"note": "Sorted out"}),
    ]
    logged = [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")]
    assert logged == ["suspend: They pretend to be a bank", "restore: Sorted out"]


def test_members_are_written_to_in_their_language(page, app):
    owner = factories.MemberFactory(app=app).user
    german = factories.MemberFactory(app=app, user=factories.PersonFactory(language="de")).user
    factories.MemberFactory()  # of another app
    act(page, "developers", "app", "suspend", app, note="They pretend to be a bank")
    assert send_mails() == 2
    assert [message.to for message in mail.outbox] == [[owner.email], [german.email]]
    assert mail.outbox[0].subject == f"{app.name} was suspended"
    assert '"They pretend to be a bank"' in mail.outbox[0].body
    assert send_mails() == 0
    act(page, "developers", "app", "restore", app, note="Sorted out")
    assert send_mails() == 2
    assert mail.outbox[2].subject == f"{app.name} works again"
    assert "Sorted out" in mail.outbox[2].body


def test_mail_that_is_not_taken_is_written_by_the_next_run(page, app, settings):
    factories.MemberFactory(app=app)
    act(page, "developers", "app", "suspend", app, note="Spam")
    backend, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nobody listens there
    assert send_mails() == 0
    settings.EMAIL_BACKEND = backend
    assert send_mails() == 1
    assert len(mail.outbox) == 1


def test_list_has_the_columns_that_matter(page):
    grant = factories.GrantFactory()
    app = grant.app
    token = factories.TokenFactory(app=app, last_used_at=grant.starts_at)
    owner = factories.MemberFactory(app=app).user.email
    factories.MemberFactory(app=app)
    test_app = factories.TestAppFactory()
    row = {found.pk: found for found in page.get(list_of("developers", "app")).context["cl"].result_list}
    numbers = row[app.pk].numbers
    assert (numbers.owner, numbers.members, numbers.last_call) == (owner, 2, token.last_used_at)
    assert {line.record: count for line, count in numbers.counts}["consent/grant"] == 1
    assert row[test_app.pk].numbers.last_call is None


def test_list_asks_no_more_for_more_apps(page, django_assert_max_num_queries):
    factories.GrantFactory.create_batch(8)
    with django_assert_max_num_queries(25):
        page.get(list_of("developers", "app"))


def test_page_of_an_app_shows_what_belongs_to_it_and_no_secret(page):
    app = factories.AppFactory()
    member = factories.MemberFactory(app=app).user
    token, endpoint = factories.TokenFactory(app=app, label="backend-token"), factories.WebhookEndpointFactory(app=app)
    factories.AppAuditEntryFactory(
        app=app, action="token.rotated", facts={"label": "backend", "prefix": "ab", "replaces": "cd"}
    )
    factories.AppReportFactory(app=app)
    other = factories.TokenFactory(label="of-another-app")
    text = page.get(_page_of(app)).content.decode()
    for shown in (
        "backend-token", endpoint.url, "Rotated the token “backend”: ab takes the place of cd",
            app.application.legal_name,
        member.email,
    ):  # fmt: skip
        assert shown in text, shown
    for hidden in (token.digest, token.secret, endpoint.secret, other.label):
        assert hidden not in text


def test_page_of_a_test_app_needs_no_application(page):
    app = factories.TestAppFactory()
    answer = page.get(_page_of(app))
    assert "a test app needs no application" in answer.content.decode()
    assert "verified" not in answer.context["adminform"].form.fields


def test_list_counts_the_grants_of_an_app_to_a_bound(page, monkeypatch):
    many, few = factories.AppFactory(), factories.AppFactory()
    factories.GrantFactory.create_batch(6, request__app=many)
    factories.GrantFactory.create_batch(3, request__app=few)
    monkeypatch.setattr(app_admin, "_MOST_IN_LIST", 3)

    shown = page.get(list_of("developers", "app"))

    rows = {found.pk: found for found in shown.context["cl"].result_list}
    counted = {pk: {line.record: count for line, count in rows[pk].numbers.counts} for pk in (many.pk, few.pk)}
    assert (counted[many.pk]["consent/grant"], counted[few.pk]["consent/grant"]) == (4, 3)
    assert shown.content.decode().count("More than 1,000") == 1
