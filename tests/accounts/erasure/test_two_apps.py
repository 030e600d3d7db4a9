"""A person whom two apps know is erased: nothing tells any more that the apps' names are one person's."""

from io import StringIO

from django.core.management import call_command

from accounts.erasure.actions import erase
from accounts.models import SharingId
from consent.decisions import actions as decision_actions
from consent.ledger import verifying
from consent.ledger.models import AuditEntry
from developers.models import AppPerson
from tests import factories
from tests.accounts.erasure.test_erasing import due
from tests.callers import Developer


def test_both_apps_keep_what_they_asked_and_reach_nobody(db: None) -> None:
    user = factories.give_vault(factories.PersonFactory()).user
    asked = [factories.ConsentRequestFactory(user=user) for _ in range(2)]
    factories.invitation_of(user)
    kept = factories.ConsentRequestFactory(app=asked[0].app)
    for request in (*asked, kept):
        decision_actions.deny(request_id=request.request_id, by=request.user)
    names = {request.pairwise_id for request in asked}
    told = AuditEntry.objects.filter(kept__about__in=names)
    assert (len(names), told.count()) == (2, 2)

    assert erase(erasure_pk=due(user).pk)

    assert not AppPerson.objects.filter(user=user).exists()
    assert not SharingId.objects.exists()
    assert not told.exists()
    assert AuditEntry.objects.filter(kept__about=kept.pairwise_id).exists()
    assert list(verifying.verify()) == []
    call_command("verify_audit", stdout=StringIO())
    for request in asked:
        api = Developer.of(request.app)
        assert api.get("/consent-status", request_id=request.request_id).json()["user_id"] == request.pairwise_id
        assert api.get(f"/user-scopes/{request.pairwise_id}").json()["code"] == "unknown_user"
