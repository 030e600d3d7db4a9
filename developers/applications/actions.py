"""What is done to applications. Keyword-only, the one who acts as `by=`."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from common.problems import InvalidRequest
from common.text import is_plain
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.apps.models import App, AppMode
from developers.members.models import AppMember, MemberRole

if TYPE_CHECKING:
    from accounts.models import User


@transaction.atomic
def make_app(
    *,
    name: str,
    legal_name: str,
    website: str,
    privacy_policy: str,
    contact_email: str,
    owner: "User",
    by: "User",
    verified: bool = False,
) -> App:
    """An app with an application that `by` approved in the same breath, for operators. Raises `InvalidRequest`."""
    application = DeveloperApplication.objects.create(
        applicant=owner,
        name=name,
        legal_name=legal_name,
        website=website,
        privacy_policy=privacy_policy,
        contact_email=contact_email,
    )
    return approve_application(application=application, by=by, verified=verified)


@transaction.atomic
def approve_application(*, application: DeveloperApplication, by: "User", verified: bool = True, note: str = "") -> App:
    """Make the app that was applied for, with the applicant as its owner. Raises `InvalidRequest`.

    `verified` says that the legal name was checked, and is shown to people.
    """
    _check_words(application)
    _decide(application, ApplicationStatus.APPROVED, by=by, note=note)
    app = App.objects.create(
        mode=AppMode.LIVE, application=application, name=application.name.strip(), verified=verified
    )
    AppMember.objects.create(app=app, user=application.applicant, role=MemberRole.OWNER)
    return app


@transaction.atomic
def reject_application(*, application: DeveloperApplication, by: "User", note: str = "") -> None:
    """Say no to an application. Raises `InvalidRequest` where it was decided already."""
    _decide(application, ApplicationStatus.REJECTED, by=by, note=note)


def _decide(application: DeveloperApplication, status: ApplicationStatus, *, by: "User", note: str) -> None:
    now = timezone.now()
    waiting = DeveloperApplication.objects.filter(pk=application.pk, status=ApplicationStatus.SUBMITTED)
    if not waiting.update(status=status, reviewer=by, reviewed_at=now, note=note, updated_at=now):
        raise InvalidRequest("Somebody has decided this application already.")
    application.refresh_from_db()


def _check_words(application: DeveloperApplication) -> None:
    """What people will be shown: plain names, and links that lead somewhere over https."""
    for name, longest in (("name", 80), ("legal_name", 160)):
        text = getattr(application, name)
        if not is_plain(text) or len(text) > longest:
            raise InvalidRequest(f"{name} must be one line of plain text, 1 to {longest} characters.")
    for name in ("website", "privacy_policy"):
        if not getattr(application, name).startswith("https://"):
            raise InvalidRequest(f"{name} must be an https link.")
