"""What the OpenAPI document says of the sandbox's operations."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from common.admission.shapes import Nothing
from consent import errors
from consent import shapes as consent_shapes
from consent.api import samples as story
from consent.api.descriptions import SANDBOX
from consent.sandbox import samples, shapes
from consent.sandbox.errors import TestModeRequired, TooManySandboxPeople
from consent.sandbox.schemas import ClockBody, SandboxPersonBody
from consent.schemas import DecisionBody, ExportBody, ResumeBody, RevokeBody
from developers.operations import operation, path_parameter, query_parameter
from pkm import errors as vault_errors
from pkm.web.schemas import KeysBody, SegmentBody, SigningKeyBody, WrapperBody

_PERSON = path_parameter("user_id", "One of your sandbox people.", story.USER_ID)
_REQUEST = path_parameter("request_id", "A request of your app to this person.", story.REQUEST_ID)
_GRANT = path_parameter("grant_id", "As the status of the approved request tells it.", story.GRANT_ID)
_PLACE = [
    path_parameter("domain", "A domain of the registry.", "lifestyle"),
    path_parameter("segment_id", "Its segment.", "food"),
]
_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}


def _operation(*, parameters: list[OpenApiParameter] | None = None, refusals: Any = (), **said: Any) -> Any:
    """Of the sandbox as such: a test app's token is needed."""
    return operation(
        tag=SANDBOX,
        permission="`request`, of a token `cr_test_…`",
        parameters=parameters or [],
        refusals=[TestModeRequired, *refusals],
        **said,
    )


def _played(*, parameters: list[OpenApiParameter] | None = None, refusals: Any = (), **said: Any) -> Any:
    """Of one sandbox person, whom the app plays."""
    return _operation(parameters=[_PERSON, *(parameters or [])], refusals=[errors.UnknownUser, *refusals], **said)


make_person = _operation(
    name="makeSandboxPerson",
    summary="Make a person to play",
    description=(
        "A person with an empty vault, whom your test app alone reaches. Nobody can sign in as them, and they get no "
        "mail. A test app has at most 20; delete those that a test run no longer needs."
    ),
    body=SandboxPersonBody,
    body_example={"label": samples.LABEL},
    answers={201: shapes.SandboxPerson},
    example=samples.PERSON,
    refusals=[TooManySandboxPeople],
)
people = _operation(
    name="listSandboxPeople",
    summary="Your sandbox people",
    description="The newest first.",
    answers={200: shapes.SandboxPeople},
    example=samples.PEOPLE,
)
delete_person = _played(
    name="deleteSandboxPerson",
    summary="Delete a sandbox person",
    description=(
        "What waits for them ends as `expired`, what they share as `terminated`, with receipts and notices as ever; "
        "their vault is destroyed."
    ),
    answers={},
    example={},
    no_content=True,
)
move_clock = _played(
    name="moveSandboxClock",
    summary="Let a sandbox person's time pass",
    description=(
        "Everything of theirs whose `expires_at` lies within `seconds` from now ends as `expired`, with receipt, "
        "notice and webhook as at a real expiry, and dated by its deadline. No stored time changes: what you ask for "
        "afterwards has its whole time."
    ),
    body=ClockBody,
    body_example=samples.CLOCK,
    answers={200: shapes.Empty},
    example={},
)
keys = _played(
    name="getSandboxVaultKeys",
    summary="A sandbox person's vault and the ways into it",
    description="`absent` and without wrappers before the vault is made.",
    answers={200: shapes.VaultKeys},
    example=samples.KEYS,
)
make_vault = _played(
    name="makeSandboxVault",
    summary="Make a sandbox person's vault",
    description=(
        "Your program makes the vault key and holds it, as a browser does for a person: what is sent is sealed under "
        "a secret of your own. Both clients do this in one call."
    ),
    body=KeysBody,
    body_example=samples.NEW_KEYS,
    answers={201: shapes.VaultKeys},
    example=samples.KEYS,
    refusals=[vault_errors.VaultExists, vault_errors.WrapperMismatch, vault_errors.ApprovalMismatch],
)
set_signing_key = _played(
    name="setSandboxSigningKey",
    summary="Set or replace the root of a sandbox person's approvals",
    description=(
        "The first root of a vault that was made without one; afterwards only with a `rotation`, a list of JWS in the "
        "general JSON form that the old and the new key signed: one for the root, then one for each app."
    ),
    body=SigningKeyBody,
    body_example=samples.NEW_ROOT,
    answers={200: shapes.VaultKeys},
    example=samples.KEYS,
    refusals=[vault_errors.RotationRequired, vault_errors.ApprovalMismatch, vault_errors.VaultAbsent],
)
add_wrapper = _played(
    name="addSandboxWrapper",
    summary="Add a way into a sandbox person's vault",
    description="The vault key sealed under another secret.",
    body=WrapperBody,
    body_example=samples.NEW_WRAPPER,
    answers={201: shapes.VaultWrapper},
    example=samples.WRAPPER,
    refusals=[vault_errors.VaultAbsent, vault_errors.TooManyWrappers, vault_errors.WrapperMismatch],
)
remove_wrapper = _played(
    name="removeSandboxWrapper",
    summary="Remove a way into a sandbox person's vault",
    description="The last one stays.",
    parameters=[path_parameter("wrapper_id", "As the vault's keys tell it.", samples.WRAPPER_ID)],
    answers={},
    example={},
    no_content=True,
    refusals=[vault_errors.LastWrapper],
)
segments = _played(
    name="listSandboxSegments",
    summary="What a sandbox person keeps, sealed",
    description="The segments that a scope covers or a domain holds; all of them without either.",
    parameters=[
        query_parameter("scope", "Only what this scope covers.", {"type": "string", "minLength": 1, "maxLength": 210}),
        query_parameter("domain", "Only this domain.", _NAME),
    ],
    answers={200: shapes.VaultSegments},
    example=samples.SEGMENTS,
)
write_segment = _played(
    name="writeSandboxSegment",
    summary="Write a segment of a sandbox person",
    description="Over the revision that you name, 0 for a new segment: nothing is overwritten unseen.",
    parameters=_PLACE,
    body=SegmentBody,
    body_example=samples.NEW_SEGMENT,
    answers={200: shapes.SegmentRevisions},
    example=samples.REVISIONS,
    refusals=[
        vault_errors.SegmentMismatch,
        vault_errors.StaleRevision,
        vault_errors.TooManyAttributes,
        vault_errors.VaultAbsent,
        vault_errors.QuotaExceeded,
    ],
)
delete_segment = _played(
    name="deleteSandboxSegment",
    summary="Delete a segment of a sandbox person",
    description="At the revision that you name. Its counting goes on.",
    parameters=[
        *_PLACE,
        query_parameter(
            "base_content_revision",
            "The revision that you know.",
            {"type": "string", "pattern": "^(?:0|[1-9][0-9]{0,8})$"},
            required=True,
        ),
    ],
    answers={200: shapes.SegmentRevisions},
    example={**samples.REVISIONS, "content_revision": 2, "attributes": [], "size_bytes": 0},
    refusals=[vault_errors.StaleRevision],
)
request_data = _played(
    name="getSandboxRequestData",
    summary="What a sandbox person is asked",
    description="What their browser would check, show and seal to: recompute the digest before you decide.",
    parameters=[_REQUEST],
    answers={200: shapes.RequestData},
    example=samples.DATA,
    refusals=[errors.UnknownRequest],
)
decide = _played(
    name="decideForSandboxPerson",
    summary="Approve or deny for a sandbox person",
    description=(
        "To approve, seal the approved attributes to the connector key, as a browser does for a person; both clients "
        "do it in one call. To deny, send `decision` with the value `deny`."
    ),
    parameters=[_REQUEST],
    body=DecisionBody,
    body_example=samples.APPROVAL,
    answers={200: consent_shapes.ConsentStatus},
    example=story.STATUS,
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
)


