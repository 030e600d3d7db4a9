"""`sync_registry`: the starter list reaches the registry, and what staff changed stays."""

import ast
import hashlib
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from pkm.hooks import entry_changed
from pkm.registry import copy as registry_copy
from pkm.registry import sync
from pkm.registry.controls import PromptField
from pkm.registry.models import Domain, ScopeEntry, StarterRecord
from pkm.registry.starter import starter_domains, starter_entries
from pkm.registry.starter_attributes import ATTRIBUTES, Attribute
from pkm.registry.sync import sync_registry
from tests import factories

FIRST = import_module("pkm.migrations.0002_starter_rows")
FOOD, LIFESTYLE, EVERYTHING = "attr.lifestyle.food.*", "attr.lifestyle.*", "pkm.read"
SNACK = Attribute("lifestyle.food.snack", "Snack", "What you eat in between.", prompt=PromptField())
NEW = f"attr.{SNACK.path}"


pytestmark = pytest.mark.django_db


@pytest.fixture
def first_release(db):
    """The registry as `migrate` leaves it in a fresh database, and as it is in one of the first release."""
    for model in (ScopeEntry, Domain, StarterRecord):
        model.objects.all().delete()
    FIRST.install(apps, None)


@pytest.fixture
def longer(monkeypatch):
    """The starter list with one attribute more, after those of its segment."""
    put(monkeypatch, *ATTRIBUTES, SNACK)


def put(monkeypatch, *attributes):
    monkeypatch.setattr(sync, "starter_entries", lambda: starter_entries(attributes))


def entry(scope):
    return ScopeEntry.objects.select_related("domain").get(scope=scope)


def change(scope, **fields):
    """What staff do, past the admin's checks."""
    assert ScopeEntry.objects.filter(scope=scope).update(**fields) == 1


def rows():
    names = [name for name in starter_entries()[0] if name != "domain"]
    return {
        row.scope: {name: getattr(row, name) for name in names} | {"domain": row.domain and row.domain.domain_key}
        for row in ScopeEntry.objects.select_related("domain")
    }


def lines_of(diff, *kinds):
    return [str(line) for line in diff.lines if line.kind in kinds]


# --- the migration ----------------------------------------------------------------------------------------------------


def test_migration_imports_no_code_of_ours_and_its_rows_are_those_of_the_first_release():
    with open(FIRST.__file__) as source:
        imported = [node for node in ast.walk(ast.parse(source.read())) if isinstance(node, ast.ImportFrom)]
    assert {node.module for node in imported} <= {"django.db", "pathlib", "typing"}
    with open(FIRST.__file__.replace(".py", ".json"), "rb") as kept:
        digest = hashlib.sha256(kept.read()).hexdigest()
    assert digest == "9fbff24b5beceaddacda70daf1e4a760f9c8d58f2b95e8d7323e0cb5937b3a72"


# --- the list reaches the registry ------------------------------------------------------------------------------------


def test_fresh_database_equals_the_list(first_release):
    sync_registry()
    assert rows() == {row["scope"]: row for row in starter_entries()}
    domains = Domain.objects.values(*starter_domains()[0])
    assert list(domains) == starter_domains()


def test_old_database_gains_an_attribute_and_equals_the_list(first_release, longer):
    diff = sync_registry()
    assert rows() == {row["scope"]: row for row in starter_entries([*ATTRIBUTES, SNACK])}
    assert (entry(NEW).scope_label, entry(NEW).exposure_enabled) == ("Snack", True)
    assert f"added    {NEW}: Snack" in lines_of(diff, "added")
    assert NEW in registry_copy.entries().by_scope


def test_attribute_is_added_with_its_own_scope_and_to_those_above_it(longer):
    assert lines_of(sync_registry(), "added", "changed", "kept", "gone") == [
        f"changed  {LIFESTYLE}: attributes gain: {SNACK.path}",
        f"changed  {FOOD}: attributes gain: {SNACK.path}",
        f"added    {NEW}: Snack",
        f"changed  {EVERYTHING}: attributes gain: {SNACK.path}",
    ]


