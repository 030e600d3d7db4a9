"""The vault's own notes: kept, read, resealed at a change of the key, gone with the vault."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from common.limits import Limit
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent_bridge import sealed
from consent_bridge.encoding import decode_base64url, dump_json, encode_base64url, parse_object
from consent_bridge.signatures import sha256
from pkm import notes as notes_actions
from pkm.notes import VaultNotes
from pkm.registry import queries as registry_queries
from pkm.reset import actions as reset_actions
from pkm.segments.actions import destroy_vault
from tests.callers import signed_in
from tests.factories import PersonFactory, give_vault
from tests.pkm.rotation import change
from tests.pkm.sealed_notes import opened_notes, sealed_notes
from tests.pkm.sealed_segments import segment
from tests.pkm.test_reset import week_later

AT, RESEALED = "/vault/notes", "/vault/rotation/notes"
SEEN = {"log": {"size": 4}}


@pytest.fixture
def vault(person):
    return give_vault(person, {("lifestyle", "food"): {"favorite_cuisine": "Thai"}})


def body(vault, base=0, content=SEEN, /, **header):
    return {"jwe": sealed_notes(vault, base + 1, content, **header), "base_revision": base}


def problem_of(answer):
    return answer.status_code, answer.json().get("code"), answer.json().get("member")


# --- the address ------------------------------------------------------------------------------------------------------


def test_there_are_none_at_first(owner, vault):
    assert owner.get(AT).json() == {"revision": 0, "jwe": None, "updated_at": None, "hidden_scopes": []}


def test_they_are_kept_and_read(owner, vault, django_assert_num_queries):
    first = body(vault)
    written = owner.put(AT, first)

    assert (written.status_code, written.json()) == (200, owner.get(AT).json())
    assert {name: written.json()[name] for name in ("revision", "jwe")} == {"revision": 1, "jwe": first["jwe"]}
    second = body(vault, 1, {"log": {"size": 5}})
    assert owner.put(AT, second).json()["revision"] == 2
    with django_assert_num_queries(3):  # session, person, notes
        read = owner.get(AT).json()
    assert opened_notes(read["jwe"], vault.key.secret) == {"log": {"size": 5}}


def states(user):
    """What the person's chain says of the vault's notes."""
    entries = AuditEntry.objects.of(audit.person_chain(user.public_id)).filter(kind="vault_state").order_by("sequence")
    return [entry.facts for entry in entries]


def state_facts(revision, jwe, key_id):
    return {"key_id": key_id, "revision": revision, "notes_sha256": sha256(jwe)}


def test_the_persons_history_tells_of_each_state(owner, vault):
    """By which a device that saw nothing before knows older notes."""
    first, second = body(vault), body(vault, 1)
    owner.put(AT, first)
    owner.put(AT, second)
    assert owner.put(AT, body(vault, 7)).status_code == 409

    named = {"key_id": vault.key.key_id}
    assert states(vault.user) == [state_facts(1, first["jwe"], **named), state_facts(2, second["jwe"], **named)]


def test_nothing_is_overwritten_unseen(owner, vault):
    owner.put(AT, body(vault))

    refused = owner.put(AT, body(vault, 0, {}))

    assert (problem_of(refused)[:2], refused.json()["current_revision"]) == ((409, "stale_revision"), 1)
    assert problem_of(owner.put(AT, body(vault, 4)))[:2] == (409, "stale_revision")
    assert opened_notes(owner.get(AT).json()["jwe"], vault.key.secret) == SEEN


@pytest.mark.parametrize(
    ("header", "member"),
    [({"kid": "vk_t2zp3gog7m6odtqh"}, "kid"), ({"sub": "usr_another"}, "sub"), ({"revision": 2}, "revision")],
)
def test_what_is_sealed_for_elsewhere_is_refused(owner, vault, header, member):
    assert problem_of(owner.put(AT, body(vault, **header))) == (400, "notes_mismatch", member)
    assert not VaultNotes.objects.exists()


@pytest.mark.parametrize("jwe", ["a.b.c.d.e", "text", "....", "é"])
def test_what_is_no_jwe_is_refused(owner, vault, jwe):
    assert problem_of(owner.put(AT, {"jwe": jwe, "base_revision": 0}))[:2] == (400, "notes_mismatch")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"jwe": ""}, "jwe"),
        ({"jwe": None}, "jwe"),
        ({"jwe": "x" * (256 * 1024 + 1)}, "jwe"),
        ({"base_revision": "0"}, "base_revision"),
        ({"base_revision": -1}, "base_revision"),
        ({"base_revision": 2**31 - 1}, "base_revision"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_body_that_does_not_fit_is_named(owner, vault, changes, field):
    refused = owner.put(AT, body(vault) | changes)
    assert (problem_of(refused)[:2], [error["field"] for error in refused.json()["errors"]]) == (
        (400, "invalid_request"),
        [field],
    )


def test_without_a_vault_there_is_nothing_to_seal_them_under(owner, person):
    assert owner.get(AT).json()["revision"] == 0
    assert problem_of(owner.put(AT, {"jwe": "a.b.c.d.e", "base_revision": 0}))[:2] == (409, "vault_absent")


def test_notes_of_somebody_else_are_never_shown_or_replaced(owner, vault):
    owner.put(AT, body(vault))
    other = give_vault(PersonFactory(), {})
    stranger = signed_in(other.user)

    assert stranger.get(AT).json()["revision"] == 0
    assert problem_of(stranger.put(AT, body(vault))) == (400, "notes_mismatch", "kid")
    assert stranger.put(AT, body(other, 0, {})).status_code == 200
    assert opened_notes(owner.get(AT).json()["jwe"], vault.key.secret) == SEEN


# --- together with what they tell of ---------------------------------------------------------------------------------


FOOD = "/vault/segments/lifestyle/food"
HIDDEN = "/vault/hidden-scopes/attr.lifestyle.food.*"


@pytest.fixture
def send(owner, vault):
    """Sends one of the changes of a vault that notes tell of."""

    def sent(change, notes):
        if change == "write":
            values = segment(vault, "lifestyle", "food", {"favorite_cuisine": "Greek"}, base=1)
            return owner.put(FOOD, {**values, "notes": notes})
        if change == "delete":
            return owner.send("DELETE", f"{FOOD}?base_content_revision=1", dump_json({"notes": notes}, "it"))
        return owner.send("PUT" if change == "hide" else "DELETE", HIDDEN, dump_json({"notes": notes}, "it"))

    return sent


def state(owner):
    segments = owner.get("/vault/segments").json()["segments"]
    return [(one["segment_id"], one["content_revision"]) for one in segments], owner.get(AT).json()["hidden_scopes"]


CHANGES = {
    "write": ([("food", 2)], ["attr.lifestyle.*"]),
    "delete": ([], ["attr.lifestyle.*"]),
    "hide": ([("food", 1)], ["attr.lifestyle.*", "attr.lifestyle.food.*"]),
    "show": ([("food", 1)], ["attr.lifestyle.*"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_and_its_notes_are_one(owner, vault, send, change):
    owner.put("/vault/hidden-scopes/attr.lifestyle.*", {})
    owner.put(HIDDEN, {}) if change == "show" else None
    owner.put(AT, body(vault))

    assert send(change, body(vault, 1, {"extra": change})).status_code in (200, 204)

    assert opened_notes(owner.get(AT).json()["jwe"], vault.key.secret) == {"extra": change}
    assert state(owner) == CHANGES[change]


def test_notes_that_protect_nothing_cannot_grow_the_log_without_end(owner, vault, send, monkeypatch):
    monkeypatch.setattr(notes_actions, "_WRITTEN", Limit("vault-notes", 1, 3600, in_database=True))
    assert send("hide", body(vault)).status_code == 204
    assert owner.put(AT, body(vault, 1)).status_code == 200
    before = states(vault.user), state(owner)

    refused = [owner.put(AT, body(vault, 2)), *(send(change, body(vault, 2)) for change in ("write", "hide", "show"))]
    refused.append(send("write", None))  # which could be deleted again with notes, for nothing

    assert [problem_of(answer)[:2] for answer in refused] == [(429, "too_many_requests")] * 5
    assert all(0 < int(answer["Retry-After"]) <= 3600 for answer in refused)
    assert (states(vault.user), state(owner)) == before
    assert send("delete", body(vault, 2)).status_code == 200  # what protects is never refused
    assert [one["revision"] for one in states(vault.user)] == [1, 2, 3]


def test_nothing_is_shown_again_without_the_notes(owner, vault, send):
    """A session alone shows apps nothing that the vault hides; hiding more takes none."""
    owner.put(HIDDEN, {})
    assert send("show", None).status_code == 204  # which no vault remembers
    owner.put(AT, body(vault))
    assert send("hide", None).status_code == 204

    assert problem_of(send("show", None)) == (409, "stale_revision", "notes")
    assert state(owner)[1] == ["attr.lifestyle.food.*"]
    assert send("show", body(vault, 1)).status_code == 204
    assert send("show", None).status_code == 204  # shown already


@pytest.mark.parametrize("change", CHANGES)
def test_without_its_notes_there_is_no_change(owner, vault, send, change):
    """Another device wrote them meanwhile: the client reads them again and sends both once more."""
    owner.put(HIDDEN, {}) if change == "show" else None
    owner.put(AT, body(vault))
    owner.put(AT, body(vault, 1, {"other": "device"}))
    before = state(owner)

    assert problem_of(send(change, body(vault, 1))) == (409, "stale_revision", "notes")
    assert problem_of(send(change, body(vault, 2, SEEN, kid="vk_t2zp3gog7m6odtqh"))) == (400, "notes_mismatch", "kid")

    assert state(owner) == before
    assert opened_notes(owner.get(AT).json()["jwe"], vault.key.secret) == {"other": "device"}


def test_without_its_change_there_are_no_notes(owner, vault):
    owner.put(AT, body(vault))
    stale = {**segment(vault, "lifestyle", "food", {"favorite_cuisine": "Greek"}, base=4), "notes": body(vault, 1)}

    refused = owner.put(FOOD, stale)

    assert (problem_of(refused), refused.json()["current_content_revision"]) == ((409, "stale_revision", None), 1)
    assert owner.get(AT).json()["revision"] == 1


def test_a_form_shows_nothing_again_that_a_vault_may_remember_as_hidden(owner, vault):
    """Hidden, shown and hidden again by forms is fine before the vault keeps notes; from then on it alone shows."""
    form = {"scope": "attr.lifestyle.food.*"}

    def shows_again():
        owner.put(HIDDEN, {})
        owner.client.post("/vault/discovery/", {**form, "hide": "0"})
        return registry_queries.hidden_scopes(vault.user) == set()

    assert shows_again()
    owner.put(AT, body(vault))
    assert not shows_again()
    owner.send("DELETE", HIDDEN, dump_json({"notes": body(vault, 1)}, "it"))
    assert registry_queries.hidden_scopes(vault.user) == set()


# --- made with the vault --------------------------------------------------------------------------------------------


def made_with(person, notes, /, **header):
    """A new vault's body; `header` is of its wrapper."""
    key = replace(sealed.generate_vault_key(), has_notes=True)
    jwe = sealed.wrap(key, "recovery", sealed.generate_recovery_code(), person.public_id)
    if header:
        parts = jwe.split(".")
        members = parse_object(decode_base64url(parts[0], "it"), "it") | header
        jwe = ".".join([encode_base64url(dump_json(members, "it")), *parts[1:]])
    vault = SimpleNamespace(key=key, user=person)
    return {
        "key_id": key.key_id,
        "wrappers": [{"kind": "recovery", "label": "Recovery code", "jwe": jwe}],
        "notes": sealed_notes(vault, *notes),
    }


