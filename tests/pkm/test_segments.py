"""Writing and deleting sealed segments: compare-and-set, and everything that is kept in the same transaction."""

import pytest

from common.problems import InvalidRequest, NotFound
from consent_bridge import sealed
from pkm import errors, scopes
from pkm.history.models import Event, Index
from pkm.registry import hidden_scopes
from pkm.registry import queries as registry_queries
from pkm.registry.models import Domain, ScopeEntry
from pkm.segments import actions as segment_actions
from pkm.segments import queries as segment_queries
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.web import queries as web_queries
from tests.factories import PersonFactory, give_vault
from tests.pkm.sealed_segments import segment
from tests.refused import refused_as

FOOD = {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai"}


@pytest.fixture
def vault(person):
    return give_vault(person, {})


def _write(vault, domain="lifestyle", segment_id="food", values=None, *, base=0):
    body = segment(vault, domain, segment_id, FOOD if values is None else values, base=base)
    return segment_actions.write_segment(by=vault.user, domain=domain, segment_id=segment_id, **body)


def _delete(vault, base, domain="lifestyle", segment_id="food"):
    return segment_actions.delete_segment(
        by=vault.user, domain=domain, segment_id=segment_id, base_content_revision=base
    )


def _events(user):
    rows = list(Event.objects.filter(user=user).order_by("sequence").values_list("sequence", "kind", "facts"))
    assert [sequence for sequence, _, _ in rows] == list(range(1, len(rows) + 1))
    return [(kind, facts) for _, kind, facts in rows if kind != "vault_created"]


def _index(user):
    row = Index.objects.get(user=user)
    return row.available_domains, row.summary_projection, row.total_attributes, sorted(row.domain_freshness)


def _paths(user, domain="lifestyle"):
    manifest = Manifest.objects.get(user=user, domain=domain, is_current=True)
    return [path.path for path in manifest.paths.order_by("pk")]


def test_first_write_keeps_everything_that_belongs_to_it(vault):
    answer = _write(vault)
    blob = Blob.objects.get(user=vault.user)
    assert answer == {
        "domain": "lifestyle",
        "segment_id": "food",
        "content_revision": 1,
        "manifest_revision": 1,
        "attributes": ["diet_preference", "favorite_cuisine"],
        "size_bytes": len(blob.ciphertext),
        "updated_at": blob.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert sealed.open_segment_where(blob.ciphertext, vault.key.secret, sealed.equal({"content_revision": 1})) == FOOD
    assert _index(vault.user) == (["lifestyle"], {"lifestyle": {"food": 2}}, 2, ["lifestyle"])
    assert list(ManifestPath.objects.order_by("pk").values_list("path", "segment_id", "scope_handle")) == [
        (f"lifestyle.food.{name}", "food", scopes.handle(f"attr.lifestyle.food.{name}")) for name in FOOD
    ]
    assert _events(vault.user) == [
        ("manifest_changed", {"domain": "lifestyle", "manifest_revision": 1, "path_count": 2}),
        (
            "segment_written",
            {"domain": "lifestyle", "segment_id": "food", "content_revision": 1, "size_bytes": len(blob.ciphertext)},
        ),
    ]
    assert segment_queries.sealed_segments(vault.user) == [answer | {"jwe": blob.ciphertext}]


def test_write_with_the_same_attributes_keeps_the_manifest(vault):
    _write(vault)
    answer = _write(vault, values={"favorite_cuisine": "Thai", "diet_preference": "Vegan"}, base=1)
    assert (answer["content_revision"], answer["manifest_revision"]) == (2, 1)
    assert Manifest.objects.count() == 1
    assert [kind for kind, _ in _events(vault.user)] == ["manifest_changed", "segment_written", "segment_written"]


def test_write_with_other_attributes_makes_a_new_manifest(vault):
    _write(vault)
    _write(vault, segment_id="fitness", values={"gym_membership": "yes"})
    answer = _write(vault, values={"favorite_cuisine": "Thai", "spice_level": "hot"}, base=1)
    assert answer["manifest_revision"] == 3
    assert _paths(vault.user) == [
        "lifestyle.fitness.gym_membership",
        "lifestyle.food.favorite_cuisine",
        "lifestyle.food.spice_level",
    ]
    manifests = Manifest.objects.order_by("manifest_revision").values_list("segment_ids", "path_count", "is_current")
    assert list(manifests) == [(["food"], 2, False), (["fitness", "food"], 3, False), (["fitness", "food"], 3, True)]
    assert _index(vault.user) == (["lifestyle"], {"lifestyle": {"fitness": 1, "food": 2}}, 3, ["lifestyle"])


def test_no_path_of_an_earlier_manifest_is_kept(vault):
    _write(vault, segment_id="fitness", values={"gym_membership": "yes"})
    for base in range(4):
        _write(vault, values=dict.fromkeys([*FOOD, f"word_{base}"], "x"), base=base)
    segment_actions.delete_segment(by=vault.user, domain="lifestyle", segment_id="food", base_content_revision=4)
    _write(vault, values={"word_5": "x"}, base=5)

    rows = ManifestPath.objects.order_by("pk").values_list("path", "manifest__manifest_revision")
    assert list(rows) == [("lifestyle.fitness.gym_membership", 7), ("lifestyle.food.word_5", 7)]
    assert Manifest.objects.count() == 7


def test_own_attribute_is_revealed_by_the_scope_of_its_segment(vault):
    _write(vault, "contact", "phone", {"phone": "+49 30 1", "second_phone": "+49 30 2"})
    rows = ManifestPath.objects.order_by("pk").values_list(
        "path", "scope_handle", "sensitivity_tier", "exposure_eligible"
    )
    assert list(rows) == [
        ("contact.phone.phone", scopes.handle("attr.contact.phone.phone"), "confidential", True),
        ("contact.phone.second_phone", scopes.handle("attr.contact.phone.*"), "confidential", True),
    ]


def test_no_attribute_of_ones_own_passes_for_an_answer(vault):
    answer = "attr.lifestyle.food.spice_level"
    definition = {"from": "lifestyle.food.favorite_cuisine", "rule": {"kind": "is_set"}, "rule_version": 1}
    entry = ScopeEntry.objects.get(scope="attr.lifestyle.food.favorite_cuisine")
    entry.pk, entry.scope, entry.scope_handle, entry.derived = None, answer, scopes.handle(answer), definition
    _write(vault, values={"spice_level": "hot"})
    entry.save()

    _write(vault, values={"spice_level": "mild"}, base=1)  # it was there before the answer

    _write(vault, base=2)
    with refused_as(errors.ReservedName, match=r"lifestyle\.food\.spice_level"):
        _write(vault, values={"spice_level": "hot"}, base=3)


@pytest.mark.parametrize("base", [0, 1, 3])
def test_stale_write_changes_nothing_and_says_what_counts(vault, base):
    _write(vault)
    _write(vault, base=1)
    before = (list(Blob.objects.values()), list(Index.objects.values()), _events(vault.user))
    with refused_as(errors.StaleRevision) as caught:
        _write(vault, values={"favorite_cuisine": "Greek"}, base=base)
    assert caught.value.members == {"current_content_revision": 2}
    assert (list(Blob.objects.values()), list(Index.objects.values()), _events(vault.user)) == before


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("kid", "vk_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("sub", "usr_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("domain", "contact"),
        ("segment_id", "fitness"),
        ("content_revision", 2),
    ],
)
def test_segment_sealed_for_elsewhere_is_refused(vault, member, value):
    body = segment(vault, "lifestyle", "food", FOOD, header={member: value})
    with refused_as(errors.SegmentMismatch) as caught:
        segment_actions.write_segment(by=vault.user, domain="lifestyle", segment_id="food", **body)
    assert caught.value.members == {"member": member}
    assert not Blob.objects.exists()


def test_the_last_ten_revisions_stay(vault):
    for base in range(12):
        _write(vault, base=base)
    rows = Blob.objects.order_by("content_revision").values_list("content_revision", "is_current")
    assert list(rows) == [(revision, revision == 12) for revision in range(3, 13)]


def test_delete_leaves_a_tombstone_and_no_ciphertext(vault):
    _write(vault)
    _write(vault, base=1)
    _write(vault, segment_id="fitness", values={"gym_membership": "yes"})
    answer = _delete(vault, 2)
    tombstone = Blob.objects.get(user=vault.user, segment_id="food")
    assert answer == {
        "domain": "lifestyle",
        "segment_id": "food",
        "content_revision": 3,
        "manifest_revision": 3,
        "attributes": [],
        "size_bytes": 0,
        "updated_at": tombstone.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert (tombstone.ciphertext, tombstone.is_current) == (None, True)
    assert [found["segment_id"] for found in segment_queries.sealed_segments(vault.user)] == ["fitness"]
    assert _index(vault.user) == (["lifestyle"], {"lifestyle": {"fitness": 1}}, 1, ["lifestyle"])
    assert _events(vault.user)[-1] == (
        "segment_deleted",
        {"domain": "lifestyle", "segment_id": "food", "content_revision": 3, "size_bytes": 0},
    )


def test_counting_goes_on_after_a_deletion(vault):
    _write(vault)
    _delete(vault, 1)
    with refused_as(errors.StaleRevision) as caught:
        _write(vault)
    assert caught.value.members == {"current_content_revision": 2}
    assert _write(vault, base=2)["content_revision"] == 3
    assert _index(vault.user) == (["lifestyle"], {"lifestyle": {"food": 2}}, 2, ["lifestyle"])


def test_deleting_the_last_segment_empties_the_domain(vault):
    _write(vault)
    _delete(vault, 1)
    assert _index(vault.user) == ([], {}, 0, [])
    assert _paths(vault.user) == []
    assert segment_queries.stored_attributes(vault.user) == {}


def test_deleting_what_is_not_there_is_not_found(vault):
    with pytest.raises(NotFound):
        _delete(vault, 0)
    _write(vault)
    _delete(vault, 1)
    with pytest.raises(NotFound):
        _delete(vault, 2)


def test_segment_can_be_deleted_after_staff_retired_its_domain(vault):
    _write(vault)
    Domain.objects.filter(domain_key="lifestyle").update(is_active=False)
    with pytest.raises(NotFound):
        _write(vault, base=1)
    assert _delete(vault, 1)["content_revision"] == 2


def test_write_needs_a_vault(person):
    other = give_vault(PersonFactory(), {})
    body = segment(other, "lifestyle", "food", FOOD)
    with pytest.raises(errors.VaultAbsent):
        segment_actions.write_segment(by=person, domain="lifestyle", segment_id="food", **body)


def test_segment_holds_at_most_500_attributes(vault):
    names = [f"own_{number}" for number in range(501)]
    with refused_as(errors.TooManyAttributes):
        _write(vault, values=dict.fromkeys(names, 1))
    assert len(_write(vault, values=dict.fromkeys(names[:500], 1))["attributes"]) == 500


@pytest.mark.parametrize("names", [["Upper"], ["with.dot"], ["one", "one"], [""], ["1st"]])
def test_attribute_names_are_checked_by_the_action_too(vault, names):
    body = segment(vault, "lifestyle", "food", FOOD) | {"attributes": names}
    with pytest.raises(InvalidRequest):
        segment_actions.write_segment(by=vault.user, domain="lifestyle", segment_id="food", **body)


def test_segment_without_attributes_is_kept_but_not_held(vault):
    answer = _write(vault, values={})
    assert (answer["content_revision"], answer["manifest_revision"], answer["attributes"]) == (1, 1, [])
    assert _index(vault.user) == ([], {}, 0, [])


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({}, ["contact.email", "lifestyle.fitness", "lifestyle.food"]),
        ({"scope": "pkm.read"}, ["contact.email", "lifestyle.fitness", "lifestyle.food"]),
        ({"scope": "attr.lifestyle.*"}, ["lifestyle.fitness", "lifestyle.food"]),
        ({"scope": "attr.lifestyle.food.*"}, ["lifestyle.food"]),
        ({"scope": "attr.lifestyle.food.favorite_cuisine"}, ["lifestyle.food"]),
        ({"scope": "attr.brands.*"}, []),
        ({"scope": "nonsense"}, []),
        ({"domain": "contact"}, ["contact.email"]),
        ({"domain": "brands"}, []),
    ],
)
def test_sealed_segments_are_those_of_the_scope_or_domain(vault, which, expected):
    for domain, name, values in (
        ("lifestyle", "food", FOOD),
        ("contact", "email", {"email": "a@example.org"}),
        ("lifestyle", "fitness", {"gym_membership": "no"}),
    ):
        _write(vault, domain, name, values)
    found = segment_queries.sealed_segments(vault.user, **which)
    assert [f"{row['domain']}.{row['segment_id']}" for row in found] == expected
    assert segment_queries.sealed_segments(PersonFactory(), **which) == []


