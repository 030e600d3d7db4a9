"""The sandbox's addresses: whom a test app plays, their clock, and the owner's addresses for a person played."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.owner_api import OwnerView
from common.admission.schemas import Nothing
from common.json_bodies import json_answer
from common.operations import operation, path_parameter, query_parameter
from common.problems import TooManyRequests
from consent import errors
from consent.decisions import expiry
from consent.sandbox import actions, queries, schemas
from consent.sandbox.acting import ActingByToken, SandboxView
from consent.sandbox.errors import TooManySandboxPeople
from consent.schemas import DecisionBody, ExportBody, ResumeBody, RevokeBody
from consent.shapes import ConsentStatus
from consent.web import owner_api
from developers.app_events import ProcessingNotice
from pkm import errors as vault_errors
from pkm.web import api as vault_api
from pkm.web.schemas import DeleteQuery, KeysBody, SegmentBody, SigningKeyBody, WrapperBody

_PLACE = [
    path_parameter("domain", "A domain of the registry.", "lifestyle"),
    path_parameter("segment_id", "Its segment.", "food"),
]
_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}


class People(SandboxView):
    """`/sandbox/people`: the app's sandbox people."""

    body_required = False

    def note_limits(self) -> None:
        if self.request.method == "POST" and not self.limits:
            self.note(actions.made_people(app_pk=self.app.app_pk))

    @operation(
        name="listSandboxPeople",
        summary="Your sandbox people",
        description="The newest first.",
        answers={200: schemas.SandboxPeople},
    )
    def get(self, request: Request) -> HttpResponse:
        return json_answer({"people": queries.people_of_app(app_pk=self.app.app_pk)})

    @operation(
        name="makeSandboxPerson",
        summary="Make a person to play",
        description="A person with an empty vault, whom your test app alone reaches. Nobody can sign in as them, and "
        "they get no mail. A test app has at most 20, and makes at most 1,000 in 24 hours; delete those that a test "
        "run no longer needs.",
        body=schemas.SandboxPersonBody,
        answers={201: schemas.SandboxPerson},
        refusals=[TooManySandboxPeople, TooManyRequests],
    )
    def post(self, request: Request) -> HttpResponse:
        label = self.body(schemas.SandboxPersonBody).label or ""
        return json_answer(queries.shown(actions.make_person(app_pk=self.app.app_pk, label=label)), status=201)


class EventThrottle(BaseThrottle):
    """How many events an app may be told of in an hour; a call that does not fit counts too."""

    def allow_request(self, request: Request, view: Any) -> bool:
        view.note(actions.admit_event(app_pk=view.app.app_pk))
        return True


class Events(SandboxView):
    """`/sandbox/events`: what agents would tell the app of."""

    throttle_classes = (EventThrottle,)

    def note_limits(self) -> None:
        if not self.limits:
            self.note(actions.counted_events(app_pk=self.app.app_pk))

    @operation(
        name="tellSandboxEvent",
        summary="Have your test app told of an event of agents",
        description="One event of profile agents' processing in your app's sequence, by stream and webhook as a real "
        "one is, about IDs that there are not. Agents ask people who sign in, and nobody signs in as a sandbox person. "
        "At most 600 an hour.",
        body=schemas.SandboxEventBody,
        answers={201: ProcessingNotice},
        refusals=[TooManyRequests],
    )
    def post(self, request: Request) -> HttpResponse:
        event = self.body(schemas.SandboxEventBody).type
        return json_answer(actions.record_processing(app_pk=self.app.app_pk, event=event), status=201)


