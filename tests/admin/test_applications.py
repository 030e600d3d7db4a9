"""What staff read of an application and do about it."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from developers.applications import actions
from developers.apps.logos import take_logo
from developers.models import App, DeveloperApplication
from tests import factories
from tests.admin.staff_actions import list_of, messages
from tests.developers.pictures import picture
from tests.staff import at_the_admin

LIST = "developerapplication"


@pytest.fixture
def waiting(db: None) -> DeveloperApplication:
    made: DeveloperApplication = factories.ApplicationFactory(
        status="submitted", reviewer=None, reviewed_at=None, logo_digest=take_logo(picture()).digest,
        needed_scopes=["attr.lifestyle.food.*", "attr.contact.*", "attr.gone.*"],
        scope_reasons={"attr.lifestyle.food.*": "To <b>cook</b>", "attr.contact.*": "To send invoices"},
        origins=["https://app.trips.example"], proved_domain="trips.example", domain_proved_at=timezone.now(),
    )  # fmt: skip
    return made


def _address(row: DeveloperApplication, decision: str = "") -> str:
    there = reverse("admin:developers_developerapplication_change", args=[row.pk])
    seen = DeveloperApplication.objects.get(pk=row.pk).updated_at.isoformat()
    return f"{there}?decide={decision}&seen={seen.replace('+', '%2B')}" if decision else there


def _decide(page: Client, row: DeveloperApplication, decision: str, note: str = "") -> Any:
    return page.post(_address(row, decision), {"note": note}, follow=True)


def test_all_that_decides_is_on_one_page_in_words(page: Client, waiting: DeveloperApplication) -> None:
    text = page.get(_address(waiting)).content.decode()
    for words in (
        "trips.example, proved", "Food and drink", "To &lt;b&gt;cook&lt;/b&gt;", "To send invoices", "Confidential",
        "Not in the registry", f"/logos/{waiting.logo_digest}.png", "https://app.trips.example",
        "Approve: the legal name was checked", "Send back", "Reject",
    ):  # fmt: skip
        assert words in text, words
    assert "<textarea" not in text
    listed = page.get(list_of("developers", LIST)).content.decode()
    assert "3 kinds of data, Confidential" in listed


def test_the_list_asks_for_its_scopes_once(page: Client, waiting: DeveloperApplication) -> None:
    with CaptureQueriesContext(connection) as one:
        page.get(list_of("developers", LIST))
    for _ in range(5):
        factories.ApplicationFactory()
    with CaptureQueriesContext(connection) as six:
        page.get(list_of("developers", LIST))
    assert len(six) == len(one)


@pytest.mark.parametrize(("decision", "verified"), [("approve_verified", True), ("approve", False)])
def test_application_is_approved_once(page: Client, staff: Any, waiting: Any, decision: str, verified: bool) -> None:
    assert "The live app is made" in page.get(_address(waiting, decision)).content.decode()
    assert not App.objects.exists()  # a look decides nothing
    assert messages(_decide(page, waiting, decision)) == [f"{waiting.name} was decided."]
    app = App.objects.get()
    assert (app.application, app.verified, app.application.reviewer) == (waiting, verified, staff)
    assert decision in LogEntry.objects.get().change_message
    again = _decide(page, waiting, "reject", "no")
    assert again.status_code == 400
    assert "Somebody has decided this application already." in again.content.decode()
    assert "?decide=" not in page.get(_address(waiting)).content.decode()


def test_nobody_checks_the_name_in_their_own_application(page: Client, staff: Any, waiting: Any) -> None:
    type(waiting).objects.filter(pk=waiting.pk).update(applicant=staff)
    answer = _decide(page, waiting, "approve_verified")
    assert answer.status_code == 400
    assert "Somebody else of the staff checks the name" in answer.content.decode()
    assert not App.objects.exists()

    _decide(page, waiting, "approve")
    assert not App.objects.get().verified


@pytest.mark.parametrize(("decision", "status"), [("send_back", "sent_back"), ("reject", "rejected")])
def test_who_sends_back_or_rejects_says_why(page: Client, waiting: Any, decision: str, status: str) -> None:
    silent = _decide(page, waiting, decision, "  ")
    assert silent.status_code == 400
    waiting.refresh_from_db()
    assert waiting.status == "submitted"
    _decide(page, waiting, decision, "Name your company.")
    waiting.refresh_from_db()
    assert (waiting.status, waiting.note, App.objects.count()) == (status, "Name your company.", 0)
    assert "Name your company." in LogEntry.objects.get().change_message


def test_a_note_is_not_lost_when_somebody_was_faster(page: Client, waiting: Any) -> None:
    there = _address(waiting, "reject")
    actions.approve_application(application=waiting, by=factories.StaffFactory())
    answer = page.post(there, {"note": "A long <note>"})
    assert answer.status_code == 400
    assert "A long &lt;note&gt;</textarea>" in answer.content.decode()


def test_what_was_corrected_meanwhile_is_read_again(page: Client, waiting: Any) -> None:
    there = _address(waiting, "approve")
    actions.send_back_application(application=waiting, by=factories.StaffFactory(), note="Name your company.")
    facts = actions.ApplicationFacts(
        **{name: getattr(waiting, name) for name in actions.ApplicationFacts.__dataclass_fields__}
    )
    actions.hand_in_again(application_pk=waiting.pk, facts=facts, by=waiting.applicant)
    answer = page.post(there, {"note": ""})
    assert "look at it again" in answer.content.decode()
    assert not App.objects.exists()


@pytest.mark.parametrize("seen", ["", "yesterday", "2026-13-45T00:00:00Z", "2026-11-22T10:00:00"])
def test_who_read_nothing_decides_nothing(page: Client, waiting: Any, seen: str) -> None:
    answer = page.post(f"{_address(waiting)}?decide=approve&seen={seen}", {"note": ""})
    assert answer.status_code == 400
    assert not App.objects.exists()


def test_staff_who_may_only_look_decide_nothing(waiting: Any) -> None:
    helper = factories.PersonFactory(is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_developerapplication"))
    page = at_the_admin(helper)
    assert "?decide=" not in page.get(_address(waiting)).content.decode()
    for answer in (page.get(_address(waiting, "approve")), page.post(_address(waiting, "approve"), {"note": ""})):
        assert answer.status_code == 403
    assert not App.objects.exists()


def test_an_application_cannot_be_edited(page: Client, waiting: Any) -> None:
    assert page.post(_address(waiting), {"name": "Another"}).status_code == 403
    assert page.post(_address(waiting, "nonsense"), {"note": ""}).status_code == 403