def test_current_revisions_are_those_of_the_named_segments(vault):
    _write(vault)
    _write(vault, base=1)
    _write(vault, "contact", "email", {"email": "a@example.org"})
    _write(vault, segment_id="fitness", values={"gym_membership": "no"})
    _delete(vault, 1, segment_id="fitness")
    pairs = [("lifestyle", "food"), ("lifestyle", "fitness"), ("contact", "food"), ("brands", "affinity")]
    assert segment_queries.current_revisions(vault.user, pairs) == {("lifestyle", "food"): 2}
    assert segment_queries.current_revisions(vault.user, pairs, lock=True) == {("lifestyle", "food"): 2}
    assert segment_queries.stored_attributes(vault.user) == {
        ("lifestyle", "food"): set(FOOD),
        ("contact", "email"): {"email"},
    }


def test_hiding_and_showing_a_scope_is_remembered_once(vault):
    for _ in range(2):
        hidden_scopes.hide_scope(by=vault.user, scope="attr.lifestyle.*")
    assert registry_queries.hidden_scopes(vault.user) == {"attr.lifestyle.*"}
    for _ in range(2):
        hidden_scopes.show_scope(by=vault.user, scope="attr.lifestyle.*")
    assert registry_queries.hidden_scopes(vault.user) == set()
    assert _events(vault.user) == [
        ("scope_hidden", {"scope": "attr.lifestyle.*"}),
        ("scope_shown", {"scope": "attr.lifestyle.*"}),
    ]