def _move(
    name: str, summary: str, description: str, status: str, body: Any = Nothing, example: Any = None, also: Any = ()
) -> Any:
    return _played(
        name=name,
        summary=summary,
        description=description,
        parameters=[_GRANT],
        body=body,
        body_example=example or {},
        answers={200: consent_shapes.ConsentStatus},
        example={**story.STATUS, "grant": {**story.STATUS["grant"], "status": status}},
        refusals=[errors.UnknownGrant, errors.MoveNotAllowed, *also],
    )


revoke = _move(
    "revokeForSandboxPerson",
    "Stop sharing",
    "Ends the approval; its export is deleted.",
    "revoked",
    RevokeBody,
    also=[vault_errors.NotesMismatch, vault_errors.StaleRevision],
)
pause = _move("pauseForSandboxPerson", "Pause sharing", "Nobody reads until it is resumed.", "paused")
resume = _move(
    "resumeForSandboxPerson",
    "Resume sharing",
    "Reads go on until the approval's old end. It opens reading again, so the vault signs it: a `consent-resume+jwt` "
    "that names the nonce.",
    "active",
    ResumeBody,
    samples.RESUMPTION,
    [vault_errors.ApprovalMismatch],
)
standing_approval = _played(
    name="getSandboxApproval",
    summary="What a sandbox person's vault signed last",
    description="A refreshed export repeats its duration and its end.",
    parameters=[_GRANT],
    answers={200: shapes.StandingApproval},
    example=samples.STANDING,
    refusals=[errors.UnknownGrant],
)
nonce = _played(
    name="getSandboxResumeNonce",
    summary="What a resumption has to name",
    description="Good once, and for ten minutes.",
    parameters=[_GRANT],
    answers={200: shapes.ResumeNonce},
    example=samples.NONCE,
    refusals=[errors.UnknownGrant],
)
refresh = _played(
    name="refreshForSandboxPerson",
    summary="Keep a continuous approval up to date",
    description="The next revision of the export, sealed from what the person keeps now.",
    parameters=[_GRANT],
    body=ExportBody,
    body_example=samples.NEW_EXPORT,
    answers={200: consent_shapes.ConsentStatus},
    example={**story.STATUS, "grant": {**story.STATUS["grant"], "export_revision": 2}},
    refusals=[
        errors.UnknownGrant,
        errors.MoveNotAllowed,
        errors.ExportMismatch,
        vault_errors.ApprovalMismatch,
        vault_errors.NotesMismatch,
        vault_errors.StaleRevision,
        vault_errors.QuotaExceeded,
    ],
)
