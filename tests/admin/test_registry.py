"""What staff do to the registry, and what it touches."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission as PermissionRow
from django.urls import reverse

from consent.decisions.actions import approve
from consent.decisions.models import ScopeWithdrawal
from consent.decisions.withdrawals import finish_withdrawals
from consent.errors import AlreadyDecided
from consent.ledger import verifying
from consent.ledger.models import AuditEntry, Receipt
from consent.notices.models import Notice
from pkm.registry import copy as registry_copy
from pkm.registry.models import Domain, ScopeEntry
from tests import factories
from tests.admin.staff_actions import act, messages
from tests.consent.decisions import approval
from tests.staff import at_the_admin

FOOD = "attr.lifestyle.food.*"


def _entry_form(entry, **change):
    fields = {
        "scope_label": entry.scope_label,
        "description": entry.description,
        "domain": entry.domain_id or "",
        "attributes": "\n".join(entry.attributes),
        "sensitivity_tier": entry.sensitivity_tier,
        "max_access_duration_0": entry.max_access_duration // 3600,
        "max_access_duration_1": 3600,
    }
    return fields | change


def _save_entry(page, entry, **change):
    return page.post(reverse("admin:pkm_scopeentry_change", args=[entry.pk]), _entry_form(entry, **change))


def test_withdrawing_scopes_asks_first_and_says_what_it_touches(page):
    factories.give_vault(factories.PersonFactory())
    factories.give_vault(factories.PersonFactory(), {})
    factories.ConsentRequestFactory.create_batch(2)
    factories.GrantFactory()
    entry = ScopeEntry.objects.get(scope=FOOD)
    question = act(page, "pkm", "scopeentry", "withdraw", entry)
    assert [(str(line.what), line.number) for line in question.context["touched"]] == [
        ("people who keep such data", 1),
        ("requests that wait for a decision", 2),
        ("grants that are live", 1),
    ]
    assert FOOD in registry_copy.entries().by_scope
    done = act(page, "pkm", "scopeentry", "withdraw", entry, confirmed="yes")
    assert messages(done) == ["1 scope was withdrawn."]
    assert FOOD not in registry_copy.entries().by_scope


def _grant(scope):
    return factories.GrantFactory(request=factories.ConsentRequestFactory(scope=scope, status="approved"))


def _withdraw(page, *scopes, **more):
    entries = [ScopeEntry.objects.get(scope=scope) for scope in scopes or (FOOD,)]
    return act(page, "pkm", "scopeentry", "withdraw", *entries, confirmed="yes", **more)


def test_withdrawing_cancels_what_waits_and_leaves_grants_alone(page, staff):
    request, other = factories.ConsentRequestFactory(), factories.ConsentRequestFactory(scope="attr.brands.*")
    grant = factories.GrantFactory()
    _withdraw(page)
    assert finish_withdrawals() == 1
    for row in (request, other, grant):
        row.refresh_from_db()
    assert (request.status, request.decided_by) == ("cancelled", "staff")
    assert (other.status, grant.status) == ("pending", "active")
    entry = AuditEntry.objects.of(f"person:{request.user.public_id}").get()
    assert (entry.kind, entry.actor, entry.facts["by"]) == ("cancelled", "staff", staff.public_id)
    to_app = AuditEntry.objects.of(f"app:{request.app.app_id}").get().facts
    assert (to_app["by"], to_app["why"]) == ("staff", "staff withdrew the scope")
    assert staff.public_id not in str(to_app)
    assert Notice.objects.get(request=request).kind == "consent.cancelled"
    assert Receipt.objects.get(request=request).event == "cancelled"
    assert finish_withdrawals() == 0


def test_live_grants_end_where_staff_tick_it(page, staff):
    grant, other, paused = factories.GrantFactory(), _grant("attr.brands.*"), factories.GrantFactory(status="paused")
    factories.ExportFactory(grant=grant)
    entry = ScopeEntry.objects.get(scope=FOOD)
    question = act(page, "pkm", "scopeentry", "withdraw", entry).content.decode()
    assert "Also end these 2 live grants" in question
    assert "checked" not in question.split('name="ends_grants"')[1].split(">")[0]
    assert messages(_withdraw(page, ends_grants="yes")) == [
        "1 scope was withdrawn.",
        "Their live grants end within minutes.",
    ]
    assert finish_withdrawals() == 2
    for row in (grant, other, paused):
        row.refresh_from_db()
    assert (grant.status, grant.ended_by, grant.end_reason) == (
        "terminated", "staff", f"{staff.public_id}: staff withdrew the scope"
    )  # fmt: skip
    to_app = AuditEntry.objects.of(f"app:{grant.app.app_id}").get().facts
    assert to_app["reason"] == "staff: staff withdrew the scope"
    assert staff.public_id not in str(to_app)
    assert (paused.status, other.status) == ("terminated", "active")
    assert grant.exports.get().ciphertext is None
    done = ScopeWithdrawal.objects.get()
    assert (done.cancelled, done.ended, done.finished_at is not None) == (0, 2, True)


def test_grants_of_a_scope_withdrawn_earlier_can_be_ended_later(page):
    grant = factories.GrantFactory()
    _withdraw(page)
    finish_withdrawals()
    _withdraw(page, ends_grants="yes")
    assert finish_withdrawals() == 1
    grant.refresh_from_db()
    assert grant.status == "terminated"


def test_ending_grants_takes_its_own_permission(db):
    grant, entry = factories.GrantFactory(), ScopeEntry.objects.get(scope=FOOD)
    keeper = factories.StaffFactory(is_superuser=False)
    wanted = ("view_scopeentry", "change_scopeentry")
    keeper.user_permissions.set(PermissionRow.objects.filter(codename__in=wanted))
    page = at_the_admin(keeper)
    assert b"ends_grants" not in act(page, "pkm", "scopeentry", "withdraw", entry).content
    assert messages(_withdraw(page, ends_grants="yes")) == ["1 scope was withdrawn."]
    assert finish_withdrawals() == 0
    grant.refresh_from_db()
    assert grant.status == "active"


def test_what_is_asked_once_the_scope_is_back_is_left_alone(page):
    before = factories.ConsentRequestFactory()
    _withdraw(page, ends_grants="yes")
    act(page, "pkm", "scopeentry", "expose", ScopeEntry.objects.get(scope=FOOD), confirmed="yes")
    request, grant = factories.ConsentRequestFactory(), factories.GrantFactory()
    assert finish_withdrawals() == 1
    for row in (before, request, grant):
        row.refresh_from_db()
    assert (before.status, request.status, grant.status) == ("cancelled", "pending", "active")


def test_run_that_is_out_of_time_goes_on_in_the_next(page):
    app = factories.AppFactory()
    factories.ConsentRequestFactory.create_batch(60, app=app)
    _withdraw(page)
    assert finish_withdrawals(most_seconds=0) == 50
    assert ScopeWithdrawal.objects.filter(finished_at=None, cancelled=50).exists()
    assert finish_withdrawals(most_seconds=0) == 10
    finish_withdrawals()
    assert ScopeWithdrawal.objects.get().finished_at is not None
    assert not list(verifying.verify())


def test_nobody_approves_a_withdrawn_scope(page):
    person = factories.PersonFactory()
    vault = factories.give_vault(person)
    request = factories.ConsentRequestFactory(user=person)
    body = approval(request, vault)
    _withdraw(page)
    with pytest.raises(AlreadyDecided) as refused:
        approve(request_id=request.request_id, by=person, body=body)
    assert refused.value.members["request_status"] == "cancelled"
    request.refresh_from_db()
    assert (request.status, request.decided_by) == ("cancelled", "staff")
    assert finish_withdrawals() == 0


def test_exposing_scopes_cancels_nothing(page):
    entry = ScopeEntry.objects.get(scope="pkm.read")
    request = factories.ConsentRequestFactory(scope="pkm.read")
    assert b"can discover these scopes" in act(page, "pkm", "scopeentry", "expose", entry).content
    done = act(page, "pkm", "scopeentry", "expose", entry, ScopeEntry.objects.get(scope=FOOD), confirmed="yes")
    assert messages(done) == ["1 scope can now be asked for."]
    assert "pkm.read" in registry_copy.entries().by_scope
    request.refresh_from_db()
    assert request.status == "pending"
    assert LogEntry.objects.get().object_repr == "pkm.read"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"scope_label": "Meals"}, "cancelled"),
        ({"attributes": "lifestyle.food.favorite_cuisine"}, "cancelled"),
        ({"sensitivity_tier": "restricted"}, "cancelled"),
        ({"max_access_duration_0": "24"}, "cancelled"),
        ({"exposure_enabled": ""}, "pending"),  # the actions of the list alone change that
        ({"description": "What you like to eat."}, "cancelled"),
        ({}, "pending"),
    ],
)
def test_request_is_cancelled_when_what_it_asked_for_changes(page, change, status):
    request = factories.ConsentRequestFactory()
    entry = ScopeEntry.objects.get(scope=FOOD)
    assert _save_entry(page, entry, **change).status_code == 302
    request.refresh_from_db()
    assert (request.status, request.decided_at is None) == (status, status == "pending")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"attributes": "brands.affinity.likes"}, "attributes"),
        ({"attributes": " \n "}, "attributes"),
        ({"attributes": '["lifestyle.food.a"]'}, "attributes"),
        ({"attributes": "lifestyle.food.a\n lifestyle.food.a"}, "attributes"),
        ({"scope_label": "two\nlines\u202e"}, "scope_label"),
        ({"max_access_duration_0": "0"}, "max_access_duration"),
        ({"max_access_duration_0": "299", "max_access_duration_1": "1"}, "max_access_duration"),
        ({"max_access_duration_0": "366", "max_access_duration_1": "86400"}, "max_access_duration"),
        ({"max_access_duration_1": "7"}, "max_access_duration"),
    ],
)
def test_scope_entry_that_contradicts_itself_is_refused(page, change, field):
    entry = ScopeEntry.objects.get(scope=FOOD)
    answer = _save_entry(page, entry, **change)
    assert answer.status_code == 200
    assert list(answer.context["adminform"].form.errors) == [field]
    assert ScopeEntry.objects.filter(pk=entry.pk).values() == [] or entry.attributes == (
        ScopeEntry.objects.get(pk=entry.pk).attributes
    )


MADE = {"from": "identity.basic.birth_date", "rule": {"kind": "at_least", "of": "age", "value": 21}, "rule_version": 1}
OTHER_RULE, ELSEWHERE = {**MADE, "rule": {"kind": "guess"}}, {**MADE, "from": "contact.email.email"}


@pytest.mark.parametrize(
    ("scope", "made", "saved"),
    [
        ("attr.identity.basic.age_over_18", MADE, MADE),
        ("attr.identity.basic.age_over_18", OTHER_RULE, None),
        ("attr.identity.basic.age_over_18", ELSEWHERE, None),
        ("attr.identity.basic.age_over_18", ["x"], None),
        ("attr.identity.basic.*", MADE, None),
        ("attr.identity.basic.full_name", MADE, None),  # wider scopes have it, and would bring the answer unnamed
    ],
)
def test_an_answer_in_place_of_a_value_is_made_by_a_known_rule_alone(page, scope, made, saved):
    entry = ScopeEntry.objects.get(scope=scope)
    answer = _save_entry(page, entry, derived=json.dumps(made))
    assert (answer.status_code == 302) is (saved is not None)
    before, entry = entry.derived, ScopeEntry.objects.get(scope=scope)
    assert entry.derived == (before if saved is None else saved)


def test_a_scope_that_is_no_answer_has_nothing_to_be_made_from(page):
    entry = ScopeEntry.objects.get(scope=FOOD)
    shown = page.get(reverse("admin:pkm_scopeentry_change", args=[entry.pk]))

    assert "null" not in str(shown.context["adminform"].form["derived"]).lower()
    assert _save_entry(page, entry, derived="").status_code == 302
    assert ScopeEntry.objects.get(scope=FOOD).derived is None


def test_no_wider_scope_takes_an_answer_in(page):
    entry = ScopeEntry.objects.get(scope="attr.identity.basic.*")
    taken = "\n".join([*entry.attributes, "identity.basic.age_over_18"])
    answer = _save_entry(page, entry, attributes=taken)
    assert list(answer.context["adminform"].form.errors) == ["attributes"]


def test_scope_entry_of_another_domain_is_refused(page):
    entry = ScopeEntry.objects.get(scope=FOOD)
    answer = _save_entry(page, entry, domain=Domain.objects.get(domain_key="brands").pk)
    assert list(answer.context["adminform"].form.errors) == ["domain"]


def test_scope_keeps_its_name(page):
    entry = ScopeEntry.objects.get(scope=FOOD)
    assert _save_entry(page, entry, scope="attr.brands.*").status_code == 302
    assert ScopeEntry.objects.get(pk=entry.pk).scope == FOOD


def test_new_domain_and_scope_can_be_discovered(page):
    page.post(
        reverse("admin:pkm_domain_add"),
        {
            "domain_key": "pets",
            "display_name": "Pets",
            "description": "",
            "icon": "",
            "position": 200,
            "is_active": "on",
        },
    )
    domain = Domain.objects.get(domain_key="pets")
    for scope in ("attr.pets.*", "attr.pets.home.*"):
        answer = page.post(
            reverse("admin:pkm_scopeentry_add"),
            {
                "scope": scope,
                "scope_label": "Pets at home",
                "description": "",
                "domain": domain.pk,
                "attributes": "pets.home.dogs\n\npets.home.cats ",
                "sensitivity_tier": "standard",
                "exposure_enabled": "on",
                "max_access_duration_0": 1,
                "max_access_duration_1": 86400,
            },
        )
        assert answer.status_code == 302, answer.context["adminform"].form.errors
    made = ScopeEntry.objects.get(scope="attr.pets.*")
    assert (made.segment_ids, made.attributes) == (["pets.home"], ["pets.home.dogs", "pets.home.cats"])
    assert made.max_access_duration == 86400
    assert list(registry_copy.entries().discovered({"pets": {"home": 1}}, []).scopes) == [
        "attr.pets.*",
        "attr.pets.home.*",
    ]


@pytest.mark.parametrize("scope", ["pets", "attr.Pets.*", "attr.pets", "attr.pets.*\n", "attr.pets.*.x"])
def test_what_is_no_scope_is_refused(page, scope):
    answer = page.post(reverse("admin:pkm_scopeentry_add"), {"scope": scope})
    errors = answer.context["adminform"].form.errors
    assert "scope" in errors or scope.strip() != scope


def test_domain_key_is_a_name(page):
    answer = page.post(
        reverse("admin:pkm_domain_add"), {"domain_key": "My-Pets", "display_name": "Pets", "position": 1}
    )
    assert list(answer.context["adminform"].form.errors) == ["domain_key"]


def test_retiring_a_domain_cancels_what_waits(page):
    request = factories.ConsentRequestFactory()
    domain = Domain.objects.get(domain_key="lifestyle")
    body = {"display_name": domain.display_name, "description": "", "icon": domain.icon, "position": 60}
    assert page.post(reverse("admin:pkm_domain_change", args=[domain.pk]), body).status_code == 302
    request.refresh_from_db()
    assert (Domain.objects.get(pk=domain.pk).is_active, request.status) == (False, "pending")
    assert finish_withdrawals() == 1
    request.refresh_from_db()
    assert request.status == "cancelled"
