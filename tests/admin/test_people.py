"""What staff do to grants, reports and accounts, and what they may not."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from accounts.models import User
from consent.decisions.models import ScopeWithdrawal
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from tests import factories
from tests.admin.staff_actions import act, list_of, messages
from tests.admin.test_second_factor import DEEDS
from tests.staff import at_the_admin


def test_ending_a_grant_asks_why_first(page, staff):
    export = factories.ExportFactory()
    grant = export.grant
    for reason in ({}, {"reason": ""}, {"reason": "two\nlines"}, {"reason": "x" * 281}):
        assert b"Why" in act(page, "consent", "grant", "end", grant, **reason).content
    assert Grant.objects.get().status == "active"
    done = act(page, "consent", "grant", "end", grant, reason="reported as fraud")
    assert messages(done) == ["1 grant was ended."]
    ended = Grant.objects.get()
    assert (ended.status, ended.ended_by) == ("terminated", "staff")
    assert ended.end_reason == f"{staff.public_id}: reported as fraud"
    entries = AuditEntry.objects.filter(kind="terminated")
    assert entries.of(f"person:{grant.user.public_id}").get().facts["reason"] == ended.end_reason
    assert entries.of(f"app:{grant.app.app_id}").get().facts["reason"] == "staff: reported as fraud"
    assert Export.objects.get().ciphertext is None
    assert messages(act(page, "consent", "grant", "end", grant, reason="again")) == ["0 grants were ended."]


def test_person_is_locked_out(page, person, owner):
    answer = page.post(reverse("admin:accounts_user_change", args=[person.pk]), {"groups": []})
    assert answer.status_code == 302
    assert User.objects.get(pk=person.pk).is_active is False
    assert owner.get("/vault/keys").status_code == 401


def test_staff_cannot_give_themselves_powers(person):
    helper = factories.PersonFactory(is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    page = at_the_admin(helper)
    body = {"is_active": "on", "is_staff": "on", "is_superuser": "on"}
    for who in (helper, person):
        assert page.post(reverse("admin:accounts_user_change", args=[who.pk]), body).status_code == 302
        assert User.objects.get(pk=who.pk).is_superuser is False
    assert User.objects.get(pk=person.pk).is_staff is False


def test_superuser_cannot_lock_themselves_out(page, staff):
    page.post(reverse("admin:accounts_user_change", args=[staff.pk]), {"groups": []})
    kept = User.objects.get(pk=staff.pk)
    assert (kept.is_active, kept.is_staff, kept.is_superuser) == (True, True, True)


@pytest.mark.parametrize("deed", DEEDS)
def test_staff_who_may_only_look_have_no_actions(db, deed):
    make, action, more = DEEDS[deed]
    row, helper = make(), factories.PersonFactory(is_staff=True)
    model, there = type(row), list_of(row._meta.app_label, row._meta.model_name)
    helper.user_permissions.add(Permission.objects.get(codename=f"view_{row._meta.model_name}"))
    page, before = at_the_admin(helper), list(model.objects.order_by("pk").values())
    assert page.get(f"{there}{row.pk}/change/").status_code == 200
    page.post(there, {"action": action, "_selected_action": [row.pk], **more})
    assert list(model.objects.order_by("pk").values()) == before
    assert not ScopeWithdrawal.objects.exists()
    assert f'value="{action}"' not in page.get(there).content.decode()


def test_nothing_about_a_request_changes_by_looking(page):
    request = factories.ConsentRequestFactory()
    before = ConsentRequest.objects.values().get()
    page.get(reverse("admin:consent_consentrequest_change", args=[request.pk]))
    assert ConsentRequest.objects.values().get() == before


@pytest.mark.parametrize("lookup", ["password__startswith", "password__gte", "email__regex", "photo_digest"])
def test_lists_answer_no_lookup_of_what_they_do_not_show(page, person, lookup):
    assert page.get("/admin/accounts/user/", {"is_staff__exact": "0"}).status_code == 200
    assert page.get("/admin/accounts/user/", {lookup: "a"}).status_code == 400
