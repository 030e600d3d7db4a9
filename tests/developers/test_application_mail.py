"""Mail about applications: one to staff for all that came in, one to the applicant for each decision."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core import mail as outbox
from django.utils import timezone

from accounts.erasure.actions import erase, order_erasure
from developers.applications import actions
from developers.models import DeveloperApplication
from tests.factories import ApplicationFactory, OutgoingMailFactory, PersonFactory, StaffFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db


def submitted(**fields: Any) -> DeveloperApplication:
    row: DeveloperApplication = ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None, **fields)
    return row


def new_mails() -> list[tuple[str, str]]:
    """Whom the mails since last time went to, and their subjects."""
    found = [(message.to[0], message.subject) for message in outbox.outbox]
    outbox.outbox.clear()
    return found


def test_staff_who_may_decide_get_one_mail_for_all_that_came_in() -> None:
    staff = StaffFactory()
    helper, looker = PersonFactory(is_staff=True), PersonFactory(is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="change_developerapplication"))
    looker.user_permissions.add(Permission.objects.get(codename="view_developerapplication"))
    first, second = submitted(), submitted()

    send_mails()

    bodies = [message.body for message in outbox.outbox]
    assert all(first.name in body and second.name in body for body in bodies)
    assert set(new_mails()) == {(one.email, "2 applications wait for a decision") for one in (staff, helper)}
    third = submitted()
    assert send_mails() == 0  # within the pause
    DeveloperApplication.objects.exclude(pk=third.pk).update(staff_told_at=timezone.now() - timedelta(hours=2))
    send_mails()
    assert [subject for _, subject in new_mails()] == ["3 applications wait for a decision"] * 2
    assert send_mails() == 0


def test_the_applicant_hears_of_each_decision_in_their_language() -> None:
    staff, person = StaffFactory(), PersonFactory(language="en")
    rows = [submitted(applicant=person, name=name, staff_told_at=timezone.now()) for name in ("One", "Two", "Three")]
    app = actions.approve_application(application=rows[0], by=staff, verified=False, note="Welcome.")
    actions.send_back_application(application=rows[1], by=staff, note="Name your company.")
    actions.reject_application(application=rows[2], by=staff, note="This is spam.")

    assert send_mails() == 3

    approved, back, rejected = outbox.outbox
    assert f"/developers/apps/{app.app_id}/" in approved.body
    assert "Welcome." in approved.body
    assert "not verified" in approved.body
    assert "Name your company." in back.body
    assert f"/developers/applications/{rows[1].pk}/" in back.body
    assert "This is spam." in rejected.body
    assert new_mails() == [
        (person.email, "One is approved"),
        (person.email, "Please correct your application for Two"),
        (person.email, "Your application for Three was rejected"),
    ]
    assert send_mails() == 0


def test_mail_that_names_an_applicant_who_is_erased_is_written_anew() -> None:
    staff, gone, stays = StaffFactory(), submitted(), submitted()
    DeveloperApplication.objects.filter(pk=stays.pk).update(staff_told_at=timezone.now())
    OutgoingMailFactory(user=staff, template="developers/mail/applications_wait")

    assert erase(erasure_pk=order_erasure(of=gone.applicant).pk)
    send_mails()

    [to_staff] = [message for message in outbox.outbox if message.to == [staff.email]]
    assert (gone.name in to_staff.body, stays.name in to_staff.body) == (False, True)


def test_handing_in_again_is_told_to_staff_and_the_next_decision_to_the_applicant() -> None:
    staff = StaffFactory()
    row = submitted(staff_told_at=timezone.now() - timedelta(hours=2))
    actions.send_back_application(application=row, by=staff, note="Name your company.")
    send_mails()
    row.refresh_from_db()
    facts = actions.ApplicationFacts(
        **{name: getattr(row, name) for name in actions.ApplicationFacts.__dataclass_fields__}
    )
    actions.hand_in_again(application_pk=row.pk, facts=facts, by=row.applicant)
    send_mails()
    actions.approve_application(application=row, by=staff)
    send_mails()

    assert new_mails() == [
        (row.applicant.email, f"Please correct your application for {row.name}"),
        (staff.email, "1 application waits for a decision"),
        (row.applicant.email, f"{row.name} is approved"),
    ]


def test_who_got_an_app_from_an_operator_gets_no_mail() -> None:
    actions.make_app(
        name="Trips", legal_name="Trips GmbH", website="https://trips.example",
        privacy_policy="https://trips.example/privacy", contact_email="privacy@trips.example",
        owner=PersonFactory(), by=StaffFactory(),
    )  # fmt: skip
    assert (send_mails(), new_mails()) == (0, [])
