"""The owner's JSON addresses about requests and grants (contract 2): a session with its CSRF token, never a token."""

from typing import Any, Literal

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext
from pydantic import Field
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from common.admission.schemas import Nothing, Strict
from common.json_bodies import json_answer
from common.problems import InvalidRequest, checked
from consent import status
from consent.approvals import actions as approval_actions
from consent.decisions import actions as decision_actions
from consent.decisions import queries as decision_queries
from consent.exports import actions as export_actions
from consent.grants import actions as grant_actions
from consent.ledger import proofs
from consent.schemas import ApproveBody, DenyBody, ExportBody, ResumeBody, RevokeBody
from consent.web import inbox
from consent.web import queries as web_queries


class ChainQuery(Strict):
    """Which entry of the chain the person's browser has seen last."""

    after: str = Field("0", pattern=r"^(0|[1-9][0-9]{0,8})\Z")


class _OwnerView(OwnerView):
    def status(self, request_id: str) -> HttpResponse:
        return json_answer(status.for_owner(request_id=request_id, user=self.person))


def _unshown_messages(request: Request) -> list[str]:
    """What the next page will say; it still will."""
    storage: Any = messages.get_messages(request)
    texts = [message.message for message in storage]
    if texts:  # else there is nothing to keep, and a program's call has no storage
        storage.used = False
    return texts


class RequestDataView(_OwnerView):
    """`GET /consent/requests/{request_id}/data`: what the browser checks, shows and seals to."""

    def get(self, request: Request, request_id: str) -> HttpResponse:
        return json_answer(decision_queries.request_data(user=self.person, request_id=request_id))


class DecisionView(_OwnerView):
    """`POST /consent/requests/{request_id}/decision`: approve or deny; answers the status body."""

    def post(self, request: Request, request_id: str) -> HttpResponse:
        decision = request.data.get("decision") if isinstance(request.data, dict) else None
        if decision == "deny":
            denial = self.body(DenyBody)
            decision_actions.deny(request_id=request_id, by=self.person, reason=denial.reason or "")
        elif decision == "approve":
            approval = self.body(ApproveBody)
            self._require_recent_sign_in_for_restricted(request_id)
            decision_actions.approve(request_id=request_id, by=self.person, body=approval)
        else:
            raise InvalidRequest(
                "These members do not fit: decision.",
                errors=[
                    {"field": "decision", "code": "literal_error", "message": "Input should be 'approve' or 'deny'"}
                ],
            )
        return self.status(request_id)

    def _require_recent_sign_in_for_restricted(self, request_id: str) -> None:
        """Restricted data leaves only soon after a sign-in. What was decided already says so instead."""
        data = decision_queries.request_data(user=self.person, request_id=request_id)
        if data["status"] == "pending" and data["scope_entry"]["sensitivity_tier"] == "restricted":
            self.require_recent_sign_in()


class CopiesQuery(Strict):
    """Which copies are told of: those that are outdated, or `also` the current ones."""

    also: Literal["current"] | None = None


class OutdatedCopiesView(_OwnerView):
    """`GET /consent/grants/outdated`: what the browser seals anew; {"grants": [queries.exports_to_refresh]}."""

    takes_query = True

    def get(self, request: Request) -> HttpResponse:
        all_kept = self.query(CopiesQuery).also is not None
        return json_answer({"grants": web_queries.exports_to_refresh(self.person, all_kept=all_kept)})


class InboxNewsView(_OwnerView):
    """`GET /consent/inbox/news`: what an open inbox asks every few seconds; {"waiting", "newest"} (inbox.news_of)."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer(inbox.news_of(self.person))


class ChainView(_OwnerView):
    """`GET /consent/history/chain?after=`: the person's audit chain, for their own browser to compute again."""

    takes_query = True

    def get(self, request: Request) -> HttpResponse:
        query = checked(ChainQuery, request.query_params.dict())  # of a repeated `after` the last one counts here
        return json_answer(proofs.chain_of(user=self.person, after=int(query.after)))


class GrantNonceView(_OwnerView):
    """`GET /consent/grants/{grant_id}/nonce`: what the next resumption has to name; {"nonce"}."""

    def get(self, request: Request, grant_id: str) -> HttpResponse:
        return json_answer({"nonce": approval_actions.give_nonce(grant_id=grant_id, by=self.person)})


class StandingApprovalView(_OwnerView):
    """`GET /consent/grants/{grant_id}/approval`: what the person's vault signed, which a refresh repeats."""

    def get(self, request: Request, grant_id: str) -> HttpResponse:
        return json_answer(approval_actions.newest_approval(grant_id=grant_id, by=self.person))


class ApprovalKeysView(_OwnerView):
    """`GET /consent/approval-keys`: what somebody needs to replace the root of their approvals."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer(approval_actions.keys_of(self.person))


class ResumeView(_OwnerView):
    """`POST /consent/grants/{grant_id}/resume`: opening reading again is signed as an approval is."""

    def post(self, request: Request, grant_id: str) -> HttpResponse:
        body = self.body(ResumeBody)
        request_id = approval_actions.resume(grant_id=grant_id, by=self.person, body=body)
        # the page loads itself again then, and says so; the sandbox has neither
        text = gettext("Resumed. The app can read again until the date shown.")
        if text not in _unshown_messages(request):  # of several that are resumed one after the other it is said once
            messages.success(request, text, fail_silently=True)
        return self.status(request_id)


class GrantMoveView(_OwnerView):
    """`POST /consent/grants/{grant_id}/revoke | pause`, which need no signature; answers the status body."""

    move = ""

    def post(self, request: Request, grant_id: str) -> HttpResponse:
        if self.move == "pause":
            self.body(Nothing)
            return self.status(grant_actions.pause(grant_id=grant_id, by=self.person))
        notes = self.body(RevokeBody).notes
        return self.status(grant_actions.revoke(grant_id=grant_id, by=self.person, notes=notes))


class GrantExportView(_OwnerView):
    """`PUT /consent/grants/{grant_id}/export`: a newer revision under a continuous grant; answers the status body."""

    def put(self, request: Request, grant_id: str) -> HttpResponse:
        body = self.body(ExportBody)
        return self.status(export_actions.refresh_export(grant_id=grant_id, by=self.person, body=body))
