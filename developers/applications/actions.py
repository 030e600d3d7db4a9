"""What is done to applications. Keyword-only, the one who acts as `by=`."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.models import User
from accounts.outbox import send_mail
from common.clock import database_now
from common.problems import InvalidRequest
from developers.applications.facts import ApplicationFacts, check_facts
from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.applications.queries import OPEN, applications_of, open_applications_of
from developers.apps.audit import record
from developers.apps.domains import Finding, domain_of, look_for_proof
from developers.apps.models import App, AppMode
from developers.members.models import AppMember, MemberRole

MOST_OPEN, MOST_A_DAY = 5, 10


@transaction.atomic
def make_app(
    *,
    name: str,
    legal_name: str,
    website: str,
    privacy_policy: str,
    contact_email: str,
    owner: User,
    by: User,
    verified: bool = False,
) -> App:
    """An app with an application that `by` approved in the same breath, for operators. Raises `InvalidRequest`."""
    now = database_now()
    application = DeveloperApplication.objects.create(
        applicant=owner,
        name=name,
        legal_name=legal_name,
        website=website,
        privacy_policy=privacy_policy,
        contact_email=contact_email,
        staff_told_at=now,
    )
    return _approve(application, by=by, verified=verified, note="", seen=None)  # the operator tells them


@transaction.atomic
def hand_in_application(*, facts: ApplicationFacts, by: User) -> DeveloperApplication:
    """Apply for a live app. Raises `InvalidRequest`: what does not fit, or too many that are open."""
    check_facts(facts)
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once are counted one after the other
    if open_applications_of(by).count() >= MOST_OPEN:
        raise InvalidRequest(gettext("Nobody has more than %(n)d applications open.") % {"n": MOST_OPEN})
    if applications_of(by).filter(created_at__gt=database_now() - timedelta(days=1)).count() >= MOST_A_DAY:
        raise InvalidRequest(gettext("Nobody hands in more than %(n)d applications a day.") % {"n": MOST_A_DAY})
    return DeveloperApplication.objects.create(applicant=by, **_columns(facts))


@transaction.atomic
def hand_in_again(*, application_pk: int, facts: ApplicationFacts, by: User) -> None:
    """Correct what was sent back. Raises `InvalidRequest` where it was not, or where something does not fit."""
    check_facts(facts)
    application = _lock_own_application(application_pk, by, ApplicationStatus.SENT_BACK)
    if application is None:
        raise InvalidRequest(gettext("Only an application that was sent back can be changed."))
    changed = _columns(facts)
    if application.proved_domain != domain_of(facts.website):
        changed |= {"proved_domain": "", "domain_proved_at": None, "domain_missing_since": None}
    DeveloperApplication.objects.filter(pk=application.pk).update(
        **changed, status=ApplicationStatus.SUBMITTED, reviewer=None, reviewed_at=None, staff_told_at=None,
        updated_at=database_now(),
    )  # fmt: skip


@transaction.atomic
def withdraw_application(*, application_pk: int, by: User) -> None:
    """Take an application back for good. Raises `InvalidRequest` where it is decided or withdrawn already."""
    application = _lock_own_application(application_pk, by, ApplicationStatus.SUBMITTED, ApplicationStatus.SENT_BACK)
    if application is None:
        raise InvalidRequest(gettext("Only an application that is still open can be withdrawn."))
    rows = DeveloperApplication.objects.filter(pk=application.pk)
    rows.update(status=ApplicationStatus.WITHDRAWN, updated_at=database_now())


@transaction.atomic
def approve_application(
    *,
    application: DeveloperApplication,
    by: User,
    verified: bool = True,
    note: str = "",
    seen: datetime | None = None,
) -> App:
    """Make the app that was applied for, with the applicant as its owner. Raises `InvalidRequest`.

    `verified` says that the legal name was checked, and is shown to people. `seen` is the `updated_at` of what `by`
    looked at: one that was changed since is not decided.
    """
    if verified and application.applicant_id == by.pk:
        raise InvalidRequest(
            gettext("Somebody else of the staff checks the name in your own application; you can approve it unchecked.")
        )
    app = _approve(application, by=by, verified=verified, note=note, seen=seen)
    _write_to_applicant(application, app)
    return app


def _approve(application: DeveloperApplication, *, by: User, verified: bool, note: str, seen: datetime | None) -> App:
    _decide(application, ApplicationStatus.APPROVED, by=by, note=note, seen=seen)
    check_facts(_facts_of(application))
    app = App.objects.create(
        mode=AppMode.LIVE,
        application=application,
        name=application.name.strip(),
        verified=verified,
        logo_digest=application.logo_digest,
        origins=application.origins,
        return_addresses=application.return_addresses,
        proved_domain=application.proved_domain,
        domain_proved_at=application.domain_proved_at,
        domain_challenge=application.domain_challenge,
        domain_checked_at=application.domain_checked_at,
    )
    AppMember.objects.create(app=app, user=application.applicant, role=MemberRole.OWNER)
    record(app=app, by=by, action="app.approved", application=application.pk, verified=verified, name=app.name)
    return app


@transaction.atomic
def send_back_application(
    *, application: DeveloperApplication, by: User, note: str, seen: datetime | None = None
) -> None:
    """Ask the applicant to correct what `note` says. Raises `InvalidRequest`."""
    _require_note(note)
    _decide(application, ApplicationStatus.SENT_BACK, by=by, note=note, seen=seen)
    _write_to_applicant(application)


@transaction.atomic
def reject_application(*, application: DeveloperApplication, by: User, note: str, seen: datetime | None = None) -> None:
    """Say no to an application, and why. Raises `InvalidRequest`."""
    _require_note(note)
    _decide(application, ApplicationStatus.REJECTED, by=by, note=note, seen=seen)
    _write_to_applicant(application)


def _decide(
    application: DeveloperApplication, status: ApplicationStatus, *, by: User, note: str, seen: datetime | None
) -> None:
    now = database_now()
    undecided = DeveloperApplication.objects.filter(pk=application.pk, status=ApplicationStatus.SUBMITTED)
    if seen is not None:
        undecided = undecided.filter(updated_at=seen)
    decided = undecided.update(status=status, reviewer=by, reviewed_at=now, note=note.strip(), updated_at=now)
    if not decided:
        still_submitted = DeveloperApplication.objects.filter(pk=application.pk, status=ApplicationStatus.SUBMITTED)
        if still_submitted.exists():
            raise InvalidRequest(gettext("This application is not as you saw it any more: look at it again."))
        raise InvalidRequest(gettext("Somebody has decided this application already."))
    application.refresh_from_db()


def _write_to_applicant(application: DeveloperApplication, app: App | None = None) -> None:
    template = f"developers/mail/application_{application.status}"
    send_mail(template, to=application.applicant, context={"application": application, "app": app})


def _require_note(note: str) -> None:
    if not note.strip() or len(note) > 2000:
        raise InvalidRequest(gettext("Tell the applicant why, in at most 2000 characters."))


def _lock_own_application(application_pk: int, by: User, *statuses: ApplicationStatus) -> DeveloperApplication | None:
    """The applicant's own row, locked, if it stands so."""
    rows = DeveloperApplication.objects.select_for_update().filter(pk=application_pk, applicant=by)
    return rows.filter(status__in=statuses).first()


def _columns(facts: ApplicationFacts) -> dict[str, Any]:
    return {**asdict(facts), "name": facts.name.strip(), "needed_scopes": list(facts.scope_reasons)}


def _facts_of(application: DeveloperApplication) -> ApplicationFacts:
    return ApplicationFacts(**{name: getattr(application, name) for name in ApplicationFacts.__dataclass_fields__})


def check_application_domain(*, application: DeveloperApplication) -> Finding:
    """Look, and keep the proof where there is one and the website is still the same. Outside `atomic`."""
    domain = domain_of(application.website)
    finding = look_for_proof(domain, application.domain_challenge) if domain else Finding("nothing", "nothing")
    now = database_now()
    with transaction.atomic():
        rows = DeveloperApplication.objects.filter(pk=application.pk, website=application.website, status__in=OPEN)
        rows.update(domain_checked_at=now)
        if finding.proves:
            rows.exclude(proved_domain=domain).update(proved_domain=domain, domain_proved_at=now)
        else:
            rows.update(proved_domain="", domain_proved_at=None, domain_missing_since=None)
    return finding
