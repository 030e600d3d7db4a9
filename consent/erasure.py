"""What becomes of requests, grants and history when a person leaves (accounts/hooks.py)."""

# ruff: noqa: S608  # the statements are of our own names

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.hooks import RoomErasure
from accounts.models import Erasure, User
from common.clock import database_now, rfc3339
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise
from consent.connections.models import Connection
from consent.decisions.models import AppReport, BlockedApp
from consent.discovery.models import DirectoryFind, Discovery
from consent.event_types import EventType
from consent.exports.models import Export, Read
from consent.exports.read_batches import chain_reads_of
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, Receipt
from consent.ledger.pending import write_pending_entries
from consent.mail.models import Mail
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest, OwnRules
from consent.rules import RULES
from consent.states import LIVE_GRANTS, Actor, GrantStatus, RequestStatus

_REQUESTS = "(SELECT id FROM consent_requests WHERE user_id = :person)"
_GRANTS = "(SELECT id FROM consent_grants WHERE user_id = :person)"
_ATTRIBUTES = "{cleared|facts|grant,approved_attributes}"

ROWS = PersonalRows(
    name="erase_consent_rows",
    rules=tuple(rule for rule in RULES if rule.erasable),
    unsampled={
        "app_reports": ("text",),
        "app_report_notes": ("note",),
        "audit_facts": ("facts",),
        "audit_pending": ("facts",),
        "consent_exports": ("sources", "approval", "approved_attributes"),
        "consent_grants": ("approved_attributes",),
        "consent_requests": ("purpose", "binding_message", "decision_note", "required_because", "return_url"),
        "connections": ("binding_message", "return_url", "asked"),
        "consent_notices": ("facts",),
        "consent_receipts": ("claims", "audit", "app_audit", "signature", "app_signature"),
        "idempotency_keys": ("answer",),
    },
    statements=(
        "DELETE FROM audit_facts WHERE about = :user_id "
        "OR about IN (SELECT pairwise_id FROM consent_requests WHERE user_id = :person)",
        "DELETE FROM audit_chains WHERE subject = 'person:' || :user_id",
        f"DELETE FROM audit_pending WHERE chain = 'person:' || :user_id OR request_id IN {_REQUESTS}",
        f"DELETE FROM consent_receipts WHERE request_id IN {_REQUESTS}",
        f"DELETE FROM published_connector_keys WHERE request_id IN {_REQUESTS}",
        "DELETE FROM connections WHERE user_id = :person",
        f"DELETE FROM consent_mails WHERE request_id IN {_REQUESTS}",
        f"UPDATE consent_notices SET facts = {_ATTRIBUTES} WHERE request_id IN {_REQUESTS} "
        "AND {member|facts|grant} IS NOT NULL",
        "DELETE FROM idempotency_keys WHERE EXISTS (SELECT 1 FROM consent_requests r WHERE r.user_id = :person "
        "AND r.app_id = idempotency_keys.app_id AND {has|idempotency_keys.answer|r.request_id})",
        "UPDATE consent_requests SET purpose = '', binding_message = NULL, decision_note = '', "
        "required_attributes = NULL, optional_attributes = NULL, derived = NULL, accepts = NULL, "
        "required_because = NULL, return_url = NULL WHERE user_id = :person",
        "UPDATE consent_exports SET ciphertext = NULL, sources = '[]', approval = NULL, owner_key = NULL, "
        f"owner_key_reset = FALSE, approved_attributes = NULL WHERE grant_id IN {_GRANTS}",
        "UPDATE consent_grants SET approved_attributes = '[]', end_reason = '' WHERE user_id = :person",
        "DELETE FROM approval_keys WHERE user_id = :person",
        "DELETE FROM discovery_log WHERE user_id = :person",
        "DELETE FROM directory_finds WHERE user_id = :person",
        "DELETE FROM blocked_apps WHERE user_id = :person",
        "DELETE FROM own_rules WHERE user_id = :person",
        "DELETE FROM app_report_notes WHERE report_id IN (SELECT id FROM app_reports WHERE user_id = :person)",
        "DELETE FROM app_reports WHERE user_id = :person",
        "DELETE FROM sandbox_people WHERE user_id = :person",
    ),
)
_GONE = "destroyed"
_APPS_SIDE = "stays with the app, of an anonymous account: "
TABLES = {
    "consent_requests": _APPS_SIDE + "without purpose, messages and notes",
    "consent_grants": _APPS_SIDE + "without the names of attributes",
    "consent_exports": _APPS_SIDE + "without ciphertext and sources",
    "consent_reads": _APPS_SIDE + "when its own tokens read",
    "consent_notices": _APPS_SIDE + "without the names of attributes",
    "webhook_deliveries": _APPS_SIDE + "how notices were delivered",
    "published_connector_keys": _GONE + ": what an app's domain published while a request waited",
    "consent_notice_counters": _APPS_SIDE + "how many notices there were",
    "connector_keys": "stays with the app: who registered it is an anonymous account",
    "approval_keys": _GONE,
    "connections": _GONE,
    "consent_receipts": _GONE,
    "audit_pending": _GONE,
    "consent_mails": _GONE,
    "discovery_log": _GONE,
    "directory_finds": _GONE,
    "blocked_apps": _GONE,
    "own_rules": _GONE,
    "app_reports": _GONE,
    "app_report_notes": _GONE + " with the report; what somebody wrote as staff stays, by an anonymous account",
    "sandbox_people": _GONE,
    "scope_withdrawals": "stays: an act of staff, by an anonymous account",
    "consent_scope_templates": "stays: an act of staff, by an anonymous account",
}

