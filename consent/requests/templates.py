"""Templates, which take two members of staff: one proposes, another approves, and from then on apps may use it."""

from django.db import transaction
from django.db.models import Max

from accounts.models import User
from common.clock import database_now
from common.problems import InvalidRequest
from common.sql.statements import lock_for_transaction
from consent.requests.models import ScopeTemplate


@transaction.atomic
def propose_template(
    *,
    by: User,
    template_id: str,
    name: str,
    scope: str,
    purpose: str,
    max_access_duration: int,
    max_reads: int | None,
) -> ScopeTemplate:
    """A new version of this template, which changes nothing until somebody else approves it."""
    lock_for_transaction(f"template:{template_id}")
    newest = ScopeTemplate.objects.filter(template_id=template_id).aggregate(newest=Max("version"))["newest"] or 0
    return ScopeTemplate.objects.create(
        template_id=template_id,
        version=newest + 1,
        name=name,
        scope=scope,
        purpose=purpose,
        max_access_duration=max_access_duration,
        max_reads=max_reads,
        proposed_by=by,
    )


@transaction.atomic
def approve_template(*, template: ScopeTemplate, by: User) -> None:
    """Let apps use this version in place of the one before it.

    Raises `InvalidRequest` where `by` proposed it, where it was approved already, or where a newer one was.
    """
    lock_for_transaction(f"template:{template.template_id}")
    versions = ScopeTemplate.objects.filter(template_id=template.template_id)
    if template.proposed_by_id == by.pk:
        raise InvalidRequest("Somebody else than who proposed it has to approve it.")
    if versions.filter(version__gt=template.version, approved_by__isnull=False).exists():
        raise InvalidRequest("A newer version was approved already.")
    # the older one goes first: only one version of a template can be active
    unapproved = versions.filter(pk=template.pk, approved_by=None)
    if unapproved.exists():
        versions.filter(active=True).update(active=False)
    if not unapproved.update(approved_by=by, approved_at=database_now(), active=True):
        raise InvalidRequest("It was approved already.")


def withdraw_template(*, template: ScopeTemplate) -> bool:
    """No app can use it any more; False where none could. One member of staff is enough to be careful."""
    return bool(ScopeTemplate.objects.filter(pk=template.pk, active=True).update(active=False))
