"""The domain of an application's website, which staff see beside what they decide; the app takes the proof over."""

from django.db import transaction

from common.clock import database_now
from developers.applications.models import DeveloperApplication
from developers.applications.queries import OPEN
from developers.apps.domains import Finding, domain_of, look_for_proof


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
