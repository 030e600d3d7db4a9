"""What staff do about reports, and what they see beside one."""

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, transaction
from django.urls import reverse

from consent.decisions.models import AppReport, ReportNote
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from tests import factories
from tests.admin.staff_actions import act, messages
from tests.factories.consent_requests import now
from tests.staff import at_the_admin


def _act(page, action, *reports, **more):
    return act(page, "consent", "appreport", action, *reports, **more)


def _page_of(report):
    return reverse("admin:consent_appreport_change", args=[report.pk])


def test_report_is_handled_step_by_step_with_a_note_each(page, staff):
    report = factories.AppReportFactory()
    assert b'name="note"' in _act(page, "take_in_hand", report).content
    assert b'name="note"' in _act(page, "close", report, note="two\nlines").content
    assert not ReportNote.objects.exists()
    for action, note, message in (
        ("take_in_hand", "I look into it", "1 report was changed."),
        ("take_in_hand", "Me too", "0 reports were changed."),
        ("add_a_note", "They answered", "1 report was changed."),
        ("close", "It is their bank", "1 report was changed."),
        ("open_again", "It is not", "1 report was changed."),
    ):
        assert messages(_act(page, action, report, note=note)) == [message]
    assert list(ReportNote.objects.values_list("status", "note", "by")) == [
        ("in_hand", "I look into it", staff.pk),
        ("in_hand", "They answered", staff.pk),
        ("closed", "It is their bank", staff.pk),
        ("open", "It is not", staff.pk),
    ]
    report.refresh_from_db()
    assert (report.status, report.handled_at) == ("open", None)
    text = page.get(_page_of(report)).content.decode()
    assert "It is their bank" in text
    assert staff.email in text


@pytest.mark.parametrize(
    ("status", "offered"),
    [
        ("open", ["take_in_hand", "close", "add_a_note"]),
        ("in_hand", ["close", "open_again", "add_a_note"]),
        ("closed", ["open_again", "add_a_note"]),
    ],
)
def test_page_offers_the_steps_that_a_report_can_take(page, status, offered):
    report = factories.AppReportFactory(status=status, handled_at=now() if status == "closed" else None)
    assert [name for name, _label in page.get(_page_of(report)).context["steps"]] == offered
    text = _act(page, offered[0], report).content.decode()
    assert report.app.name in text
    assert report.user.email in text
    assert report.text in text


def test_who_may_only_look_is_offered_no_step(db):
    helper = factories.PersonFactory(is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_appreport"))
    assert at_the_admin(helper).get(_page_of(factories.AppReportFactory())).context["steps"] == []


def test_closed_report_waits_no_more(page):
    report, other = factories.AppReportFactory(), factories.AppReportFactory()
    _act(page, "close", report, note="Sorted out")
    report.refresh_from_db()
    assert (report.status, report.handled_at is not None) == ("closed", True)
    line = next(line for line in page.get("/admin/").context["waiting"] if "appreport" in line.url)
    assert (line.count, line.oldest) == (1, other.created_at)
    shown = page.get(f"/admin/{line.url}").context["cl"].result_list
    assert [row.pk for row in shown] == [other.pk]


def test_page_shows_the_other_reports_and_numbers_of_the_app(page):
    report = factories.AppReportFactory()
    other = factories.AppReportFactory(app=report.app, text="They called me at night.")
    factories.AppReportFactory(text="About another app.")
    grant = factories.GrantFactory(request=factories.ConsentRequestFactory(app=report.app, status="approved"))
    answer = page.get(_page_of(report))
    text = answer.content.decode()
    assert "They called me at night." in text
    assert "About another app." not in text
    assert {line.record: count for line, count in answer.context["numbers"].counts if line.record} == {
        "consent/grant": 1, "consent/consentrequest": 0, "consent/appreport": 2, "consent/sandboxperson": 0,
    }  # fmt: skip
    looked = AuditEntry.objects.filter(kind="staff_viewed").values_list("chain", flat=True)
    assert set(looked) == {audit.chain_id(f"person:{row.user.public_id}") for row in (report, other)}
    assert grant.user.public_id not in text


def test_asking_for_the_note_is_a_look_too(page):
    report = factories.AppReportFactory()
    _act(page, "close", report)
    assert AuditEntry.objects.of(f"person:{report.user.public_id}").filter(kind="staff_viewed").exists()


def test_the_database_keeps_status_and_time_together(db):
    report = factories.AppReportFactory()
    for change in ({"status": "closed"}, {"handled_at": now()}, {"status": "lost"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            AppReport.objects.filter(pk=report.pk).update(**change)


def test_a_note_does_not_change(db):
    note = factories.ReportNoteFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        ReportNote.objects.filter(pk=note.pk).update(note="Never happened")
