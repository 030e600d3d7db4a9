"""The same for applications and the proof of a domain, in the developer portal."""

import pytest

from developers.models import App, DeveloperApplication
from tests.developers.websites import website
from tests.factories import ApplicationFactory, MemberFactory
from tests.interrupted.scenes import Make, Scene, Stage

TYPED_APPLICATION = {
    "name": "Lunch Finder", "legal_name": "Lunch Finder GmbH", "website": "https://lunch.example",
    "privacy_policy": "https://lunch.example/privacy", "contact_email": "privacy@lunch.example",
    "use_case": "Suggest places to eat", "scope_1": "attr.lifestyle.food.*", "why_1": "To know what somebody likes",
    "jurisdiction": "Germany", "recipients": "nobody else", "storage_place": "Frankfurt", "retention": "30 days",
}  # fmt: skip


def apply(stage: Stage) -> Scene:
    def done() -> bool:
        row = DeveloperApplication.objects.filter(applicant=stage.person).first()
        return row is not None and row.scope_reasons == {"attr.lifestyle.food.*": "To know what somebody likes"}

    here, title = "/developers/applications/new/", "Hand it in"
    return Scene(here, here, title, done, TYPED_APPLICATION, "Suggest places to eat")


def _application(stage: Stage, status: str) -> DeveloperApplication:
    review = {} if status == "sent_back" else {"reviewer": None, "reviewed_at": None}
    return ApplicationFactory(applicant=stage.person, status=status, **review)


def correct_application(stage: Stage) -> Scene:
    row = _application(stage, "sent_back")
    here = f"/developers/applications/{row.pk}/"

    def done() -> bool:
        return DeveloperApplication.objects.values_list("status", "name").get() == ("submitted", "Lunch Finder")

    title = "Hand it in again"
    return Scene(here, here, title, done, TYPED_APPLICATION, "Suggest places to eat")


def withdraw_application(stage: Stage) -> Scene:
    row = _application(stage, "submitted")
    here = f"/developers/applications/{row.pk}/"
    title = f"Withdraw it: {row.name}"
    return Scene(f"{here}withdraw/", here, title, lambda: DeveloperApplication.objects.get().status == "withdrawn")


def check_application_domain(stage: Stage) -> Scene:
    site = stage.after.enter_context(website(stage.after.enter_context(pytest.MonkeyPatch.context())))
    row = _application(stage, "submitted")
    site.publish_in_dns("trips.example", row.domain_challenge)
    here = f"/developers/applications/{row.pk}/"
    title = "Check now: trips.example"
    return Scene(f"{here}domain/", here, title, lambda: bool(DeveloperApplication.objects.get().proved_domain))


def check_domain(stage: Stage) -> Scene:
    site = stage.after.enter_context(website(stage.after.enter_context(pytest.MonkeyPatch.context())))
    app = MemberFactory(user=stage.person).app
    site.publish_in_dns("trips.example", app.domain_challenge)
    here = f"/developers/apps/{app.app_id}/domain/"
    title = "Check now: trips.example"
    return Scene(here, here, title, lambda: bool(App.objects.get().proved_domain))


SCENES: dict[str, Make] = {
    "portal:apply": apply,
    "portal:application": correct_application,
    "portal:withdraw-application": withdraw_application,
    "portal:application-domain": check_application_domain,
    "portal:domain": check_domain,
}
