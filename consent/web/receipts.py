"""Receipts: in plain words, as a file, and a page that verifies any of them in the browser."""

from typing import Any, cast

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.authentication import signed_in_page
from accounts.models import User
from common.durations import duration
from consent.event_types import EventType
from consent.ledger import queries as ledger_queries
from consent.requests.models import ConsentRequest
from consent.requests.receipt_jsonld import JSON_LD, as_jsonld
from consent.shapes import Receipt
from consent.web import history
from pkm.registry import labels

# a receipt says them in words of its own
_RIGHTS = {
    "withdraw_consent": _("to stop at any time"),
    "access": _("to see what is kept"),
    "erasure": _("to have it erased"),
    "portability": _("to take it along"),
    "complaint": _("to complain to an authority"),
}


def _found(request: HttpRequest, receipt_id: str) -> Receipt:
    return ledger_queries.receipt_for_owner(user=cast("User", request.user), receipt_id=receipt_id)


@signed_in_page
def receipt(request: HttpRequest, receipt_id: str) -> HttpResponse:
    """Who, what, when and until when, as the signed text says it."""
    found = _found(request, receipt_id)
    return render(request, "consent/receipt.html", {**found, **_in_words(found["claims"]), "issuer": settings.ISSUER})


def _in_words(claims: dict[str, Any]) -> dict[str, Any]:
    consent_request = ConsentRequest.objects.select_related("app__application", "scope_entry").get(
        receipts__receipt_id=claims["receipt_id"]
    )
    event, retention = claims["event"], claims["retention"]
    kind = EventType(event["type"])
    if kind is EventType.EXPIRED and retention["expires_at"]:
        kind = EventType.GRANT_EXPIRED
    return {
        "consent_request": consent_request,
        "title": history.title_of(kind, consent_request),
        "at": parse_datetime(event["time"]),
        "until": parse_datetime(retention["expires_at"]) if retention["expires_at"] else None,
        "wanted": duration(retention["access_duration"]),
        "rights": [str(_RIGHTS.get(right, right)) for right in claims.get("rights", [])],
        "groups": labels.described(claims["pii_types"]),
    }


@signed_in_page
def download(request: HttpRequest, receipt_id: str) -> HttpResponse:
    """The person's own signed copy, to keep."""
    found = _found(request, receipt_id)
    headers = {"Content-Disposition": f'attachment; filename="{found["receipt_id"]}.jws"'}
    return HttpResponse(found["jws"], content_type="application/jose", headers=headers)


@signed_in_page
def linked_data(request: HttpRequest, receipt_id: str) -> HttpResponse:
    """The same claims in terms that others' tools know (W3C DPV), to keep beside the signed copy."""
    found = _found(request, receipt_id)
    headers = {"Content-Disposition": f'attachment; filename="{found["receipt_id"]}.jsonld"'}
    return HttpResponse(orjson.dumps(as_jsonld(found["claims"])), content_type=JSON_LD, headers=headers)


@require_safe
def verify(request: HttpRequest) -> HttpResponse:
    """A receipt that somebody holds, checked in their own browser: nothing of it is sent here. Open to all."""
    return render(request, "consent/verify.html", {"issuer": settings.ISSUER})