def test_they_are_made_with_the_vault_whose_way_in_says_so(owner, person):
    assert owner.post("/vault/keys", made_with(person, (1, SEEN))).status_code == 201
    assert owner.get(AT).json()["revision"] == 1


@pytest.mark.parametrize(
    ("notes", "header", "refusal"),
    [
        ((2, SEEN), {}, (400, "notes_mismatch", "revision")),
        ((1, SEEN), {"notes": 2}, (400, "wrapper_mismatch", "notes")),
        ((1, SEEN), {"notes": True}, (400, "wrapper_mismatch", "notes")),
    ],
)
def test_no_vault_is_made_with_others(owner, person, notes, header, refusal):
    assert problem_of(owner.post("/vault/keys", made_with(person, notes, **header))) == refusal
    assert owner.get("/vault/keys").json()["vault_status"] == "absent"
    assert not VaultNotes.objects.exists()


# --- a change of the vault's key --------------------------------------------------------------------------------------


@pytest.fixture
def changing(owner, vault):
    """A change of the key with notes in the vault, everything but them sealed again."""
    owner.put(AT, body(vault))
    begun = change(vault)
    begun.start()
    begun.reseal_all()
    return begun


def under_the_new_key(changing, revision=1, content=SEEN, /, **header):
    return {"jwe": sealed_notes(replace(changing.vault, key=changing.key), revision, content, **header)}