class Person(ActingByToken):
    """`/sandbox/people/{user_id}`: one of them."""

    @operation(
        name="deleteSandboxPerson",
        summary="Delete a sandbox person",
        description="What waits for them ends as `expired`, what they share as `terminated`, with receipts and "
        "notices as ever; their vault is destroyed.",
        answers={204: None},
    )
    def delete(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        actions.delete_person(of=self.person)
        return HttpResponse(status=204)


class Connections(ActingByToken):
    """`/sandbox/people/{user_id}/connections`: what they do with a connection of the app."""

    @operation(
        name="answerConnectionForSandboxPerson",
        summary="Connect or decline for a sandbox person",
        description="As they would on the page that `connect_url` opens, or after typing the code. `return_to` is "
        "where their browser would go once they decided on what rides along: complete the connection with its code.",
        body=schemas.SandboxConnectionBody,
        answers={200: schemas.SandboxConnection},
        refusals=[errors.UnknownConnection, errors.ConnectionEnded],
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(schemas.SandboxConnectionBody)
        person = self.person
        answered = actions.answer_connection(
            app_pk=self.app.app_pk, by=person, connection_id=body.connection_id, connects=body.decision == "connect"
        )
        return json_answer(answered)


class Clock(OwnerView):
    """`POST …/clock`: everything of that person ends that would end within `seconds`."""

    def post(self, request: Request) -> HttpResponse:
        expiry.expire_ahead(of=self.person, seconds=self.body(schemas.ClockBody).seconds)
        return json_answer({})


@dataclass(frozen=True)
class Endpoint:
    """An owner's address about the person whom the path names, and what its methods do for an app; `made_with`: the
    arguments of `as_view`.
    """

    address: str
    view: type[OwnerView]
    operations: Mapping[str, operation]
    made_with: Mapping[str, Any]


def _endpoint(
    address: str, view: type[OwnerView], made_with: Mapping[str, Any] = {}, **operations: operation
) -> Endpoint:
    return Endpoint(address, view, operations, made_with)


ENDPOINTS = (
    _endpoint(
        "keys",
        vault_api.Keys,
        get=operation(
            name="getSandboxVaultKeys",
            summary="A sandbox person's vault and the ways into it",
            description="`absent` and without wrappers before the vault is made.",
            answers={200: schemas.VaultKeys},
        ),
        post=operation(
            name="makeSandboxVault",
            summary="Make a sandbox person's vault",
            description="Your program makes the vault key and holds it, as a browser does for a person: what is "
            "sent is sealed under a secret of your own. Both clients do this in one call.",
            body=KeysBody,
            answers={201: schemas.VaultKeys},
            refusals=[vault_errors.VaultExists, vault_errors.WrapperMismatch, vault_errors.ApprovalMismatch],
        ),
    ),
    _endpoint(
        "signing-key",
        vault_api.SigningKey,
        put=operation(
            name="setSandboxSigningKey",
            summary="Set or replace the root of a sandbox person's approvals",
            description="The first root of a vault that was made without one; afterwards only with a `rotation`, "
            "a list of JWS in the general JSON form that the old and the new key signed: one for the root, then "
            "one for each app.",
            body=SigningKeyBody,
            answers={200: schemas.VaultKeys},
            refusals=[vault_errors.RotationRequired, vault_errors.ApprovalMismatch, vault_errors.VaultAbsent],
        ),
    ),
    _endpoint(
        "wrappers",
        vault_api.Wrappers,
        post=operation(
            name="addSandboxWrapper",
            summary="Add a way into a sandbox person's vault",
            description="The vault key sealed under another secret.",
            body=WrapperBody,
            answers={201: schemas.VaultWrapper},
            refusals=[vault_errors.VaultAbsent, vault_errors.TooManyWrappers, vault_errors.WrapperMismatch],
        ),
    ),
    _endpoint(
        "wrappers/<str:wrapper_id>",
        vault_api.Wrapper,
        delete=operation(
            name="removeSandboxWrapper",
            summary="Remove a way into a sandbox person's vault",
            description="The last one stays.",
            parameters=[path_parameter("wrapper_id", "As the vault's keys tell it.", schemas.EXAMPLE_WRAPPER_ID)],
            answers={204: None},
            refusals=[vault_errors.LastWrapper],
        ),
    ),
    _endpoint(
        "segments",
        vault_api.Segments,
        get=operation(
            name="listSandboxSegments",
            summary="What a sandbox person keeps, sealed",
            description="The segments that a scope covers or a domain holds; all of them without either.",
            parameters=[
                query_parameter(
                    "scope", "Only what this scope covers.", {"type": "string", "minLength": 1, "maxLength": 210}
                ),
                query_parameter("domain", "Only this domain.", _NAME),
            ],
            answers={200: schemas.VaultSegments},
        ),
    ),
    _endpoint(
        "segments/<str:domain>/<str:segment_id>",
        vault_api.Segment,
        put=operation(
            name="writeSandboxSegment",
            summary="Write a segment of a sandbox person",
            description="Over the revision that you name, 0 for a new segment: nothing is overwritten unseen.",
            parameters=_PLACE,
            body=SegmentBody,
            answers={200: schemas.SegmentRevisions},
            refusals=[
                vault_errors.NotesMismatch,
                vault_errors.SegmentMismatch,
                vault_errors.StaleRevision,
                vault_errors.TooManyAttributes,
                vault_errors.VaultAbsent,
                vault_errors.QuotaExceeded,
            ],
        ),
        delete=operation(
            name="deleteSandboxSegment",
            summary="Delete a segment of a sandbox person",
            description="At the revision that you name. Its counting goes on.",
            parameters=_PLACE,
            query=DeleteQuery,
            answers={200: schemas.SegmentRevisions},
            example={"content_revision": 2, "attributes": [], "size_bytes": 0},
            refusals=[vault_errors.StaleRevision],
        ),
    ),
    _endpoint(
        "requests/<str:request_id>/data",
        owner_api.RequestDataView,
        get=operation(
            name="getSandboxRequestData",
            summary="What a sandbox person is asked",
            description="What their browser would check, show and seal to: recompute the digest before you decide.",
            answers={200: schemas.RequestData},
            refusals=[errors.UnknownRequest],
        ),
    ),
    _endpoint(
        "requests/<str:request_id>/decision",
        owner_api.DecisionView,
        post=operation(
            name="decideForSandboxPerson",
            summary="Approve or deny for a sandbox person",
            description="To approve, seal the approved attributes to the connector key, as a browser does for a "
            "person; both clients do it in one call. To deny, send `decision` with the value `deny`.",
            body=DecisionBody,
            answers={200: ConsentStatus},
            refusals=[
                errors.UnknownRequest,
                errors.AlreadyDecided,
                errors.RequestExpired,
                errors.RequestChanged,
                errors.InvalidAttributes,
                errors.RequiredAttributeMissing,
                errors.InvalidDuration,
                errors.ExportMismatch,
                vault_errors.ApprovalMismatch,
                vault_errors.NotesMismatch,
                vault_errors.StaleRevision,
                vault_errors.QuotaExceeded,
            ],
        ),
    ),
    _endpoint(
        "grants/<str:grant_id>/revoke",
        owner_api.GrantMoveView,
        post=operation(
            name="revokeForSandboxPerson",
            summary="Stop sharing",
            description="Ends the approval; its export is deleted.",
            body=RevokeBody,
            answers={200: ConsentStatus},
            example={"grant": {"status": "revoked"}},
            refusals=[
                errors.UnknownGrant,
                errors.MoveNotAllowed,
                vault_errors.NotesMismatch,
                vault_errors.StaleRevision,
            ],
        ),
        made_with={"move": "revoke"},
    ),
    _endpoint(
        "grants/<str:grant_id>/pause",
        owner_api.GrantMoveView,
        post=operation(
            name="pauseForSandboxPerson",
            summary="Pause sharing",
            description="Nobody reads until it is resumed.",
            body=Nothing,
            answers={200: ConsentStatus},
            example={"grant": {"status": "paused"}},
            refusals=[errors.UnknownGrant, errors.MoveNotAllowed],
        ),
        made_with={"move": "pause"},
    ),
    _endpoint(
        "grants/<str:grant_id>/resume",
        owner_api.ResumeView,
        post=operation(
            name="resumeForSandboxPerson",
            summary="Resume sharing",
            description="Reads go on until the approval's old end. It opens reading again, so the vault signs "
            "it: a `consent-resume+jwt` that names the nonce.",
            body=ResumeBody,
            answers={200: ConsentStatus},
            refusals=[errors.UnknownGrant, errors.MoveNotAllowed, vault_errors.ApprovalMismatch],
        ),
    ),
    _endpoint(
        "grants/<str:grant_id>/approval",
        owner_api.StandingApprovalView,
        get=operation(
            name="getSandboxApproval",
            summary="What a sandbox person's vault signed last",
            description="A refreshed export repeats its duration and its end.",
            answers={200: schemas.StandingApproval},
            refusals=[errors.UnknownGrant],
        ),
    ),
    _endpoint(
        "grants/<str:grant_id>/nonce",
        owner_api.GrantNonceView,
        get=operation(
            name="getSandboxResumeNonce",
            summary="What a resumption has to name",
            description="Good once, and for ten minutes.",
            answers={200: schemas.ResumeNonce},
            refusals=[errors.UnknownGrant],
        ),
    ),
    _endpoint(
        "grants/<str:grant_id>/export",
        owner_api.GrantExportView,
        put=operation(
            name="refreshForSandboxPerson",
            summary="Keep a continuous approval up to date",
            description="The next revision of the export, sealed from what the person keeps now.",
            body=ExportBody,
            answers={200: ConsentStatus},
            example={"grant": {"export_revision": 2}},
            refusals=[
                errors.UnknownGrant,
                errors.MoveNotAllowed,
                errors.ExportMismatch,
                vault_errors.ApprovalMismatch,
                vault_errors.NotesMismatch,
                vault_errors.StaleRevision,
                vault_errors.QuotaExceeded,
            ],
        ),
    ),
    _endpoint(
        "clock",
        Clock,
        post=operation(
            name="moveSandboxClock",
            summary="Let a sandbox person's time pass",
            description="Everything of theirs whose `expires_at` lies within `seconds` from now ends as "
            "`expired`, with receipt, notice and webhook as at a real expiry, and dated by its deadline. No "
            "stored time changes: what you ask for afterwards has its whole time.",
            body=schemas.ClockBody,
            answers={200: schemas.Empty},
        ),
    ),
)
