"""Giving a vault up ends what apps may read of it, since whoever begins anew decides anew."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from consent.decisions import vault_resets
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditEntry
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.web.history import happened
from consent.web.history_filter import Chosen
from pkm.reset import actions as reset_actions
from pkm.reset.models import VaultReset
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import problem
from tests.factories import ExportFactory, GrantFactory

pytestmark = pytest.mark.django_db


def test_it_takes_the_heads_of_all_apps_before_it_ends_the_first(
    person: User, grant: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ExportFactory(grant__request__user=person)
    steps: list[str] = []
    for name in ("lock_heads", "end_grant"):
        work = getattr(vault_resets, name)
        step = partial(lambda name, work, *given, **named: (steps.append(name), work(*given, **named)), name, work)
        monkeypatch.setattr(vault_resets, name, step)

    with transaction.atomic():
        vault_resets.lock_grants(person)()

    assert steps == ["lock_heads", "end_grant", "end_grant"]


@pytest.mark.parametrize("paused", [False, True])
def test_every_approval_ends_when_the_vault_is_destroyed(
    api: Developer, person: User, grant: Grant, consent_request: ConsentRequest, paused: bool
) -> None:
    other = ExportFactory().grant
    over = GrantFactory(request__user=person, status="released", ended_at=timezone.now(), ended_by="app")
    if paused:
        grant_actions.pause(grant_id=grant.grant_id, by=person)
    reset_actions.request_reset(by=person)
    assert Grant.objects.get(pk=grant.pk).status == ("paused" if paused else "active")
    week_ago = timezone.now() - timedelta(days=7, seconds=1)
    VaultReset.objects.update(asked_at=week_ago, due_at=week_ago + timedelta(days=7))

    assert (reset_actions.carry_out_resets(), reset_actions.carry_out_resets()) == (1, 0)

    ended = Grant.objects.get(pk=grant.pk)
    assert (ended.status, ended.ended_by, ended.end_reason) == ("revoked", "system", "vault_reset")
    assert set(ended.exports.values_list("ciphertext", flat=True)) == {None}
    request = grant.request
    assert problem(api.get("/consent-export", request_id=request.request_id)) == (410, "grant_ended")
    assert api.get("/consent-status", request_id=request.request_id).json()["grant"]["status"] == "revoked"
    assert Notice.objects.filter(request=request, kind="consent.revoked").count() == 1
    assert [entry.facts["reason"] for entry in AuditEntry.objects.filter(kind="revoked")] == ["vault_reset"] * 2
    assert [line.title for line in happened(person, Chosen()) if line.kind == "ended_with_vault"] == [
        f"{request.app_name}'s access to “Food and drink” ended with the vault that you gave up"
    ]
    assert list(verifying.verify()) == []
    browser = signed_in(person).client
    for page in (f"/consent/apps/{grant.app.app_id}/", f"/consent/requests/{request.request_id}/"):
        assert "Ended with your old vault" in browser.get(page).content.decode()
    assert [Grant.objects.get(pk=one.pk).status for one in (other, over)] == ["active", "released"]
    assert ConsentRequest.objects.get(pk=consent_request.pk).status == "pending"
