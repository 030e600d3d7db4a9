"""Eight writers at once: one wins, the others are told, and the history has no gap."""

import threading
from collections import Counter

import pytest
from django.db import connection

from common.problems import Problem
from consent_bridge import sealed
from pkm.history.models import Event, Index
from pkm.registry.models import Domain, ScopeEntry, StarterRecord
from pkm.registry.starter import starter_domains, starter_entries
from pkm.registry.sync import sync_registry
from pkm.rotation import actions as rotation_actions
from pkm.segments import actions as segment_actions
from pkm.segments import queries as segment_queries
from pkm.segments.models import Blob, Manifest
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.vault.models import KeyWrapper, VaultKey
from tests.factories import PersonFactory, give_vault
from tests.locks import somebody_waits_for_a_lock
from tests.patience import MOST_SECONDS, eventually
from tests.pkm.rotation import change
from tests.pkm.sealed_segments import segment, wrapper

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),  # each thread has a connection of its own
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="row locks need PostgreSQL"),
]
WRITERS = 8


def _together(*calls):
    """Run the calls at the same moment, each in a thread of its own; what each returned, or the code it was refused."""
    start, outcomes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(index, call):
        start.wait()
        try:
            outcomes[index] = call()
        except Problem as problem:
            outcomes[index] = problem.code
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def _gapless(person):
    sequences = list(Event.objects.filter(user=person).order_by("sequence").values_list("sequence", flat=True))
    return sequences == list(range(1, len(sequences) + 1))


def test_one_of_many_writers_of_a_revision_wins():
    vault = give_vault(PersonFactory(), {})
    for base in range(10):
        bodies = [
            segment(vault, "lifestyle", "food", {"favorite_cuisine": "Thai", f"by_{writer}": writer}, base=base)
            for writer in range(WRITERS)
        ]
        outcomes = _together(
            *(
                lambda body=body: segment_actions.write_segment(
                    by=vault.user, domain="lifestyle", segment_id="food", **body
                )
                for body in bodies
            )
        )
        (winner,) = [index for index, outcome in enumerate(outcomes) if isinstance(outcome, dict)]
        assert Counter(outcome for outcome in outcomes if isinstance(outcome, str)) == {"stale_revision": WRITERS - 1}
        kept = Blob.objects.get(user=vault.user, is_current=True)
        assert (kept.content_revision, kept.ciphertext) == (base + 1, bodies[winner]["jwe"])
        assert segment_queries.stored_attributes(vault.user) == {
            ("lifestyle", "food"): {"favorite_cuisine", f"by_{winner}"}
        }
    assert _gapless(vault.user)


def test_writers_of_different_segments_all_win_and_the_index_adds_up():
    vault = give_vault(PersonFactory(), {})
    places = [
        ("lifestyle", "food"), ("lifestyle", "fitness"), ("lifestyle", "shopping"), ("lifestyle", "habits"),
        ("contact", "email"), ("contact", "phone"), ("brands", "affinity"), ("identity", "basic"),
    ]  # fmt: skip
    outcomes = _together(
        *(
            lambda place=place: segment_actions.write_segment(
                by=vault.user, domain=place[0], segment_id=place[1], **segment(vault, *place, {"one": 1, "two": 2})
            )
            for place in places
        )
    )
    assert [outcome["content_revision"] for outcome in outcomes] == [1] * len(places)
    index = Index.objects.get(user=vault.user)
    assert index.total_attributes == 16
    assert index.summary_projection == {
        "brands": {"affinity": 2},
        "contact": {"email": 2, "phone": 2},
        "identity": {"basic": 2},
        "lifestyle": {"food": 2, "fitness": 2, "shopping": 2, "habits": 2},
    }
    manifest = Manifest.objects.get(user=vault.user, domain="lifestyle", is_current=True)
    assert (manifest.path_count, manifest.manifest_revision) == (8, 4)
    assert _gapless(vault.user)


def test_vault_is_created_by_one_of_many():
    person, key = PersonFactory(), sealed.generate_vault_key()
    way = vault_actions.NewWrapper(**wrapper(person, key))
    outcomes = _together(*[lambda: vault_actions.create_vault(by=person, key_id=key.key_id, wrappers=[way])] * WRITERS)
    assert Counter(outcome for outcome in outcomes if isinstance(outcome, str)) == {"vault_exists": WRITERS - 1}
    assert (VaultKey.objects.count(), KeyWrapper.objects.count()) == (1, 1)
    assert _gapless(person)


