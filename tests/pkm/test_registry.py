"""The starter registry, and the copy that processes serve discovery from."""

import json
import threading
from collections import Counter

import orjson
import pytest
from django.db import connection
from django.utils.translation import gettext, override

from conformance.cases import VECTORS
from consent_bridge import derived as bridge_derived
from pkm import scopes
from pkm.registry import copy as registry_copy
from pkm.registry import queries as registry_queries
from pkm.registry.derived import is_definition, is_rule
from pkm.registry.labels import verb_phrase
from pkm.registry.models import Domain, ScopeEntry
from pkm.registry.starter import ANSWERS, starter_entries
from pkm.registry.starter_attributes import ATTRIBUTES
from pkm.registry.starter_phrases import VERB_PHRASES
from tests.factories import DomainFactory, HiddenScopeFactory, ScopeEntryFactory, give_vault

FOOD = [
    "attr.lifestyle.*",
    "attr.lifestyle.food.*",
    "attr.lifestyle.food.coffee_or_tea",
    "attr.lifestyle.food.diet_preference",
    "attr.lifestyle.food.favorite_cuisine",
]


@pytest.fixture(autouse=True)
def _database(db):
    pass


def test_starter_registry_has_every_domain_in_order():
    assert list(Domain.objects.values_list("domain_key", "icon", "is_active")) == [
        (name, name, True)
        for name in (
            "identity", "contact", "location", "demographics", "professional", "lifestyle",
            "technology", "interests", "intents", "brands", "financial",
        )
    ]  # fmt: skip


def test_starter_registry_has_a_scope_for_every_domain_segment_and_attribute():
    everything = ScopeEntry.objects.get(scope="pkm.read")
    segments = everything.segment_ids
    expected = {"pkm.read", *(f"attr.{key}.*" for key in Domain.objects.values_list("domain_key", flat=True))}
    expected |= {f"attr.{segment}.*" for segment in segments} | {f"attr.{path}" for path in everything.attributes}
    expected |= {f"attr.{answer.path}" for answer in ANSWERS}
    assert set(ScopeEntry.objects.values_list("scope", flat=True)) == expected
    assert len(segments) == 15
    assert len(everything.attributes) == 51


def test_every_starter_entry_says_what_its_scope_covers():
    everything = ScopeEntry.objects.get(scope="pkm.read")
    for entry in ScopeEntry.objects.select_related("domain"):
        scope = scopes.parse(entry.scope)
        assert scope is not None
        if entry.derived is None:
            assert entry.attributes == [path for path in everything.attributes if scope.covers(path)]
        own = {path.rpartition(".")[0] for path in entry.attributes}
        assert entry.segment_ids == [segment for segment in everything.segment_ids if segment in own]
        assert entry.scope_handle == scopes.handle(entry.scope)
        assert entry.scope_label
        assert entry.description
        assert entry.exposure_enabled is (entry.scope != "pkm.read")


def test_answers_in_place_of_values_are_in_no_wider_scope_and_made_of_what_there_is():
    everything = set(ScopeEntry.objects.get(scope="pkm.read").attributes)
    answers = ScopeEntry.objects.filter(derived__isnull=False)
    assert {entry.scope for entry in answers} == {f"attr.{answer.path}" for answer in ANSWERS}
    for entry in answers:
        [path] = entry.attributes
        assert entry.scope == f"attr.{path}"
        assert is_definition(entry.derived, path=path)
        assert entry.derived["from"] in everything
        assert path not in everything


def test_what_hides_a_value_hides_the_answers_that_are_made_of_it():
    copy, holdings = registry_copy.entries(), {"identity": {"basic": 1}}
    adult = "attr.identity.basic.age_over_18"
    assert adult in copy.discovered(holdings, []).scopes
    for hidden in ("attr.identity.basic.birth_date", "attr.identity.*", adult):
        assert adult not in copy.discovered(holdings, [hidden]).scopes
    assert "attr.identity.basic.birth_date" in copy.discovered(holdings, [adult]).scopes


