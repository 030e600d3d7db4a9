"""What staff do to the registry, and what it touches."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from pkm.registry import copy as registry_copy
from pkm.registry.models import Domain, ScopeEntry
from tests import factories
from tests.admin.staff_actions import act, messages

FOOD = "attr.lifestyle.food.*"


def _entry_form(entry, **change):
    fields = {
        "scope_label": entry.scope_label,
        "description": entry.description,
        "domain": entry.domain_id or "",
        "segment_ids": str(entry.segment_ids).replace("'", '"'),
        "attributes": str(entry.attributes).replace("'", '"'),
        "sensitivity_tier": entry.sensitivity_tier,
        "max_access_duration": entry.max_access_duration,
    }
    return fields | ({"exposure_enabled": "on"} if entry.exposure_enabled else {}) | change


def _save_entry(page, entry, **change):
    return page.post(reverse("admin:pkm_scopeentry_change", args=[entry.pk]), _entry_form(entry, **change))


def test_withdrawing_scopes_asks_first_and_says_what_it_touches(page):
    factories.give_vault(factories.PersonFactory())
    factories.give_vault(factories.PersonFactory(), {})
    factories.ConsentRequestFactory.create_batch(2)
    factories.GrantFactory()
    entry = ScopeEntry.objects.get(scope=FOOD)
    asked = act(page, "pkm", "scopeentry", "withdraw", entry)
    assert [(str(label), count) for label, count in asked.context["touched"]] == [
        ("people who keep such data", 1),
        ("requests that wait for a decision", 2),
        ("grants that are live", 1),
    ]
    assert FOOD in registry_copy.entries().by_scope
    done = act(page, "pkm", "scopeentry", "withdraw", entry, confirmed="yes")
    assert messages(done) == ["1 scope was withdrawn."]
    assert FOOD not in registry_copy.entries().by_scope


def test_withdrawing_cancels_what_waits_and_leaves_grants_alone(page, staff):
    request, other = factories.ConsentRequestFactory(), factories.ConsentRequestFactory(scope="attr.brands.*")
    grant = factories.GrantFactory()
    act(page, "pkm", "scopeentry", "withdraw", ScopeEntry.objects.get(scope=FOOD), confirmed="yes")
    for row in (request, other, grant):
        row.refresh_from_db()
    assert (request.status, request.decided_by) == ("cancelled", "staff")
    assert (other.status, grant.status) == ("pending", "active")


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
        ({"attributes": '["lifestyle.food.favorite_cuisine"]'}, "cancelled"),
        ({"sensitivity_tier": "restricted"}, "cancelled"),
        ({"max_access_duration": "86400"}, "cancelled"),
        ({"exposure_enabled": ""}, "cancelled"),
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
        ({"attributes": '["brands.affinity.likes"]'}, "attributes"),
        ({"attributes": "[]"}, "attributes"),
        ({"attributes": '{"a": 1}'}, "attributes"),
        ({"attributes": "[1]"}, "attributes"),
        ({"attributes": '["lifestyle.food.a", "lifestyle.food.a"]'}, "attributes"),
        ({"segment_ids": '["lifestyle.fitness"]'}, "segment_ids"),
        ({"segment_ids": '["food"]'}, "segment_ids"),
        ({"scope_label": "two\nlines\u202e"}, "scope_label"),
        ({"max_access_duration": "1"}, "__all__"),
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
                "segment_ids": '["pets.home"]',
                "attributes": '["pets.home.dogs", "pets.home.cats"]',
                "sensitivity_tier": "standard",
                "exposure_enabled": "on",
                "max_access_duration": 86400,
            },
        )
        assert answer.status_code == 302, answer.context["adminform"].form.errors
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
    assert (Domain.objects.get(pk=domain.pk).is_active, request.status) == (False, "cancelled")