def test_a_change_does_not_end_before_the_notes_are_sealed_again(owner, changing):
    refused = owner.post("/vault/rotation/finish", {})
    assert (problem_of(refused)[:2], refused.json()["missing"]) == ((409, "rotation_incomplete"), [{"notes": True}])

    assert owner.put(RESEALED, under_the_new_key(changing) | {"revision": 1}).status_code == 204
    assert opened_notes(owner.get(AT).json()["jwe"], changing.vault.key.secret) == SEEN  # the old ones until the end
    assert owner.post("/vault/rotation/finish", {}).status_code == 200
    kept = owner.get(AT).json()
    assert (kept["revision"], opened_notes(kept["jwe"], changing.key.secret)) == (1, SEEN)
    assert states(changing.vault.user)[1:] == [state_facts(1, kept["jwe"], changing.key.key_id)]
    assert VaultNotes.objects.get().resealed == ""


def test_notes_written_meanwhile_are_sealed_again(owner, changing):
    owner.put(RESEALED, under_the_new_key(changing) | {"revision": 1})
    newer = {"log": {"size": 9}}
    assert owner.put(AT, body(changing.vault, 1, newer)).status_code == 200

    assert problem_of(owner.post("/vault/rotation/finish", {}))[:2] == (409, "rotation_incomplete")
    stale = owner.put(RESEALED, under_the_new_key(changing) | {"revision": 1})
    assert (problem_of(stale)[:2], stale.json()["current_revision"]) == ((409, "stale_revision"), 2)
    assert owner.put(RESEALED, under_the_new_key(changing, 2, newer) | {"revision": 2}).status_code == 204
    assert owner.post("/vault/rotation/finish", {}).status_code == 200
    assert opened_notes(owner.get(AT).json()["jwe"], changing.key.secret) == newer