def test_second_run_changes_nothing(first_release, longer):
    sync_registry()
    before = registry_copy.current_version(), rows(), list(StarterRecord.objects.order_by("pk").values())
    stamps = list(ScopeEntry.objects.order_by("pk").values_list("updated_at", flat=True))
    diff = sync_registry()
    assert diff.lines == []
    assert (registry_copy.current_version(), rows(), list(StarterRecord.objects.order_by("pk").values())) == before
    assert list(ScopeEntry.objects.order_by("pk").values_list("updated_at", flat=True)) == stamps


def test_missing_domain_and_its_scopes_are_added():
    ScopeEntry.objects.filter(domain__domain_key="brands").delete()
    Domain.objects.filter(domain_key="brands").delete()
    diff = sync_registry()
    assert lines_of(diff, "added")[:2] == ["added    brands: Brands", "added    attr.brands.*: Brands: everything"]
    assert rows() == {row["scope"]: row for row in starter_entries()}


def test_new_words_and_a_new_order_of_the_list_are_taken(monkeypatch):
    first, *others = ATTRIBUTES
    renamed = Attribute(first.path, "Whole name", first.description, first.control, first.prompt)
    put(monkeypatch, *others, renamed)
    monkeypatch.setattr(
        sync, "starter_domains", lambda: [{**row, "position": row["position"] + 1} for row in starter_domains()]
    )
    diff = sync_registry()
    assert entry(f"attr.{first.path}").scope_label == "Whole name"
    assert entry("attr.identity.basic.*").attributes[-1] == first.path
    assert Domain.objects.get(domain_key="identity").position == 11
    assert f"changed  attr.{first.path}: scope_label: 'Full name' becomes 'Whole name'" in lines_of(diff, "changed")
    assert sync_registry().lines == []


def test_what_has_left_the_list_stays_and_is_reported(monkeypatch):
    *left, last = ATTRIBUTES
    put(monkeypatch, *left)
    diff = sync_registry()
    scopes = ("attr.financial.*", "attr.financial.signals.*", EVERYTHING)
    expected = [f"gone     {scope}: attributes that are no longer in the list: {last.path}" for scope in scopes]
    assert lines_of(diff, "gone") == [*expected, f"gone     attr.{last.path}: no longer in the list"]
    assert lines_of(diff, "added", "changed", "kept") == []
    assert entry(f"attr.{last.path}").exposure_enabled
    assert last.path in entry("attr.financial.*").attributes
    assert sync_registry().lines == diff.lines
    put(monkeypatch, *ATTRIBUTES)
    assert sync_registry().lines == []


# --- what staff changed -----------------------------------------------------------------------------------------------


def test_what_staff_switched_off_stays_off(longer):
    change(FOOD, exposure_enabled=False)
    Domain.objects.filter(domain_key="brands").update(is_active=False)
    sync_registry()
    assert not entry(FOOD).exposure_enabled
    assert not Domain.objects.get(domain_key="brands").is_active
    assert SNACK.path in entry(FOOD).attributes


@pytest.mark.parametrize(("off", "exposed"), [(FOOD, False), (LIFESTYLE, False), ("attr.brands.*", True), (None, True)])
def test_new_scope_below_one_that_staff_switched_off_comes_switched_off(longer, off, exposed):
    if off:
        change(off, exposure_enabled=False)
    diff = sync_registry()
    assert entry(NEW).exposure_enabled is exposed
    assert lines_of(diff, "added") == [f"added    {NEW}: Snack{'' if exposed else f'; switched off, as {off} is'}"]


@pytest.mark.parametrize(
    "edit", [{"scope_label": "Meals"}, {"sensitivity_tier": "restricted"}, {"max_access_duration": 86400}]
)
def test_what_staff_wrote_is_kept_and_reported_each_time(edit):
    change(FOOD, **edit)
    listed = next(row for row in starter_entries() if row["scope"] == FOOD)
    ((name, theirs),) = edit.items()
    for _ in range(2):
        diff = sync_registry()
        assert lines_of(diff, "kept") == [
            f"kept     {FOOD}: {name}: staff have {theirs!r}, the list has {listed[name]!r}"
        ]
        assert lines_of(diff, "added", "changed") == []
        assert getattr(entry(FOOD), name) == theirs