_RULES = ("only_checked_since", "only_checked_count", "weekly_since", "weekly_count")


def record_erasure(*, user_id: str, names: set[str]) -> None:
    """Append `erased` to the person's chain and to each app's that tells of them. In the transaction that erases.

    `names` is what apps call them. Its facts name ranges of entries and nobody. What was told already is not told
    again.
    """
    own = audit.person_chain(user_id)
    subjects = [*_own(own), *_chains_of_apps(names)]
    audit.lock_heads(subjects)
    now = database_now()
    for subject in subjects:
        entries = AuditEntry.objects.of(subject).order_by("sequence")
        found = entries if subject == own else entries.filter(kept__about__in=names)
        sequences = list(found.exclude(kind=EventType.ERASED).values_list("sequence", flat=True))
        if sequences:
            facts = {"ranges": ranges_of(sequences)}
            audit.append(chain=subject, kind=EventType.ERASED.value, actor=Actor.SYSTEM.value, at=now, facts=facts)


def _chains_of_apps(names: set[str]) -> list[str]:
    chains = AuditEntry.objects.filter(kept__about__in=names).values("chain")
    apps = AuditChain.objects.filter(chain__in=chains, subject__startswith=audit.app_chain(""))
    return list(apps.order_by("subject").values_list("subject", flat=True))


def ranges_of(sequences: list[int]) -> list[list[int]]:
    """Ascending numbers as [first, last] of each unbroken run."""
    ranges: list[list[int]] = []
    for number in sequences:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def _own(subject: str) -> list[str]:
    """A person to whom nothing ever happened has no chain, and gets none for leaving."""
    return [subject] if audit.chain_id(subject) else []


def outcomes(user: User) -> list[StrOrPromise]:
    """What the page tells before anybody confirms."""
    now = database_now()
    live = Grant.objects.live(now).filter(user=user).values_list("app__name", flat=True)
    pending = ConsentRequest.objects.pending(now).filter(user=user).count()
    sentences: list[StrOrPromise] = []
    if names := sorted(set(live)):
        words = ngettext(
            "%(n)d app stops reading: %(apps)s. It is told that you stopped sharing.",
            "%(n)d apps stop reading: %(apps)s. They are told that you stopped sharing.",
            len(names),
        )
        sentences.append(words % {"n": len(names), "apps": ", ".join(names)})
    if pending:
        sentences.append(
            ngettext("%(n)d request that waits is cancelled.", "%(n)d requests that wait are cancelled.", pending)
            % {"n": pending}
        )
    sentences.append(_("Copies that apps made of what they have read stay with them; ask them to delete those."))
    sentences.append(
        _("Your history and receipts go. Of your history only hashes stay, which tell nobody anything about you.")
    )
    return sentences


