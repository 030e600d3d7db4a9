"""The domain of an app's website, proved when somebody asks, looked for again each day, and taken away when it is gone.

The look itself happens outside of transactions; what it finds is written where the website is still the same.
"""

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from accounts.models import User
from accounts.outbox import send_mail
from common.clock import database_now
from common.shutdown import shutdown
from developers.apps.actions import changing_app
from developers.apps.audit import record
from developers.apps.domains import Finding, domain_of, look_for_proof
from developers.apps.models import App

LOOKED_FOR_EACH = timedelta(days=1)
GONE_AFTER = timedelta(days=3)


def check_app_domain(*, app: App, by: User | None) -> Finding:
    """Look, and write down what was found; an old proof stays for some days where none was found. Outside `atomic`."""
    domain = domain_of(app.website)
    finding = look_for_proof(domain, app.domain_challenge) if domain else Finding("nothing", "nothing")
    if finding.proves:
        _prove(app_pk=app.pk, domain=domain, by=by)
    else:
        _miss(app_pk=app.pk, domain=domain, by=by)
    return finding


def recheck_domains(*, limit: int = 50) -> int:
    """Look for the proofs that nobody looked for since a day; returns how many were looked for."""
    looked = 0
    for app in _to_look_for()[:limit]:
        if shutdown.has_begun():
            break
        check_app_domain(app=app, by=None)
        looked += 1
    return looked


def _to_look_for() -> QuerySet[App]:
    before = database_now() - LOOKED_FOR_EACH
    proved = App.objects.select_related("application").exclude(proved_domain="")
    return proved.filter(Q(domain_checked_at__isnull=True) | Q(domain_checked_at__lte=before)).order_by("pk")


def _prove(*, app_pk: int, domain: str, by: User | None) -> None:
    with changing_app(app_pk=app_pk, by=by):
        app = App.objects.select_related("application").get(pk=app_pk)
        if domain_of(app.website) != domain:
            return  # the website changed while we looked
        now = database_now()
        rows = App.objects.filter(pk=app_pk)
        rows.update(domain_checked_at=now, domain_missing_since=None)
        if app.proved_domain != domain:
            rows.update(proved_domain=domain, domain_proved_at=now)
            record(app=app, by=by, action="domain.proved", domain=domain)


def _miss(*, app_pk: int, domain: str, by: User | None) -> None:
    """A proof of another website's domain goes at once, the others after some days without one."""
    with changing_app(app_pk=app_pk, by=by):
        now = database_now()
        rows = App.objects.filter(pk=app_pk)
        rows.update(domain_checked_at=now)
        rows.exclude(proved_domain="").update(domain_missing_since=Coalesce("domain_missing_since", now))
        app = rows.select_related("application").get()
        gone = app.domain_missing_since is not None and app.domain_missing_since <= now - GONE_AFTER
        if app.proved_domain and (gone or app.proved_domain != domain_of(app.website)):
            lost = app.proved_domain
            rows.update(proved_domain="", domain_proved_at=None, domain_missing_since=None)
            record(app=app, by=by, action="domain.lost", domain=lost)
            for owner in app.members.filter(role="owner").select_related("user"):
                send_mail("developers/mail/domain_lost", to=owner.user, context={"app": app, "domain": lost})