@pytest.mark.parametrize("member", ["kid", "sub", "revision"])
def test_resealed_notes_that_do_not_belong_there_are_refused(owner, changing, member):
    other = {"kid": changing.vault.key.key_id, "sub": "usr_another", "revision": 2}
    unfit = under_the_new_key(changing, **{member: other[member]}) | {"revision": 1}
    assert problem_of(owner.put(RESEALED, unfit)) == (400, "notes_mismatch", member)
    assert VaultNotes.objects.get().resealed == ""


def test_given_up_the_notes_are_as_before(owner, changing):
    owner.put(RESEALED, under_the_new_key(changing) | {"revision": 1})
    assert owner.delete("/vault/rotation").status_code == 204

    assert VaultNotes.objects.get().resealed == ""
    assert opened_notes(owner.get(AT).json()["jwe"], changing.vault.key.secret) == SEEN


def test_without_a_change_or_notes_nothing_is_resealed(owner, vault):
    unfit = body(vault)
    assert problem_of(owner.put(RESEALED, {"jwe": unfit["jwe"], "revision": 1}))[:2] == (404, "not_found")
    change(vault).start()
    assert problem_of(owner.put(RESEALED, {"jwe": unfit["jwe"], "revision": 1}))[:2] == (409, "stale_revision")


def test_a_stranger_reseals_nothing_of_somebody_elses(changing):
    stranger = signed_in(give_vault(PersonFactory(), {}).user)
    assert problem_of(stranger.put(RESEALED, under_the_new_key(changing) | {"revision": 1}))[:2] == (404, "not_found")
    assert VaultNotes.objects.get().resealed == ""


# --- the end of the vault ---------------------------------------------------------------------------------------------


def test_they_go_with_a_vault_that_is_given_up(owner, vault, person):
    owner.put(AT, body(vault))
    owner.post("/vault/reset")
    week_later()
    assert reset_actions.carry_out_resets() == 1

    assert owner.get(AT).json()["revision"] == 0
    new = give_vault(person, {})
    assert owner.put(AT, body(new)).json()["revision"] == 1


def test_they_go_with_a_vault_that_is_destroyed(owner, vault, person):
    owner.put(AT, body(vault))
    destroy_vault(of=person)
    assert not VaultNotes.objects.exists()


def test_a_change_under_way_takes_no_notes_under_the_new_key_yet(owner, changing):
    early = {**under_the_new_key(changing, 2), "base_revision": 1}
    assert problem_of(owner.put(AT, early)) == (400, "notes_mismatch", "kid")
