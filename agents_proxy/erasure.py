"""What becomes of analyses, linked accounts and messages when a person leaves (accounts/hooks.py)."""

# ruff: noqa: S608  # the statements are of our own names
import logging
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.hooks import RoomErasure
from accounts.models import Erasure, User
from agents_proxy.activations.queries import activations_of_person
from agents_proxy.analyses.models import Correction, Run
from agents_proxy.deletions import queries as deletion_queries
from agents_proxy.deletions.actions import request_end_of_access, request_for_erasure
from agents_proxy.deletions.pages import answers_after
from agents_proxy.deletions.receivers import ENDS_ACCESS, Receiver
from agents_proxy.financial import client
from agents_proxy.financial.items import remove_item
from agents_proxy.financial.models import Item
from agents_proxy.messaging.models import OutboundMessage, PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.signing import origin_of
from common import encryption
from common.clock import database_now
from common.problems import Problem
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise

_log = logging.getLogger(__name__)
_CONSENTS = "(SELECT id FROM processing_consents WHERE user_id = :person)"
_RUNS = "(SELECT id FROM analysis_runs WHERE user_id = :person)"
_ITEMS = "(SELECT id FROM aggregator_items WHERE user_id = :person)"
_GONE = "destroyed"
AGGREGATOR = "aggregator"  # the name that its rows have for an agent
ENDS_ACCESS[AGGREGATOR] = client.remove_item

ROWS = PersonalRows(
    name="erase_agents_rows",
    unsampled={
        "activations": ("body",),
        "deletions": ("subject", "confirmation"),
        "aggregator_items": ("upstream_id", "institution", "cursor", "signals"),
        "aggregator_link_sessions": ("link_token",),
        "analysis_runs": ("input", "profile", "provenance", "metadata"),
        "analysis_steps": ("reply", "fields", "reading", "conversation"),
        "corrections": ("field", "value"),
        "phone_numbers": ("number",),
        "processing_consents": ("email", "origin"),
    },
    statements=(
        f"DELETE FROM deletions WHERE consent_id IN {_CONSENTS}",
        f"DELETE FROM activations WHERE consent_id IN {_CONSENTS}",
        "DELETE FROM corrections WHERE user_id = :person",
        f"DELETE FROM analysis_steps WHERE run_id IN {_RUNS}",
        "DELETE FROM analysis_runs WHERE user_id = :person",
        f"DELETE FROM aggregator_refresh_runs WHERE item_id IN {_ITEMS}",
        "DELETE FROM aggregator_link_sessions WHERE user_id = :person",
        "DELETE FROM aggregator_items WHERE user_id = :person",
        "DELETE FROM phone_numbers WHERE user_id = :person",
        f"DELETE FROM outbound_messages WHERE consent_id IN {_CONSENTS}",
        f"UPDATE agent_calls SET consent_id = NULL WHERE consent_id IN {_CONSENTS}",
        "DELETE FROM processing_consents WHERE user_id = :person",
    ),
)
TABLES = {
    "activation_destinations": "stays with the app; a personal app has none",
    "activations": _GONE + "; where it was sent to, it is asked to be deleted",
    "deletions": _GONE + ", but for who is asked to delete what: whom it is about is encrypted, and gone once that is "
    "confirmed or thirty days are over; the rest is gone then, too",
    "analysis_runs": _GONE,
    "analysis_steps": _GONE,
    "corrections": _GONE,
    "aggregator_items": _GONE + "; the access at the aggregator is ended",
    "aggregator_link_sessions": _GONE,
    "aggregator_refresh_runs": _GONE,
    "phone_numbers": _GONE,
    "outbound_messages": _GONE,
    "processing_consents": _GONE,
    "agent_calls": "stays, of nobody: which agent was called, how long it took",
    "message_templates": "stays: an act of staff, by an anonymous account",
}