def end_everything(user: User) -> None:
    """End what lives and cancel what waits, one transaction each, with notices; then let the chains catch up."""
    for pk in list(Grant.objects.filter(user=user, status__in=LIVE_GRANTS).order_by("pk").values_list("pk", flat=True)):
        _end(user, pk)
    pending = ConsentRequest.objects.filter(user=user, status=RequestStatus.PENDING).order_by("pk")
    for pk in list(pending.values_list("pk", flat=True)):
        _close(user, pk)
    chain_reads_of(user.pk)
    write_pending_entries()


@transaction.atomic
def _end(user: User, grant_pk: int) -> None:
    now = database_now()
    grant = Grant.objects.select_for_update().get(pk=grant_pk, user=user)
    over = grant.status_at(now) is GrantStatus.EXPIRED
    to, actor = (GrantStatus.EXPIRED, Actor.SYSTEM) if over else (GrantStatus.REVOKED, Actor.PERSON)
    end_grant(grant_pk=grant_pk, to=to, actor=actor, at=now, only_expired_at=now if over else None)


@transaction.atomic
def _close(user: User, request_pk: int) -> None:
    now = database_now()
    request = ConsentRequest.objects.select_for_update().get(pk=request_pk, user=user)
    over = request.status_at(now) is RequestStatus.EXPIRED
    to, actor = (RequestStatus.EXPIRED, Actor.SYSTEM) if over else (RequestStatus.CANCELLED, Actor.PERSON)
    close_request(request_pk=request_pk, to=to, actor=actor, at=now)


def record_in_chains(erasure: Erasure) -> None:
    """The chains say that their facts are gone, in the transaction in which they go."""
    names = set(ConsentRequest.objects.filter(user=erasure.user).values_list("pairwise_id", flat=True))
    record_erasure(user_id=erasure.user.public_id, names=names)


def export(user: User) -> dict[str, Any]:
    """What is held of requests, grants, reads, receipts and history."""
    requests = ConsentRequest.objects.filter(user=user).order_by("pk")
    entries = AuditEntry.objects.of(f"person:{user.public_id}").select_related("kept").order_by("sequence")
    texts = ("purpose", "required_because", "binding_message")
    requested = ("request_id", "app__app_id", "app_name", "scope", *texts, "status", "created_at")
    granted = ("grant_id", "request__request_id", "status", "approved_attributes", "starts_at", "expires_at", "reads")
    return {
        "requests": list(requests.values(*requested, "decided_at", "decision_note")),
        "grants": list(Grant.objects.filter(user=user).order_by("pk").values(*granted, "ended_at", "ended_by")),
        "sealed_exports": list(
            Export.objects.filter(grant__user=user, ciphertext__isnull=False).values("export_id", "ciphertext")
        ),
        "reads": list(Read.objects.filter(grant__user=user).order_by("pk").values("grant__grant_id", "at")),
        "receipts": [each.jws for each in Receipt.objects.filter(request__user=user).order_by("pk")],
        "mails": list(Mail.objects.filter(request__user=user).values("request__request_id", "kind", "sent_at")),
        "discoveries": list(Discovery.objects.filter(user=user).values("app__app_id", "day", "count")),
        "found_in_directory": list(DirectoryFind.objects.filter(user=user).values("app__app_id", "at")),
        "connections": list(Connection.objects.filter(user=user).values("app__app_id", "connection_id", "answered_at")),
        "blocked_apps": list(BlockedApp.objects.filter(user=user).values_list("app__app_id", flat=True)),
        "own_rules": OwnRules.objects.filter(user=user).values(*_RULES).first(),
        "reports": list(AppReport.objects.filter(user=user).values("app__app_id", "text")),
        "history": [
            {"sequence": entry.sequence, "kind": entry.kind, "at": rfc3339(entry.at), "facts": entry.facts}
            for entry in entries
        ],
    }


ROOM = RoomErasure(
    name="consent",
    order=20,
    rows=ROWS,
    tables=TABLES,
    outcomes=outcomes,
    ends=end_everything,
    before_rows=record_in_chains,
    export=export,
)
