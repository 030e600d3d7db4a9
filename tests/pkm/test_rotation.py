"""Changing the key of a vault: nothing is lost, whatever happens in between."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from consent.decisions import actions as decision_actions
from consent.exports.models import Export
from consent.grants.models import Grant
from consent_bridge import sealed
from pkm import errors
from pkm.history.models import Event, Index
from pkm.rotation import actions as rotation_actions
from pkm.rotation import queries as rotation_queries
from pkm.segments.actions import delete_segment, destroy_vault
from pkm.segments.checks import flaws
from pkm.segments.models import Blob
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.vault.models import KeyWrapper, RotationWrapper, VaultKey
from tests.callers import signed_in
from tests.consent.decisions import approval, refreshed
from tests.factories import (
    ConsentRequestFactory,
    LegacyBlobFactory,
    MigrationStateFactory,
    PersonFactory,
    give_vault,
    known_as,
)
from tests.pkm.old_data import finish
from tests.pkm.rotation import change, mark_of
from tests.pkm.sealed_segments import segment, wrapper
from tests.refused import refused_as

SEGMENTS = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai"},
    ("lifestyle", "fitness"): {"gym_membership": True},
    ("identity", "basic"): {"full_name": "Zoe"},
}
VALUES = {".".join(place): values for place, values in SEGMENTS.items()}
FOOD = "/vault/rotation/segments/lifestyle/food"


@pytest.fixture
def changing(person):
    """A person whose vault holds three segments, and the key to come; nothing has begun."""
    return change(give_vault(person, SEGMENTS))


def _state(person):
    vault = VaultKey.objects.get(user=person)
    return vault.vault_status, vault.key_id, vault.rotation_key_id


def _code(answer):
    return answer.status_code, answer.json()["code"]


# --- the whole way ----------------------------------------------------------------------------------------------------


def test_key_is_changed_over_the_addresses(owner, changing):
    body = changing.body("recovery", "passkey")
    before = owner.get("/vault/keys").json()
    assert before["rotation"] is None
    started = owner.post("/vault/rotation", body)
    assert started.status_code == 201
    state = started.json()
    assert state == rotation_queries.rotation(changing.vault.user)
    assert (state["key_id"], state["done"], state["total"]) == (changing.key.key_id, 0, 3)
    assert [way["jwe"] for way in state["wrappers"]] == [way["jwe"] for way in body["wrappers"]]
    assert state["segments"] == [
        {"domain": domain, "segment_id": name, "content_revision": 1, "resealed": False}
        for domain, name in sorted(SEGMENTS)
    ]
    keys = owner.get("/vault/keys").json()
    assert keys == before | {
        "vault_status": "rotating",
        "rotation": {"key_id": changing.key.key_id, "done": 0, "total": 3},
    }
    assert _code(owner.post("/vault/rotation/finish", {})) == (409, "rotation_incomplete")
    copies = []
    for done, (domain, name) in enumerate(sorted(SEGMENTS), start=1):
        copy = changing.resealed(domain, name)
        address = f"/vault/rotation/segments/{domain}/{name}"
        kept = owner.put(address, copy)
        place = {"domain": domain, "segment_id": name, "content_revision": 1, "size_bytes": len(copy["jwe"])}
        assert (kept.status_code, kept.json()) == (200, place | {"done": done, "total": 3})
        assert owner.get(address).json() == place | {"jwe": copy["jwe"]}
        copies.append((domain, name, 1, copy["jwe"]))
    assert _code(owner.post("/vault/rotation/finish", {"read_back": "0" * 64})) == (409, "rotation_incomplete")
    done = owner.post("/vault/rotation/finish", {"read_back": mark_of(*reversed(copies))})
    assert done.status_code == 200
    after = owner.get("/vault/keys").json()
    assert done.json() == after
    assert (after["key_id"], after["vault_status"], after["rotation"]) == (changing.key.key_id, "active", None)
    assert [way["jwe"] for way in after["wrappers"]] == [way["jwe"] for way in body["wrappers"]]
    assert after["primary_wrapper_id"] == after["wrappers"][1]["wrapper_id"]  # a recovery code is offered last
    assert changing.opened() == VALUES


def test_end_tells_what_became_of_the_ways_in(changing):
    person = changing.vault.user
    old = KeyWrapper.objects.get(user=person)
    (new,) = changing.start()["wrappers"]
    changing.reseal_all()
    rotation_actions.finish_rotation(by=person)
    events = Event.objects.filter(user=person).order_by("-sequence").values_list("kind", "facts")[:2]
    assert list(reversed(events)) == [
        ("wrapper_removed", {"wrapper_id": old.wrapper_id, "kind": "recovery"}),
        ("wrapper_added", {"wrapper_id": new["wrapper_id"], "kind": "recovery", "key_id": changing.key.key_id}),
    ]
    assert not RotationWrapper.objects.exists()
    assert list(flaws()) == []


def test_older_revisions_and_removed_ways_in_go_at_the_end(owner, changing):
    person = changing.vault.user
    changing.vault.write("lifestyle", "food", {"favorite_cuisine": "Georgian"}, base=1)
    added = vault_actions.add_wrapper(
        by=person, wrapper=vault_actions.NewWrapper(**wrapper(person, changing.vault.key))
    )["wrapper_id"]
    vault_actions.remove_wrapper(by=person, wrapper_id=added)
    changing.start()
    changing.reseal_all()
    assert Blob.objects.filter(user=person).count() == 4
    rotation_actions.finish_rotation(by=person)
    assert Blob.objects.filter(user=person).count() == 3
    assert vault_queries.removed_wrappers(person) == []
    assert owner.post(f"/vault/wrappers/{added}/restore", {}).status_code == 404
    assert changing.opened() == VALUES | {"lifestyle.food": {"favorite_cuisine": "Georgian"}}


def test_next_change_works_as_the_first(changing):
    changing.start()
    changing.reseal_all()
    rotation_actions.finish_rotation(by=changing.vault.user)
    vault = type(changing.vault)(changing.vault.user, changing.key, "", None, SEGMENTS, changing.vault.root)
    second = change(vault)
    second.start()
    second.reseal_all()
    rotation_actions.finish_rotation(by=vault.user)
    assert second.opened() == VALUES


def test_vault_that_holds_nothing_changes_its_key_at_once(person):
    changing = change(give_vault(person, {}))
    assert changing.start()["total"] == 0
    rotation_actions.finish_rotation(by=person)
    assert _state(person) == ("active", changing.key.key_id, "")


# --- meanwhile --------------------------------------------------------------------------------------------------------


def test_write_meanwhile_is_sealed_again_before_the_end(owner, changing):
    changing.start()
    changing.reseal_all()
    stale = changing.resealed()
    changing.vault.write("lifestyle", "food", {"favorite_cuisine": "Lao"}, base=1)
    assert owner.get(FOOD).status_code == 404
    refused = owner.post("/vault/rotation/finish", {})
    assert _code(refused) == (409, "rotation_incomplete")
    missing = [{"domain": "lifestyle", "segment_id": "food", "content_revision": 2}]
    assert {name: refused.json()[name] for name in ("done", "total", "missing")} == {
        "done": 2,
        "total": 3,
        "missing": missing,
    }
    late = owner.put(FOOD, stale)
    assert (_code(late), late.json()["current_content_revision"]) == ((409, "stale_revision"), 2)
    changing.reseal()
    rotation_actions.finish_rotation(by=changing.vault.user)
    assert changing.opened() == VALUES | {"lifestyle.food": {"favorite_cuisine": "Lao"}}


def test_new_and_deleted_segments_meanwhile_count_as_they_are(changing):
    person = changing.vault.user
    changing.start()
    changing.reseal_all()
    changing.vault.write("contact", "email", {"email": "zoe@example.org"})
    delete_segment(by=person, domain="identity", segment_id="basic", base_content_revision=1)
    with refused_as(errors.RotationIncomplete):
        rotation_actions.finish_rotation(by=person)
    changing.reseal("contact", "email")
    rotation_actions.finish_rotation(by=person)
    kept = {name: values for name, values in VALUES.items() if name != "identity.basic"}
    assert changing.opened() == kept | {"contact.email": {"email": "zoe@example.org"}}
    tombstone = Blob.objects.get(user=person, domain="identity", is_current=True)
    assert (tombstone.content_revision, tombstone.ciphertext) == (2, None)


def test_old_key_is_refused_after_the_end(owner, changing):
    changing.start()
    changing.reseal_all()
    rotation_actions.finish_rotation(by=changing.vault.user)
    late = segment(changing.vault, "lifestyle", "food", {"favorite_cuisine": "Lao"}, base=1)
    refused = owner.put("/vault/segments/lifestyle/food", late)
    assert (_code(refused), refused.json()["member"]) == ((400, "segment_mismatch"), "kid")


def test_ways_in_stay_as_they_are_until_the_end(owner, changing):
    person = changing.vault.user
    way = wrapper(person, changing.vault.key)
    gone = owner.post("/vault/wrappers", way).json()["wrapper_id"]
    kept = owner.post("/vault/wrappers", way).json()["wrapper_id"]
    owner.delete(f"/vault/wrappers/{gone}")
    changing.start()
    for answer in (
        owner.post("/vault/wrappers", way),
        owner.delete(f"/vault/wrappers/{kept}"),
        owner.post(f"/vault/wrappers/{gone}/restore", {}),
    ):
        assert _code(answer) == (409, "rotation_under_way")
    assert owner.delete("/vault/rotation").status_code == 204
    assert owner.delete(f"/vault/wrappers/{kept}").status_code == 204


def test_apps_are_told_that_the_person_can_approve_meanwhile(api, changing):
    changing.start()
    found = api.get(f"/user-scopes/{known_as(api.app, changing.vault.user)}").json()
    assert found["runtime"]["can_approve"] is True
    assert list(flaws()) == []


def test_approval_and_refresh_meanwhile_hold_after_the_end(api, owner, changing):
    request = ConsentRequestFactory(user=changing.vault.user, app=api.app, refresh_policy="continuous")
    changing.start()
    changing.reseal_all()
    decision_actions.approve(request_id=request.request_id, by=request.user, body=approval(request, changing.vault))
    changing.vault.write("lifestyle", "food", {"favorite_cuisine": "Lao"}, base=1)
    newer = replace(changing.vault, segments={("lifestyle", "food"): {"favorite_cuisine": "Lao"}})
    grant = Grant.objects.get()
    assert owner.put(f"/consent/grants/{grant.grant_id}/export", refreshed(newer, grant)).status_code == 200
    changing.reseal()
    rotation_actions.finish_rotation(by=request.user)
    assert api.get("/consent-status", request_id=request.request_id).json()["status"] == "approved"
    assert Export.objects.get(ciphertext__isnull=False).revision == 2
    assert owner.get("/consent/grants/outdated").json() == {"grants": []}
    assert changing.opened() == VALUES | {"lifestyle.food": {"favorite_cuisine": "Lao"}}


def test_old_row_moved_meanwhile_is_sealed_again_before_the_end(owner, changing):
    person = changing.vault.user
    LegacyBlobFactory(user=person)
    MigrationStateFactory(user=person)
    changing.start()
    changing.reseal_all()
    changing.vault.write("lifestyle", "food", {"favorite_cuisine": "Georgian"}, base=1)
    moved = owner.post("/vault/legacy/lifestyle/finish", finish(segments={"food": 2}))
    assert (moved.status_code, moved.json()["status"]) == (200, "completed")
    assert _code(owner.post("/vault/rotation/finish", {})) == (409, "rotation_incomplete")
    changing.reseal()
    rotation_actions.finish_rotation(by=person)
    assert changing.opened() == VALUES | {"lifestyle.food": {"favorite_cuisine": "Georgian"}}


# --- giving up, and refusals ------------------------------------------------------------------------------------------


def test_given_up_everything_is_as_before(owner, changing):
    person = changing.vault.user
    before = owner.get("/vault/keys").json(), owner.get("/vault/segments").json()
    changing.start()
    changing.reseal()
    assert owner.delete("/vault/rotation").status_code == 204
    assert (owner.get("/vault/keys").json(), owner.get("/vault/segments").json()) == before
    assert _state(person) == ("active", changing.vault.key.key_id, "")
    assert not RotationWrapper.objects.exists()
    assert not Blob.objects.exclude(resealed=None).exists()
    changing.start()  # the same key once more harms nothing


def test_without_a_change_under_way_there_is_nothing_to_go_on_with(owner, changing):
    copy = {"jwe": "a.b.c.d.e", "content_revision": 1}
    for answer in (
        owner.get("/vault/rotation"),
        owner.get(FOOD),
        owner.put(FOOD, copy),
        owner.post("/vault/rotation/finish", {}),
        owner.delete("/vault/rotation"),
    ):
        assert _code(answer) == (404, "not_found")


def test_without_a_vault_no_key_can_be_changed(owner, person):
    key = sealed.generate_vault_key()
    answer = owner.post("/vault/rotation", {"key_id": key.key_id, "wrappers": [wrapper(person, key)]})
    assert _code(answer) == (409, "vault_absent")


def test_start_said_twice_is_one_start_and_another_is_refused(owner, changing):
    body = changing.body()
    first = owner.post("/vault/rotation", body)
    again = owner.post("/vault/rotation", body)
    assert (again.status_code, again.json()) == (201, first.json())
    assert _code(owner.post("/vault/rotation", changing.body())) == (409, "rotation_under_way")
    assert _code(owner.post("/vault/rotation", change(changing.vault).body())) == (409, "rotation_under_way")


@pytest.mark.parametrize("taken", ["own", "somebody's", "somebody's next"])
def test_key_that_is_taken_is_refused(owner, changing, taken):
    other = change(give_vault(PersonFactory(), {}))
    other.start()
    key = {"own": changing.vault.key, "somebody's": other.vault.key, "somebody's next": other.key}[taken]
    body = changing.body() | {
        "key_id": key.key_id,
        "wrappers": [wrapper(changing.vault.user, key)],
        "signing_jwe": sealed.seal_root(changing.vault.root, key.secret, key.key_id, changing.vault.user.public_id),
    }
    assert _code(owner.post("/vault/rotation", body)) == (400, "invalid_request")


def test_wrapper_of_the_present_key_is_refused(owner, changing):
    ways = [wrapper(changing.vault.user, changing.vault.key)]
    answer = owner.post("/vault/rotation", changing.body() | {"wrappers": ways})
    assert (_code(answer), answer.json()["member"]) == ((400, "wrapper_mismatch"), "kid")


@pytest.mark.parametrize("changes", [{"wrappers": []}, {"signing_jwe": 1}, {"key_id": "vk_!"}, {"possession": "A"}])
def test_start_that_does_not_fit_is_refused(owner, changing, changes):
    assert _code(owner.post("/vault/rotation", changing.body() | changes)) == (400, "invalid_request")


@pytest.mark.parametrize("member", ["kid", "sub", "domain", "segment_id", "content_revision"])
def test_resealed_segment_that_does_not_belong_there_is_refused(owner, changing, member):
    changing.start()
    other = {
        "kid": changing.vault.key.key_id,
        "sub": "usr_another",
        "domain": "identity",
        "segment_id": "fitness",
        "content_revision": 2,
    }
    answer = owner.put(FOOD, changing.resealed(header={member: other[member]}))
    assert (_code(answer), answer.json()["member"]) == ((400, "segment_mismatch"), member)
    assert rotation_queries.rotation(changing.vault.user)["done"] == 0


def test_resealed_segment_of_nothing_is_refused(owner, changing):
    changing.start()
    answer = owner.put("/vault/rotation/segments/contact/email", {"jwe": "a.b.c.d.e", "content_revision": 1})
    assert _code(answer) == (404, "not_found")


def test_resealed_segment_takes_no_room_beyond_the_quota(owner, changing, settings):
    settings.STORAGE_BYTES_PER_PERSON = settings.STORAGE_BYTES_UNVERIFIED = 100
    changing.start()
    changing.reseal()  # what takes no more room than before is never refused
    person, key = changing.vault.user, changing.key
    header = sealed.SegmentHeader(key.key_id, person.public_id, "lifestyle", "food", 1)
    jwe = sealed.seal_segment({"favorite_cuisine": "Thai" * 200}, key.secret, header)
    assert _code(owner.put(FOOD, {"jwe": jwe, "content_revision": 1})) == (413, "quota_exceeded")


# --- held in the database ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"vault_status": "rotating"},
        {"rotation_key_id": "vk_another"},
        {"vault_status": "active", "rotation_started_at": "2026-11-20T10:00:00Z"},
    ],
)
def test_status_and_key_to_come_go_together(changing, changes):
    with pytest.raises(IntegrityError), transaction.atomic():
        VaultKey.objects.filter(user=changing.vault.user).update(**changes)


@pytest.mark.parametrize("changes", [{"is_current": False}, {"resealed_sha256": ""}, {"resealed": None}])
def test_only_what_stands_is_resealed(changing, changes):
    changing.start()
    changing.reseal()
    with pytest.raises(IntegrityError), transaction.atomic():
        Blob.objects.filter(user=changing.vault.user, segment_id="food").update(**changes)


def test_erasing_leaves_nothing_of_a_change(changing):
    changing.start()
    changing.reseal()
    destroy_vault(of=changing.vault.user)
    assert not any(model.objects.exists() for model in (VaultKey, RotationWrapper, Blob, Index))


def test_addresses_take_as_many_queries_as_they_need(owner, changing, django_assert_num_queries):
    changing.start()
    with django_assert_num_queries(6):  # session, person, vault, two counts of segments, wrappers
        owner.get("/vault/rotation")


def test_nobody_elses_change_is_there(changing):
    changing.start()
    changing.reseal()
    stranger = signed_in(PersonFactory())
    assert stranger.get("/vault/rotation").status_code == stranger.get(FOOD).status_code == 404