def test_words_of_the_list_come_once_staff_take_theirs_back(monkeypatch):
    change("attr.identity.basic.full_name", scope_label="Your name")
    first, *others = ATTRIBUTES
    put(monkeypatch, Attribute(first.path, "Whole name", first.description), *others)
    sync_registry()
    assert entry("attr.identity.basic.full_name").scope_label == "Your name"
    change("attr.identity.basic.full_name", scope_label="Full name")
    sync_registry()
    assert entry("attr.identity.basic.full_name").scope_label == "Whole name"


def test_attributes_that_staff_left_out_or_added_stay_and_new_ones_come(longer):
    change(
        LIFESTYLE,
        attributes=["lifestyle.fitness.gym_membership", "lifestyle.own.thing"],
        segment_ids=["lifestyle.fitness", "lifestyle.own"],
    )
    diff = sync_registry()
    row = entry(LIFESTYLE)
    assert row.attributes == ["lifestyle.fitness.gym_membership", "lifestyle.own.thing", SNACK.path]
    assert row.segment_ids == ["lifestyle.fitness", "lifestyle.own", "lifestyle.food"]
    assert f"kept     {LIFESTYLE}: attributes that staff added: lifestyle.own.thing" in lines_of(diff, "kept")
    assert sync_registry().count("added", "changed") == 0
    change(LIFESTYLE, attributes=row.attributes[:2], segment_ids=row.segment_ids[:2])
    sync_registry()
    assert SNACK.path not in entry(LIFESTYLE).attributes


def test_scope_that_staff_made_before_the_list_had_it_is_theirs(longer):
    lifestyle = Domain.objects.get(domain_key="lifestyle")
    factories.ScopeEntryFactory(
        scope=NEW,
        domain=lifestyle,
        scope_label="Between meals",
        description=SNACK.description,
        segment_ids=["lifestyle.food"],
        attributes=[SNACK.path],
    )
    for _ in range(2):
        kept = lines_of(sync_registry(), "kept")
        assert kept == [f"kept     {NEW}: scope_label: staff have 'Between meals', the list has 'Snack'"]
    assert entry(NEW).scope_label == "Between meals"


# --- what waits, and the command --------------------------------------------------------------------------------------


def test_what_waits_on_an_entry_that_changes_is_cancelled_and_grants_are_left_alone(longer):
    request, other = factories.ConsentRequestFactory(), factories.ConsentRequestFactory(scope="attr.brands.*")
    grant = factories.GrantFactory()
    diff = sync_registry()
    for row in (request, other, grant):
        row.refresh_from_db()
    assert (request.status, request.decided_by) == ("cancelled", "staff")
    assert (other.status, grant.status) == ("pending", "active")
    assert diff.touched == [("requests that wait for a decision", 1), ("grants that are live", 1)]


def test_dry_run_tells_the_same_and_writes_nothing(longer, capsys):
    request = factories.ConsentRequestFactory()
    before = registry_copy.current_version(), rows(), list(StarterRecord.objects.order_by("pk").values())
    with pytest.raises(CommandError, match="behind the starter list") as refused:
        call_command("sync_registry", dry_run=True)
    printed = capsys.readouterr().out
    request.refresh_from_db()
    assert refused.value.returncode == 1
    assert request.status == "pending"
    assert (registry_copy.current_version(), rows(), list(StarterRecord.objects.order_by("pk").values())) == before
    assert f"changed  {FOOD}: attributes gain: {SNACK.path}\n" in printed
    assert "touches  requests that wait for a decision: 1\n" in printed
    assert printed.endswith("Registry and starter list: 1 added, 3 changed, 0 kept, 0 gone.\n")
    call_command("sync_registry")
    assert capsys.readouterr().out == printed
    call_command("sync_registry", dry_run=True)
    assert capsys.readouterr().out == "Registry and starter list: 0 added, 0 changed, 0 kept, 0 gone.\n"


def test_run_that_fails_halfway_leaves_nothing(longer):
    before = rows(), StarterRecord.objects.count()

    def refuse(**_):
        raise RuntimeError

    entry_changed.connect(refuse)
    try:
        with pytest.raises(RuntimeError):
            sync_registry()
    finally:
        entry_changed.disconnect(refuse)
    assert (rows(), StarterRecord.objects.count()) == before