@pytest.mark.parametrize("version", [True, 1.0, 2, "1", None])
def test_an_answer_is_made_by_a_version_that_is_the_whole_number(version):
    [made] = [one for one in ANSWERS if one.path == "identity.basic.age_over_18"]
    assert is_definition(made.definition, path=made.path)
    assert not is_definition({**made.definition, "rule_version": version}, path=made.path)


@pytest.mark.parametrize("vector", json.loads((VECTORS / "derived.json").read_text()), ids=lambda one: one["does"])
def test_registry_takes_the_rules_that_clients_know(vector):
    assert is_rule(vector["rule"]) == bridge_derived.is_rule(vector["rule"])


def test_sensitivity_follows_the_domain():
    tiers = {
        entry.scope: entry.sensitivity_tier
        for entry in ScopeEntry.objects.exclude(sensitivity_tier="standard")
        if entry.scope.endswith(".*") and entry.scope.count(".") == 2
    }
    assert tiers == {
        "attr.contact.*": "confidential",
        "attr.location.*": "confidential",
        "attr.demographics.*": "confidential",
        "attr.financial.*": "restricted",
    }
    assert ScopeEntry.objects.get(scope="pkm.read").sensitivity_tier == "restricted"


def test_every_attribute_of_the_list_is_in_the_registry_and_one_profile_has_room_for_all_names():
    assert ScopeEntry.objects.get(scope="pkm.read").attributes == [attribute.path for attribute in ATTRIBUTES]
    counts = Counter(attribute.name for attribute in ATTRIBUTES if attribute.prompt)
    assert max(counts.values()) == 1


@pytest.mark.parametrize("change", ["insert", "update", "delete", "domain"])
def test_any_change_of_the_registry_replaces_its_version(change):
    before = registry_copy.current_version()
    match change:
        case "insert":
            ScopeEntryFactory()
        case "update":
            with connection.cursor() as cursor:  # by hand, past every model
                cursor.execute("UPDATE pkm_scope_registry SET description = 'x' WHERE scope = 'attr.contact.*'")
        case "delete":
            ScopeEntry.objects.filter(scope="attr.contact.*").delete()
        case "domain":
            Domain.objects.filter(domain_key="contact").update(is_active=False)
    assert registry_copy.current_version() != before


def test_copy_is_read_once_a_version(django_assert_num_queries):
    version = registry_copy.current_version()
    registry_copy.RegistryCopy.for_version(version)
    with django_assert_num_queries(0):
        first = registry_copy.RegistryCopy.for_version(version)
    ScopeEntry.objects.filter(scope="attr.contact.*").update(exposure_enabled=False)
    with django_assert_num_queries(2):  # the version, and the entries
        second = registry_copy.entries()
    assert ("attr.contact.*" in first.by_scope, "attr.contact.*" in second.by_scope) == (True, False)