def test_unknown_scope_cannot_be_hidden_but_a_retired_one_can_be_shown(vault):
    for action in (hidden_scopes.hide_scope, hidden_scopes.show_scope):
        with pytest.raises(NotFound):
            action(by=vault.user, scope="attr.lifestyle.pets.*")
    hidden_scopes.hide_scope(by=vault.user, scope="attr.brands.*")
    ScopeEntry.objects.filter(scope="attr.brands.*").delete()
    hidden_scopes.show_scope(by=vault.user, scope="attr.brands.*")
    assert registry_queries.hidden_scopes(vault.user) == set()


def test_my_data_shows_what_the_registry_offers_and_what_is_held(vault, django_assert_num_queries):
    _write(vault, values=FOOD | {"spice_level": "hot"})
    _write(vault, "contact", "email", {"email": "a@example.org"})
    _delete(vault, 1, "contact", "email")
    hidden_scopes.hide_scope(by=vault.user, scope="attr.lifestyle.food.*")
    with django_assert_num_queries(5):
        cards = {card["domain"]: card for card in web_queries.my_data(vault.user)}
    assert list(cards) == list(Domain.objects.values_list("domain_key", flat=True))
    card = cards["lifestyle"]
    food = next(found for found in card["segments"] if found["segment_id"] == "food")
    blob = Blob.objects.get(user=vault.user, segment_id="food")
    assert {name: card[name] for name in card if name != "segments"} == {
        "domain": "lifestyle",
        "label": "Lifestyle",
        "description": "How you eat, move, shop and spend your days.",
        "icon": "lifestyle",
        "scope": "attr.lifestyle.*",
        "hidden": False,
        "sensitivity_tier": "standard",
        "updated_at": blob.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "stored_count": 3,
    }
    assert [found["segment_id"] for found in card["segments"]] == ["food", "fitness", "shopping", "habits"]
    assert food == {
        "segment_id": "food",
        "label": "Food and drink",
        "description": "What you like to eat and drink.",
        "scope": "attr.lifestyle.food.*",
        "hidden": True,
        "sensitivity_tier": "standard",
        "content_revision": 1,
        "size_bytes": blob.size_bytes,
        "updated_at": blob.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "attributes": [
            {
                "name": "diet_preference",
                "label": "Diet",
                "description": "How you eat, such as vegetarian or halal.",
                "is_stored": True,
            },
            {
                "name": "favorite_cuisine",
                "label": "Favourite cuisine",
                "description": "The kind of food you like best.",
                "is_stored": True,
            },
            {
                "name": "coffee_or_tea",
                "label": "Coffee or tea",
                "description": "Which of the two you reach for.",
                "is_stored": False,
            },
        ],
        "own_attributes": ["spice_level"],
    }
    email = cards["contact"]["segments"][0]
    assert (email["content_revision"], email["size_bytes"], email["updated_at"]) == (2, 0, None)


def test_vault_summary(vault):
    assert web_queries.vault_summary(PersonFactory()) == {
        "available_domains": [],
        "domain_freshness": {},
        "summary_projection": {},
        "total_attributes": 0,
        "capability_flags": {},
    }
    answer = _write(vault)
    assert web_queries.vault_summary(vault.user) == {
        "available_domains": ["lifestyle"],
        "domain_freshness": {"lifestyle": answer["updated_at"]},
        "summary_projection": {"lifestyle": {"food": 2}},
        "total_attributes": 2,
        "capability_flags": {"can_approve": True, "recovery": True, "passkey": False, "continuous": True},
    }
