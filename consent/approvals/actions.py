"""What becomes of the apps' keys when the root of a person's approvals changes, and the nonces of resuming."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from common.clock import database_now
from consent.approvals.models import ApprovalKey
from consent.approvals.policies import check_resumption
from consent.errors import UnknownGrant
from consent.event_types import EventType
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.protection import append_or_defer, own_entry
from consent.schemas import ResumeBody
from developers.people import names_of
from pkm import sealed, signatures
from pkm import signing as signing_queries
from pkm.errors import ApprovalMismatch
from pkm.hooks import NotesState, RootChange
from pkm.signing import check_step

NONCE_LIFETIME = timedelta(minutes=10)
_EVENTS = {
    "set": EventType.SIGNING_KEY_SET,
    "replaced": EventType.SIGNING_KEY_REPLACED,
    "given_up": EventType.SIGNING_KEY_GIVEN_UP,
}


def write_root_change(user: User, change: RootChange, **_: object) -> None:
    """An entry in the person's chain; a new root carries the key of every app over. Inside the change's transaction."""
    if change.change == "replaced":
        _carry_over(user, change)
    facts = {"old": change.old or None, "new": change.new or None}
    audit.append(**own_entry(user, _EVENTS[change.change], facts))


def write_vault_state(user: User, state: NotesState, **_: object) -> None:
    """An entry in the person's chain, by which a device that saw nothing before knows older notes from the newest.

    What protects a person comes with notes, too, so that it waits where it cannot be written.
    """
    append_or_defer(**own_entry(user, EventType.VAULT_STATE, state._asdict()), about=state.key_id)


def _carry_over(user: User, change: RootChange) -> None:
    """One step for each app that knows a key: none may be left to be told of another without proof."""
    keys = {key.app.app_id: key for key in _of_this_address(user)}
    steps: dict[str, Any] = {}
    for step in change.rotation:
        steps[str(_claims(step).get("aud"))] = step
    if steps.keys() != keys.keys() or len(steps) != len(change.rotation):
        named = sorted(keys.keys() ^ steps.keys())
        raise ApprovalMismatch(f"aud: the rotation does not fit these apps: {', '.join(named[:5])}.", member="aud")
    names = names_of(user.pk, [key.app_id for key in keys.values()])
    for app_id, step in steps.items():
        key = keys[app_id]
        _take_step(key, app_id, step, root=change.new, subject=names[key.app_id])


def _of_this_address(user: User) -> QuerySet[ApprovalKey]:
    """What apps know of this person here; what was made for an address that the service had before is of no use."""
    return ApprovalKey.objects.filter(user=user, issuer=settings.ISSUER).select_related("app")


def _claims(step: Any) -> dict[str, Any]:
    """What a step says, unchecked: it names the new key, which its signature is then checked with."""
    try:
        return signatures.unchecked_claims(step)
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"The rotation: {unfit}.", member=unfit.member) from None


def _take_step(key: ApprovalKey, app_id: str, step: Any, *, root: str, subject: str) -> None:
    try:
        public = signatures.check_public_key(_claims(step).get("new"), "new")
        check_step(step, subject=subject, audience=app_id, seq=len(key.history) + 1, keys=(key.public_key, public))
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"The rotation for {app_id}: {unfit}.", member=unfit.member) from None
    key.public_key, key.root, key.history = public, root, [*key.history, step]
    key.save()


@transaction.atomic
def give_nonce(*, grant_id: str, by: User) -> str:
    """What the next resumption of this grant has to name; one at a time, for ten minutes. Raises `UnknownGrant`."""
    nonce = secrets.token_urlsafe(24)
    until = database_now() + NONCE_LIFETIME
    own = Grant.objects.filter(grant_id=grant_id, user=by)
    if not own.update(resume_nonce=nonce, resume_nonce_until=until):
        raise UnknownGrant
    return nonce


def newest_approval(*, grant_id: str, by: User) -> dict[str, Any]:
    """What the next revision of an export repeats, for the person whose vault signed it: {"request_id", "approval":
    the newest one's JWS, "access_duration", "ends_at"}. Raises `UnknownGrant`."""
    grant = Grant.objects.select_related("request").filter(grant_id=grant_id, user=by).first()
    if grant is None:
        raise UnknownGrant
    approvals = grant.exports.order_by("-revision").values_list("approval", flat=True)
    return {
        "request_id": grant.request.request_id,
        "approval": approvals.first(),
        "access_duration": int((grant.expires_at - grant.starts_at).total_seconds()),
        "ends_at": int(grant.expires_at.timestamp()),
    }


def keys_of(user: User) -> dict[str, Any]:
    """What a new root is signed with: {"issuer", "rotations": how often the root was replaced, "keys": [{"app_id",
    "user_id", "approval_key", "seq"}], what each app calls the person, the key that it knows and how many steps led
    to that}."""
    rows = list(_of_this_address(user).order_by("pk"))
    names = names_of(user.pk, [row.app_id for row in rows])
    keys = [
        {
            "app_id": row.app.app_id,
            "user_id": names[row.app_id],
            "approval_key": row.public_key,
            "seq": len(row.history),
        }
        for row in rows
    ]
    return {"issuer": settings.ISSUER, "rotations": signing_queries.rotations_of(user), "keys": keys}


def resume(*, grant_id: str, by: User, body: ResumeBody) -> str:
    """Let a paused grant go on, as the person's vault signed it; returns the request's id.

    Raises `UnknownGrant`, `MoveNotAllowed`, `ApprovalMismatch`.
    """

    def signed(grant: Grant, at: datetime) -> str:
        return check_resumption(grant=grant, by=by, body=body, at=at)

    return grant_actions.resume(grant_id=grant_id, by=by, signed=signed)