def outcomes(user: User) -> list[StrOrPromise]:
    """What the page tells before anybody confirms."""
    sentences: list[StrOrPromise] = []
    if Run.objects.filter(user=user).exists():
        sentences.append(_("Your profile analyses are deleted."))
    by_request, by_hand = deletion_queries.receivers_of(user)
    if by_request:
        sentences.append(
            _("These are asked to delete what they got of you, for 30 days at most: %(names)s.")
            % {"names": "; ".join(by_request)}
        )
    if by_hand:
        sentences.append(
            _("These take no such request; if you want them to delete what they got, ask them yourself: %(names)s.")
            % {"names": "; ".join(by_hand)}
        )
    if Item.objects.filter(user=user, access_token__isnull=False).exists():
        sentences.append(_("Linked bank accounts are unlinked."))
    return sentences


def unlink(user: User) -> None:
    """End the access at the aggregator. Where it cannot be told now, it is told later (`notify_receivers`)."""
    for item in Item.objects.filter(user=user, access_token__isnull=False).order_by("pk"):
        try:
            remove_item(by=user, item_id=item.item_id)
        except Problem as problem:
            _log.warning("the aggregator could not be told that %s was removed: %s", item.item_id, problem.code)


def notify_receivers(erasure: Erasure) -> None:
    """Apps are told that their consents ended, whoever got something of the person is asked to delete it, and the
    aggregator to end what it did not end yet."""
    request_for_erasure(erasure)
    consents.notify_withdrawn(ProcessingConsent.objects.filter(user=erasure.user_id).order_by("pk"), database_now())
    for item in Item.objects.filter(user=erasure.user_id, access_token__isnull=False).order_by("pk"):
        token = _opened(item.access_token)
        if token and settings.AGGREGATOR:
            at = Receiver(f"{origin_of(settings.AGGREGATOR['url'])}#{item.item_id}", agent=AGGREGATOR)
            request_end_of_access(erasure, at=at, token=token)


def export(user: User) -> dict[str, Any]:
    """Analyses and numbers in clear: they are encrypted with the server's own key alone; null where that is gone."""
    messages = OutboundMessage.objects.filter(consent__user=user).order_by("pk")
    return {
        "processing_consents": consents.listed(user),
        "analyses": [_analysis(run) for run in Run.objects.filter(user=user).order_by("pk").prefetch_related("steps")],
        "corrections": [
            {"field": row.field, "value": _opened(row.value), "at": row.at}
            for row in Correction.objects.filter(user=user).order_by("pk")
        ],
        "messages": list(messages.values("message_id", "template__name", "status", "created_at")),
        "sent_to_destinations": [
            {
                "activation_id": sending.activation_id,
                "analysis_id": sending.run.analysis_id if sending.run else None,
                "destination": sending.destination.described,
                "status": sending.status,
                "digest": sending.digest,
                "created_at": sending.created_at,
                "finished_at": sending.finished_at,
            }
            for sending in activations_of_person(user)
        ],
        "deletions_elsewhere": [
            deletion_queries.body(row) for row in deletion_queries.deletions_of_person(user).iterator()
        ],
        "linked_accounts": list(Item.objects.filter(user=user).values("item_id", "institution", "status")),
        "phone_numbers": [_opened(row.number) for row in PhoneNumber.objects.filter(user=user).order_by("pk")],
    }


def _analysis(run: Run) -> dict[str, Any]:
    return {
        "analysis_id": run.analysis_id,
        "status": run.status,
        "input": _opened(run.input),
        "profile": _opened(run.profile),
        "steps": [
            {
                "agent": step.agent,
                "status": step.status,
                "reply": _opened(step.reply),
                "conversation": _opened(step.conversation),
            }
            for step in run.steps.all()
        ],
    }


def _opened(sealed: str | None) -> str | None:
    try:
        return encryption.opened(sealed) if sealed else None
    except encryption.DecryptionFailed:
        return None


ROOM = RoomErasure(
    name="agents",
    order=40,
    rows=ROWS,
    tables=TABLES,
    outcomes=outcomes,
    ends=unlink,
    before_rows=notify_receivers,
    afterwards=answers_after,
    export=export,
)
