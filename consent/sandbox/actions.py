"""Making people to play, and ending them. What they decide are the owner's own actions."""

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from accounts.identifiers import new_user_id, sandbox_address
from common.clock import database_now
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.sandbox.errors import TestModeRequired, TooManySandboxPeople
from consent.sandbox.models import SandboxPerson
from consent.states import LIVE_GRANTS, Actor, GrantStatus, RequestStatus
from developers.models import App, AppPerson
from pkm.segments.actions import destroy_vault

if TYPE_CHECKING:
    from accounts.models import User

MOST_PEOPLE = 20  # of an app


@transaction.atomic
def make_person(*, app_pk: int, label: str = "") -> SandboxPerson:
    """A person with an empty vault whom this test app alone reaches, and nobody signs in as.

    Raises `TestModeRequired`, `TooManySandboxPeople`.
    """
    app = App.objects.select_for_update(no_key=True).get(pk=app_pk)  # two at once are counted one after the other
    if not app.is_test:
        raise TestModeRequired
    if SandboxPerson.objects.filter(app=app).count() >= MOST_PEOPLE:
        raise TooManySandboxPeople(f"A test app has at most {MOST_PEOPLE} sandbox people; delete one first.")
    user_id = new_user_id()
    user = get_user_model().objects.create_user(sandbox_address(user_id), public_id=user_id, display_name=label)
    AppPerson.objects.create(app=app, user=user, pairwise_id=user_id)
    return SandboxPerson.objects.create(app=app, user=user, label=label)


@transaction.atomic
def delete_person(*, of: "User") -> None:
    """End what waits as expired, what is shared as terminated, and destroy the vault. What was done stays on record.

    The account stays too, as history names it, but nobody reaches it any more.
    """
    if not SandboxPerson.objects.select_for_update().filter(user=of).delete()[0]:
        return  # somebody else was faster
    of.is_active = False
    of.save(update_fields=["is_active", "updated_at"])
    now = database_now()
    # all of them before the first is written down: requests and grants are locked before any head
    requests = ConsentRequest.objects.select_for_update().filter(user=of, status=RequestStatus.PENDING).order_by("pk")
    grants = Grant.objects.select_for_update().filter(user=of, status__in=LIVE_GRANTS).order_by("pk")
    waiting, shared = list(requests), list(grants)
    for request in waiting:
        close_request(
            request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now, clock=request.expires_at
        )
    for grant in shared:
        end = GrantStatus.TERMINATED if grant.is_live(now) else GrantStatus.EXPIRED
        end_grant(grant_pk=grant.pk, to=end, actor=Actor.SYSTEM, at=now)
    destroy_vault(of=of)
