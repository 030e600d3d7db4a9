"""A person whom two apps know is erased: nothing tells any more that the apps' names are one person's."""

from io import StringIO

from django.core.management import call_command
from django.db import transaction

from accounts.erasure.actions import erase
from accounts.models import SharingId, User
from consent.decisions import actions as decision_actions
from consent.ledger import verifying
from consent.ledger.models import AuditEntry
from consent.notices.models import Notice
from consent.notices.webhooks import message_id
from developers.models import AppPerson
from tests import factories
from tests.accounts.erasure.test_erasing import due
from tests.callers import Developer


def test_both_apps_keep_what_they_asked_and_reach_nobody(db: None) -> None:
    user = factories.give_vault(factories.PersonFactory()).user
    requests = [factories.ConsentRequestFactory(user=user) for _ in range(2)]
    factories.invitation_of(user)
    kept = factories.ConsentRequestFactory(app=requests[0].app)
    for request in (*requests, kept):
        decision_actions.deny(request_id=request.request_id, by=request.user)
    names = {request.pairwise_id for request in requests}
    entries = AuditEntry.objects.filter(kept__about__in=names)
    assert (len(names), entries.count()) == (2, 2)

    assert erase(erasure_pk=due(user).pk)

    assert not AppPerson.objects.filter(user=user).exists()
    assert not SharingId.objects.exists()
    assert not entries.exists()
    assert AuditEntry.objects.filter(kept__about=kept.pairwise_id).exists()
    assert list(verifying.verify()) == []
    call_command("verify_audit", stdout=StringIO())
    for request in requests:
        api = Developer.of(request.app)
        assert api.get("/consent-status", request_id=request.request_id).json()["user_id"] == request.pairwise_id
        assert api.get(f"/user-scopes/{request.pairwise_id}").json()["code"] == "unknown_user"


def webhook_ids_of_ends() -> list[str]:
    """The `webhook-id` of each event by which apps hear that somebody stopped sharing: who has one acts once."""
    notices = Notice.objects.filter(kind="consent.revoked").select_related("app").order_by("app_id", "sequence")
    return [message_id(notice.app.app_id, notice.sequence) for notice in notices]


def test_who_comes_back_with_a_backup_is_erased_again_and_apps_are_told_once(db: None) -> None:
    user = factories.give_vault(factories.PersonFactory()).user
    grants = [factories.ExportFactory(grant__request__user=user).grant for _ in range(2)]
    factories.invitation_of(user)
    backup = transaction.savepoint()
    call_command("erase_person", user.public_id, yes=True, stdout=StringIO())
    first = webhook_ids_of_ends()

    transaction.savepoint_rollback(backup)  # every row is again as it was then
    assert (AppPerson.objects.filter(user=user).count(), SharingId.objects.count(), webhook_ids_of_ends()) == (2, 1, [])
    call_command("erase_person", user.public_id, yes=True, stdout=StringIO())

    assert not AppPerson.objects.filter(user=user).exists()
    assert not SharingId.objects.exists()
    assert User.objects.get(pk=user.pk).erased_at is not None
    assert webhook_ids_of_ends() == first == [message_id(grant.app.app_id, 1) for grant in grants]
    assert list(verifying.verify()) == []
    for grant in grants:
        name = grant.request.pairwise_id
        assert Developer.of(grant.app).get(f"/user-scopes/{name}").json()["code"] == "unknown_user"