def test_one_way_in_survives_when_all_are_removed_at_once():
    vault = give_vault(PersonFactory(), {})
    for _ in range(WRITERS - 1):
        vault_actions.add_wrapper(by=vault.user, wrapper=vault_actions.NewWrapper(**wrapper(vault.user, vault.key)))
    ways = [way["wrapper_id"] for way in vault_queries.vault_keys(vault.user)["wrappers"]]
    outcomes = _together(*(lambda way=way: vault_actions.remove_wrapper(by=vault.user, wrapper_id=way) for way in ways))
    assert Counter(outcomes) == {None: WRITERS - 1, "last_wrapper": 1}
    (left,) = vault_queries.vault_keys(vault.user)["wrappers"]
    assert vault_queries.vault_keys(vault.user)["primary_wrapper_id"] == left["wrapper_id"]


def test_a_lock_on_the_revisions_holds_off_writers_until_commit():
    """What a decision compared its sources with is still so when it commits."""
    from django.db import transaction

    vault = give_vault(PersonFactory())
    written = threading.Event()

    def write():
        body = segment(vault, "lifestyle", "food", {"favorite_cuisine": "Greek"}, base=1)
        segment_actions.write_segment(by=vault.user, domain="lifestyle", segment_id="food", **body)
        written.set()
        connection.close()

    writer = threading.Thread(target=write)
    with transaction.atomic():
        segment_queries.current_revisions(vault.user, [("lifestyle", "food")], lock=True)
        writer.start()
        eventually(somebody_waits_for_a_lock, "the writer's wait")
        assert not written.is_set()
    writer.join(MOST_SECONDS)
    assert written.is_set()


def test_one_of_two_runs_brings_the_registry_to_the_list_and_the_other_finds_it_there():
    """From nothing, so that there is no row whose lock alone would let one wait for the other."""
    for model in (ScopeEntry, Domain, StarterRecord):
        model.objects.all().delete()
    diffs = _together(sync_registry, sync_registry)
    assert sorted(diff.count("added") for diff in diffs if diff) == [0, StarterRecord.objects.count()]
    assert (ScopeEntry.objects.count(), Domain.objects.count()) == (len(starter_entries()), len(starter_domains()))


@pytest.mark.parametrize("round_", range(8))
def test_write_beside_the_end_of_a_change_of_the_key_is_kept_or_refused(round_):
    vault = give_vault(PersonFactory())
    changing = change(vault)
    changing.start()
    changing.reseal_all()
    write = segment(vault, "lifestyle", "food", {"favorite_cuisine": "Lao"}, base=1)
    written, ended = _together(
        lambda: segment_actions.write_segment(by=vault.user, domain="lifestyle", segment_id="food", **write),
        lambda: rotation_actions.finish_rotation(by=vault.user),
    )
    if isinstance(written, dict):
        assert ended == "rotation_incomplete"
        changing.reseal()
        rotation_actions.finish_rotation(by=vault.user)
        assert changing.opened() == {"lifestyle.food": {"favorite_cuisine": "Lao"}}
    else:
        assert (written, ended["vault_status"]) == ("segment_mismatch", "active")
        assert changing.opened() == {"lifestyle.food": vault.segments["lifestyle", "food"]}
    assert _gapless(vault.user)


def test_nothing_that_was_acknowledged_is_lost_while_the_key_is_changed():
    """Writers go on under the old key, two browsers seal again, and each tries to end it all the time."""
    places = [("lifestyle", "food"), ("lifestyle", "fitness"), ("contact", "email"), ("identity", "basic")]
    vault = give_vault(PersonFactory(), {place: {"one": 0} for place in places})
    changing = change(vault)
    changing.start()
    kept = dict.fromkeys(places, 0)

    def write(place):
        for number in range(1, 9):
            body = segment(vault, *place, {"one": number}, base=number)
            segment_actions.write_segment(by=vault.user, domain=place[0], segment_id=place[1], **body)
            kept[place] = number

    def seal_again():
        while True:
            try:
                changing.reseal_all()
                return rotation_actions.finish_rotation(by=vault.user)
            except Problem as problem:
                if problem.code not in ("rotation_incomplete", "stale_revision"):
                    raise

    _together(*(lambda place=place: write(place) for place in places), seal_again, seal_again)
    assert VaultKey.objects.get(user=vault.user).key_id == changing.key.key_id
    assert changing.opened() == {".".join(place): {"one": number} for place, number in kept.items()}
    assert _gapless(vault.user)


def test_one_of_two_starts_wins():
    vault = give_vault(PersonFactory())
    outcomes = _together(change(vault).start, change(vault).start)
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == ["rotation_under_way"]


@pytest.mark.parametrize("round_", range(8))
def test_one_of_end_and_giving_up_wins(round_):
    vault = give_vault(PersonFactory())
    changing = change(vault)
    changing.start()
    changing.reseal_all()
    ended, given_up = _together(
        lambda: rotation_actions.finish_rotation(by=vault.user),
        lambda: rotation_actions.give_up_rotation(by=vault.user),
    )
    assert (ended == "not_found") != (given_up == "not_found")
    key = changing.key if isinstance(ended, dict) else vault.key
    assert VaultKey.objects.get(user=vault.user).key_id == key.key_id