def test_copy_is_read_by_one_of_many_threads(monkeypatch):
    read = []
    plain = registry_copy.load
    monkeypatch.setattr(registry_copy._Current, "copy", None)
    monkeypatch.setattr(registry_copy, "load", lambda version: read.append(version) or empty(version))

    def empty(version):
        threading.Event().wait(0.05)
        return registry_copy.RegistryCopy(version, (), {}, b"")

    threads = [threading.Thread(target=registry_copy.RegistryCopy.for_version, args=("one",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == ["one"]
    assert plain is not registry_copy.load


def test_copy_leaves_out_what_is_not_exposed_or_not_active():
    ScopeEntry.objects.filter(scope="attr.contact.*").update(exposure_enabled=False)
    Domain.objects.filter(domain_key="financial").update(is_active=False)
    copy = registry_copy.entries()
    assert "attr.contact.*" not in copy.by_scope
    assert "attr.contact.email.*" in copy.by_scope
    assert "pkm.read" not in copy.by_scope
    assert not [scope for scope in copy.by_scope if scope.startswith("attr.financial.")]


def test_catalog_is_in_the_contracts_shape():
    entry = ScopeEntry.objects.get(scope="attr.lifestyle.food.*")
    catalog = orjson.loads(registry_copy.entries().catalog)
    assert list(catalog) == ["scope_entries"]
    assert len(catalog["scope_entries"]) == 80
    assert next(found for found in catalog["scope_entries"] if found["scope"] == entry.scope) == {
        "scope": "attr.lifestyle.food.*",
        "scope_handle": "s_3017f22c8cd4",
        "label": "Food and drink",
        "description": "What you like to eat and drink.",
        "domain": "lifestyle",
        "sensitivity_tier": "standard",
        "attributes": [
            "lifestyle.food.diet_preference",
            "lifestyle.food.favorite_cuisine",
            "lifestyle.food.coffee_or_tea",
        ],
        "max_access_duration": 31536000,
        "updated_at": entry.updated_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert (
        registry_queries.entry_body(registry_queries.entry_for(entry.scope))
        == registry_copy.entries().by_scope[entry.scope].body
    )


def test_catalog_follows_the_order_of_domains():
    Domain.objects.filter(domain_key="financial").update(position=1)
    domains = [entry["domain"] for entry in orjson.loads(registry_copy.entries().catalog)["scope_entries"]]
    assert list(dict.fromkeys(domains))[:3] == ["financial", "identity", "contact"]


def bodies(found):
    return orjson.loads(orjson.dumps(found.bodies))


def test_discovered_are_the_scopes_that_touch_a_held_segment():
    found = registry_copy.entries().discovered({"lifestyle": {"food": 2, "fitness": 0}}, [])
    assert (list(found.scopes), list(found.domains)) == (FOOD, ["lifestyle"])
    assert [body["scope"] for body in bodies(found)] == FOOD


@pytest.mark.parametrize(
    ("hidden", "left"),
    [
        (["attr.lifestyle.food.favorite_cuisine"], [scope for scope in FOOD if not scope.endswith("cuisine")]),
        (["attr.lifestyle.food.*"], ["attr.lifestyle.*"]),
        (["attr.lifestyle.*"], []),
        (["pkm.read"], []),
        (["attr.contact.*"], FOOD),
        (["nonsense"], FOOD),
    ],
)
def test_what_lies_inside_a_hidden_scope_is_hidden_with_it(hidden, left):
    assert list(registry_copy.entries().discovered({"lifestyle": {"food": 1}}, hidden).scopes) == left


def test_everything_can_be_discovered_once_staff_expose_it():
    ScopeEntry.objects.filter(scope="pkm.read").update(exposure_enabled=True)
    found = registry_copy.entries().discovered({"lifestyle": {"food": 1}}, [])
    assert list(found.scopes) == [*FOOD, "pkm.read"]
    assert list(found.domains) == ["lifestyle"]


def test_nothing_held_discovers_nothing():
    found = registry_copy.entries().discovered({}, [])
    assert (found.domains, found.scopes, bodies(found)) == ((), (), [])


def test_is_hidden_follows_hiding_and_exposure_alone(person):
    scope = "attr.lifestyle.food.*"
    assert registry_queries.is_hidden(person, scope) is False
    give_vault(person)
    assert registry_queries.is_hidden(person, scope) is False
    HiddenScopeFactory(user=person, scope="attr.lifestyle.*")
    assert registry_queries.is_hidden(person, scope) is True
    assert registry_queries.is_hidden(person, "attr.lifestyle.nothing.*") is True


def test_entry_with_a_scope_that_cannot_be_parsed_is_not_served():
    """Unknown denies: rows can be written past the admin's checks."""
    ScopeEntryFactory(scope="attr.UPPER.*", domain=DomainFactory(domain_key="upper"))
    assert "attr.UPPER.*" not in registry_copy.entries().by_scope


def test_every_scope_of_the_starter_list_says_what_an_app_does_that_asks_for_it() -> None:
    assert set(VERB_PHRASES) == {row["scope"] for row in starter_entries()}
    with override("de"):
        translated = {phrase: gettext(phrase) for phrase in VERB_PHRASES.values()}
    assert [phrase for phrase, german in translated.items() if not german.startswith("fragt")] == []


def test_a_scope_that_staff_made_or_renamed_is_called_by_its_label() -> None:
    entry = ScopeEntry.objects.get(scope="attr.lifestyle.food.*")
    assert verb_phrase(entry) == "asks what you eat"
    entry.scope_label = "Pets at home"
    assert verb_phrase(entry) == "asks for Pets at home"
