"""Applying for a live app: what is handed in, sent back, corrected and withdrawn on the portal's pages."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from common import limits
from common.problems import InvalidRequest
from developers.applications import actions
from developers.models import App, AppAuditEntry, AppMember, DeveloperApplication, Logo
from portal.application_form import _LOGOS
from tests.developers.pictures import upload
from tests.factories import ApplicationFactory, PersonFactory, StaffFactory

NEW = "/developers/applications/new/"
FILLED: dict[str, Any] = {
    "name": "Lunch Finder",
    "legal_name": "Lunch Finder GmbH",
    "website": "https://lunch.example",
    "privacy_policy": "https://lunch.example/privacy",
    "contact_email": "privacy@lunch.example",
    "use_case": "Suggest places to eat.\nNothing else.",
    "scope_1": "attr.lifestyle.food.*",
    "why_1": "To know what somebody likes to eat",
    "jurisdiction": "Germany",
    "recipients": "nobody else",
    "storage_place": "Frankfurt, Germany",
    "retention": "30 days",
    "origins": "https://App.lunch.example/\nhttps://lunch.example:8443",
    "return_addresses": "https://app.lunch.example/back?from=us",
}


@pytest.fixture
def person(db: None) -> User:
    made: User = PersonFactory()
    return made


@pytest.fixture
def developer(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def open_one(person: User, **fields: Any) -> DeveloperApplication:
    waiting = {"status": "submitted", "reviewer": None, "reviewed_at": None}
    if fields.get("status") == "sent_back":
        waiting = {"note": "Name your company."}
    row: DeveloperApplication = ApplicationFactory(applicant=person, **{**waiting, **fields})
    return row


def test_who_needs_a_value_is_offered_the_answers_that_may_do(developer: Client, person: User) -> None:
    row = open_one(person, scope_reasons={"attr.identity.basic.birth_date": "To sell wine"})
    page = developer.get(f"/developers/applications/{row.pk}/").content.decode()
    assert "“18 or older” may do: attr.identity.basic.age_over_18 (standard)." in page


def test_an_application_is_handed_in_with_all_that_was_typed(developer: Client, person: User) -> None:
    answer = developer.post(NEW, {**FILLED, "logo": upload()})

    row = DeveloperApplication.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/developers/applications/{row.pk}/")
    assert (row.applicant, row.status, row.name, row.legal_name) == (
        person, "submitted", "Lunch Finder", "Lunch Finder GmbH",
    )  # fmt: skip
    assert row.needed_scopes == ["attr.lifestyle.food.*"]
    assert row.scope_reasons == {"attr.lifestyle.food.*": "To know what somebody likes to eat"}
    assert row.origins == ["https://app.lunch.example", "https://lunch.example:8443"]
    assert row.return_addresses == ["https://app.lunch.example/back?from=us"]
    assert row.logo_digest == Logo.objects.get().digest
    page = developer.get(answer["Location"]).content.decode()
    assert "Frankfurt, Germany" in page
    assert "To know what somebody likes to eat" in page
    assert "may do" not in page
    assert row.domain_challenge in page
    assert "Lunch Finder" in developer.get("/developers/").content.decode()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a" * 81}, "name"),
        ({"name": "Lunch\u202eFinder"}, "name"),
        ({"legal_name": "two\u2028lines"}, "legal_name"),
        ({"website": "http://lunch.example"}, "website"),
        ({"website": "https://localhost"}, "website"),
        ({"website": "https://10.0.0.1/"}, "website"),
        ({"privacy_policy": "javascript:alert(1)"}, "privacy_policy"),
        ({"contact_email": "nobody"}, "contact_email"),
        ({"use_case": "hidden\u200bwords"}, "use_case"),
        ({"scope_1": "", "why_1": ""}, "scope_1"),
        ({"why_1": ""}, "why_1"),
        ({"scope_1": ""}, "scope_1"),
        ({"scope_1": "attr.nothing.*"}, "scope_1"),
        ({"scope_1": "pkm.read"}, "scope_1"),  # not exposed
        ({"scope_2": "attr.lifestyle.food.*", "why_2": "again"}, "scope_2"),
        ({"jurisdiction": ""}, "jurisdiction"),
        ({"origins": "http://lunch.example"}, "origins"),
        ({"origins": "https://lunch.example/path"}, "origins"),
        ({"origins": "https://somebody@lunch.example"}, "origins"),
        ({"origins": "https://*.lunch.example"}, "origins"),
        ({"origins": "\n".join(f"https://a{n}.example" for n in range(11))}, "origins"),
        ({"return_addresses": "https://other.example/back"}, "return_addresses"),
        ({"return_addresses": "https://app.lunch.example.evil.example/"}, "return_addresses"),
        ({"return_addresses": "https://app.lunch.example/#token"}, "return_addresses"),
    ],
)
def test_what_does_not_fit_is_told_and_nothing_typed_is_lost(
    developer: Client, change: dict[str, str], field: str
) -> None:
    answer = developer.post(NEW, {**FILLED, **change})

    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    assert not DeveloperApplication.objects.exists()
    form = answer.context["form"]
    for name, typed in {**FILLED, **change}.items():
        assert form[name].value() == typed


def test_a_picture_that_fits_is_kept_when_something_else_does_not(developer: Client) -> None:
    answer = developer.post(NEW, {**FILLED, "name": "", "logo": upload()})
    digest = Logo.objects.get().digest
    assert f"/logos/{digest}.png" in answer.content.decode()
    kept = re.search(r'name="kept_logo" value="([^"]+)"', answer.content.decode())
    assert kept is not None

    developer.post(NEW, {**FILLED, "kept_logo": kept[1]})
    assert DeveloperApplication.objects.get().logo_digest == digest


def test_a_kept_picture_is_believed_with_our_signature_only(developer: Client) -> None:
    developer.post(NEW, {**FILLED, "kept_logo": "f" * 64})
    assert DeveloperApplication.objects.get().logo_digest == ""


@pytest.mark.parametrize("data", [b"GIF89a nothing", b"a" * 600 * 1024, b"a" * 3 * 1024 * 1024])
def test_a_picture_that_does_not_fit_is_told(developer: Client, data: bytes) -> None:
    answer = developer.post(NEW, {**FILLED, "logo": upload(data)})
    assert list(answer.context["form"].errors) == ["logo"]
    assert answer.context["form"]["name"].value() == "Lunch Finder"


def test_somebody_who_sends_pictures_all_day_is_stopped(developer: Client, person: User) -> None:
    developer.post(NEW, {"logo": upload(b"no picture")})
    limits.count(_LOGOS, person.public_id, amount=28)  # as 28 more
    answers = [developer.post(NEW, {"logo": upload(b"no picture")}) for _ in range(2)]
    assert "too many logos" in str(answers[-1].context["form"].errors["logo"])
    assert "too many logos" not in str(answers[-2].context["form"].errors["logo"])


def test_nobody_has_more_than_five_open_or_hands_in_more_than_ten_a_day(developer: Client, person: User) -> None:
    assert [developer.post(NEW, FILLED).status_code for _ in range(6)] == [302] * 5 + [400]
    for _ in range(5):
        last = DeveloperApplication.objects.filter(status="submitted").latest("pk")
        developer.post(f"/developers/applications/{last.pk}/withdraw/")
        developer.post(NEW, FILLED)
    last = DeveloperApplication.objects.filter(status="submitted").latest("pk")
    developer.post(f"/developers/applications/{last.pk}/withdraw/")

    assert "a day" in developer.post(NEW, FILLED).content.decode()
    DeveloperApplication.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert developer.post(NEW, FILLED).status_code == 302


def test_what_was_sent_back_is_corrected_and_handed_in_again(developer: Client, person: User) -> None:
    developer.post(NEW, {**FILLED, "logo": upload()})
    row = DeveloperApplication.objects.get()
    here = f"/developers/applications/{row.pk}/"
    DeveloperApplication.objects.update(proved_domain="lunch.example", domain_proved_at=timezone.now())
    actions.send_back_application(application=row, by=StaffFactory(), note="Name your company.")
    page = developer.get(here)
    assert "Name your company." in page.content.decode()
    assert page.context["form"]["origins"].value() == "https://app.lunch.example\nhttps://lunch.example:8443"

    wrong = developer.post(here, {**FILLED, "legal_name": ""})
    assert (wrong.status_code, wrong.context["form"]["name"].value()) == (400, "Lunch Finder")
    assert developer.post(here, {**FILLED, "legal_name": "Lunch AG"}).status_code == 302
    row.refresh_from_db()
    assert (row.status, row.legal_name, row.reviewer, row.reviewed_at) == ("submitted", "Lunch AG", None, None)
    assert row.proved_domain == "lunch.example"
    assert row.logo_digest == Logo.objects.get().digest


def test_another_website_has_to_be_proved_anew(person: User, developer: Client) -> None:
    row = open_one(person, status="sent_back", proved_domain="trips.example", domain_proved_at=timezone.now())

    developer.post(f"/developers/applications/{row.pk}/", FILLED)

    row.refresh_from_db()
    assert (row.website, row.proved_domain, row.domain_proved_at) == ("https://lunch.example", "", None)


@pytest.mark.parametrize("status", ["submitted", "approved", "rejected", "withdrawn"])
def test_only_what_was_sent_back_can_be_changed(developer: Client, person: User, status: str) -> None:
    decided = {"reviewer": StaffFactory(), "reviewed_at": timezone.now()} if status in ("approved", "rejected") else {}
    row = open_one(person, status=status, **decided)

    answer = developer.post(f"/developers/applications/{row.pk}/", FILLED)

    assert answer.status_code == 400
    assert "Only an application that was sent back can be changed." in answer.content.decode()
    assert DeveloperApplication.objects.get().name == row.name


@pytest.mark.parametrize(("status", "then"), [("submitted", "withdrawn"), ("sent_back", "withdrawn")])
def test_an_open_application_is_withdrawn(developer: Client, person: User, status: str, then: str) -> None:
    row = open_one(person, status=status)
    for _ in range(2):
        assert developer.post(f"/developers/applications/{row.pk}/withdraw/").status_code == 302
    row.refresh_from_db()
    assert row.status == then
    with pytest.raises(InvalidRequest):
        actions.approve_application(application=row, by=StaffFactory())
    assert not App.objects.exists()


def test_the_applicant_sees_what_was_decided(developer: Client, person: User) -> None:
    rejected, approved = open_one(person), open_one(person)
    actions.reject_application(application=rejected, by=StaffFactory(), note="It is\nno company.")
    app = actions.approve_application(application=approved, by=StaffFactory())

    assert "It is<br>no company." in developer.get(f"/developers/applications/{rejected.pk}/").content.decode()
    assert (
        f"/developers/apps/{app.app_id}/" in developer.get(f"/developers/applications/{approved.pk}/").content.decode()
    )


def test_approval_hands_all_of_it_to_the_app(person: User, developer: Client) -> None:
    developer.post(NEW, {**FILLED, "logo": upload()})
    DeveloperApplication.objects.update(proved_domain="lunch.example", domain_proved_at=timezone.now())
    row, staff = DeveloperApplication.objects.get(), StaffFactory()

    app = actions.approve_application(application=row, by=staff, verified=False)

    assert (app.name, app.mode, app.verified, app.logo_digest) == ("Lunch Finder", "live", False, row.logo_digest)
    assert (app.origins, app.return_addresses) == (row.origins, row.return_addresses)
    assert (app.proved_domain, app.domain_challenge) == ("lunch.example", row.domain_challenge)
    assert AppMember.objects.values_list("app", "user", "role").get() == (app.pk, person.pk, "owner")
    assert AppAuditEntry.objects.values_list("action", "member").get() == ("app.approved", staff.pk)


def test_what_changed_since_staff_read_it_is_not_decided(person: User) -> None:
    row = open_one(person)
    seen = DeveloperApplication.objects.get().updated_at
    actions.send_back_application(application=row, by=StaffFactory(), note="Name your company.")
    row.refresh_from_db()
    again = actions.ApplicationFacts(
        **{name: getattr(row, name) for name in actions.ApplicationFacts.__dataclass_fields__}
    )
    actions.hand_in_again(application_pk=row.pk, facts=again, by=person)

    with pytest.raises(InvalidRequest, match="not as you saw it"):
        actions.approve_application(application=row, by=StaffFactory(), seen=seen)
    assert not App.objects.exists()


@pytest.mark.django_db(transaction=True)  # people at once, each with a connection of their own
def test_of_staff_and_applicant_at_once_one_wins() -> None:
    person, staff = PersonFactory(), [StaffFactory() for _ in range(2)]
    row = open_one(person)

    def run(what: Any) -> str:
        try:
            what()
        except InvalidRequest:
            return "refused"
        finally:
            connection.close()
        return "done"

    acts = [
        lambda: actions.approve_application(application=row, by=staff[0]),
        lambda: actions.reject_application(application=row, by=staff[1], note="no"),
        lambda: actions.withdraw_application(application_pk=row.pk, by=person),
    ]
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(run, acts))

    assert sorted(outcomes) == ["done", "refused", "refused"]
    assert App.objects.count() == (DeveloperApplication.objects.get().status == "approved")
