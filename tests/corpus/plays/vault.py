"""The vault's JSON addresses: keys, ways in, segments, hidden scopes."""

from typing import Any

from django.test import override_settings

from common import encryption
from consent_bridge import sealed
from tests import factories
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import Caller, Stage
from tests.pkm.old_data import finish, progress
from tests.pkm.rotation import change
from tests.pkm.sealed_segments import segment, wrapper

KEYS, WRAPPERS, SEGMENTS, UNLOCKED = "/vault/keys", "/vault/wrappers", "/vault/segments", "/vault/unlocked"
FOOD = f"{SEGMENTS}/lifestyle/food"


def play(stage: Stage) -> None:
    _keys(stage)
    vault = factories.give_vault(factories.PersonFactory())
    owner = Caller.signed_in("owner", vault.user)
    late = Caller.signed_in("owner, an hour after signing in", vault.user, seconds_ago=3600)
    _wrappers(stage, vault, owner, late)
    _segments(stage, vault, owner)
    _hidden(stage, owner)
    _old_data(stage)
    _rotation(stage)
    _reset(stage)


def _keys(stage: Stage) -> None:
    person = factories.PersonFactory()
    newcomer = Caller.signed_in("newcomer", person)
    key = sealed.generate_vault_key()
    body: dict[str, Any] = {"key_id": key.key_id, "wrappers": [wrapper(person, key)]}
    stage.call("no vault yet", newcomer, "GET", KEYS)
    stage.call("no vault yet", newcomer, "GET", SEGMENTS)
    stage.call("no vault to unlock", newcomer, "POST", UNLOCKED, {"wrapper_id": "wrp_unknown"})
    unsealed = {"jwe": "a.b.c.d.e", "base_content_revision": 0, "attributes": []}
    stage.call("no vault to write to", newcomer, "PUT", FOOD, unsealed)
    refusals(stage, newcomer, "POST", KEYS, body)
    stage.call("no way in", newcomer, "POST", KEYS, {**body, "wrappers": []})
    stage.call("a key ID that is none", newcomer, "POST", KEYS, {**body, "key_id": "vk_!"})
    other = wrapper(factories.PersonFactory(), key)
    stage.call("somebody else's way in", newcomer, "POST", KEYS, {**body, "wrappers": [other]})
    broken = {**body["wrappers"][0], "jwe": "a.b.c.d.e"}
    stage.call("a way in that is none", newcomer, "POST", KEYS, {**body, "wrappers": [broken]})
    stage.call("created", newcomer, "POST", KEYS, body)
    stage.call("created twice", newcomer, "POST", KEYS, body)
    stage.call("the vault", newcomer, "GET", KEYS)
    refusals(stage, newcomer, "GET", KEYS)


def _wrappers(stage: Stage, vault: Any, owner: Caller, late: Caller) -> None:
    first = vault.user.key_wrappers.get().wrapper_id
    second = wrapper(vault.user, vault.key, label="Another way in")
    refusals(stage, owner, "POST", WRAPPERS, second)
    stage.call("signed in long ago", late, "POST", WRAPPERS, second)
    stage.call("the last way in", owner, "DELETE", f"{WRAPPERS}/{first}")
    for what, changes in {
        "an empty label": {"label": " "},
        "a label of two lines": {"label": "a\nb"},
        "an unknown kind": {"kind": "face"},
        "a passkey without its credential": {"kind": "passkey"},
        "a credential of no passkey": {"credential_id": "abc"},
    }.items():
        stage.call(what, owner, "POST", WRAPPERS, {**second, **changes})
    added = stage.call("added", owner, "POST", WRAPPERS, second).json()["wrapper_id"]
    passkey = wrapper(vault.user, vault.key, "passkey")
    stage.call("a passkey", owner, "POST", WRAPPERS, passkey)
    refusals(stage, owner, "DELETE", f"{WRAPPERS}/{added}")
    refusals(stage, owner, "POST", f"{WRAPPERS}/{added}/restore", {})
    stage.call("signed in long ago", late, "DELETE", f"{WRAPPERS}/{added}")
    stage.call("removed", owner, "DELETE", f"{WRAPPERS}/{added}")
    stage.call("removed twice", owner, "DELETE", f"{WRAPPERS}/{added}")
    stage.call("with one removed", owner, "GET", KEYS)
    stage.call("signed in long ago", late, "POST", f"{WRAPPERS}/{added}/restore", {})
    stage.call("restored", owner, "POST", f"{WRAPPERS}/{added}/restore", {})
    stage.call("restored twice", owner, "POST", f"{WRAPPERS}/{added}/restore", {})
    stage.call("unknown", owner, "POST", f"{WRAPPERS}/wrp_unknown/restore", {})
    refusals(stage, owner, "POST", UNLOCKED, {"wrapper_id": first})
    stage.call("unlocked", owner, "POST", UNLOCKED, {"wrapper_id": first})
    stage.call("unlocked by what is unknown", owner, "POST", UNLOCKED, {"wrapper_id": "wrp_unknown"})
    stage.call("after all this", owner, "GET", KEYS)


def _segments(stage: Stage, vault: Any, owner: Caller) -> None:
    stage.call("all", owner, "GET", SEGMENTS)
    for query in ("domain=lifestyle", "domain=identity", "scope=attr.lifestyle.food.*", "scope=attr.identity.*"):
        stage.call("some", owner, "GET", f"{SEGMENTS}?{query}")
    for query in ("domain=!", "scope=food", "domain=lifestyle&scope=attr.lifestyle.*", "domain=a&domain=b", "bogus=1"):
        stage.call("does not fit", owner, "GET", f"{SEGMENTS}?{query}")
    refusals(stage, owner, "GET", SEGMENTS)
    values = {"favorite_cuisine": "Thai"}
    good = segment(vault, "lifestyle", "food", values, base=1)
    refusals(stage, owner, "PUT", FOOD, good)
    for what, changes in {
        "another address": {"segment_id": "fitness"},
        "another person": {"sub": "usr_unknown"},
        "another revision": {"content_revision": 9},
        "another key": {"kid": sealed.generate_vault_key().key_id},
    }.items():
        stage.call(what, owner, "PUT", FOOD, segment(vault, "lifestyle", "food", values, base=1, header=changes))
    stage.call("no such segment", owner, "PUT", f"{SEGMENTS}/lifestyle/unknown", good)
    stage.call("no such domain", owner, "PUT", f"{SEGMENTS}/unknown/food", good)
    stage.call("sealed to nothing", owner, "PUT", FOOD, {**good, "jwe": "a.b.c.d.e"})
    stage.call("an attribute twice", owner, "PUT", FOOD, {**good, "attributes": ["a", "a"]})
    stage.call("too many attributes", owner, "PUT", FOOD, {**good, "attributes": [f"a{n}" for n in range(501)]})
    stage.call("a stale revision", owner, "PUT", FOOD, segment(vault, "lifestyle", "food", values, base=0))
    stage.call("a revision to come", owner, "PUT", FOOD, segment(vault, "lifestyle", "food", values, base=5))
    stage.call("written", owner, "PUT", FOOD, good)
    stage.call(
        "a new one", owner, "PUT", f"{SEGMENTS}/identity/basic", segment(vault, "identity", "basic", {"age": 30})
    )
    with override_settings(STORAGE_BYTES_PER_PERSON=10, STORAGE_BYTES_UNVERIFIED=10):
        longer = {"favorite_cuisine": "Thai and Lao, and on Sundays whatever there is"}
        stage.call("no room", owner, "PUT", FOOD, segment(vault, "lifestyle", "food", longer, base=2))
    refusals(stage, owner, "DELETE", f"{FOOD}?base_content_revision=2")
    for query in ("", "?base_content_revision=x", "?base_content_revision=1", "?base_content_revision=-1"):
        stage.call("removed without knowing it", owner, "DELETE", FOOD + query)
    stage.call("removed", owner, "DELETE", f"{FOOD}?base_content_revision=2")
    stage.call("removed twice", owner, "DELETE", f"{FOOD}?base_content_revision=3")
    stage.call("after all this", owner, "GET", SEGMENTS)


def _hidden(stage: Stage, owner: Caller) -> None:
    at = "/vault/hidden-scopes/attr.lifestyle.food.*"
    for method in ("PUT", "DELETE"):
        refusals(stage, owner, method, at, {})
        stage.call("done", owner, method, at)
        stage.call("done again", owner, method, at, {})
        stage.call("no such scope", owner, method, "/vault/hidden-scopes/attr.unknown.*")


def _rotation(stage: Stage) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    owner = Caller.signed_in("owner who changes the key", vault.user)
    late = Caller.signed_in("owner who changes the key, an hour after signing in", vault.user, seconds_ago=3600)
    at, food, ending = "/vault/rotation", "/vault/rotation/segments/lifestyle/food", "/vault/rotation/finish"
    changing = change(vault)
    body = changing.body()
    copy = {"jwe": "a.b.c.d.e", "content_revision": 1}
    for method, address in (("GET", at), ("DELETE", at), ("GET", food), ("PUT", food), ("POST", ending)):
        stage.call("none is under way", owner, method, address, copy if method == "PUT" else None)
    refusals(stage, owner, "POST", at, body)
    for what, changes in {
        "no way in": {"wrappers": []},
        "a root that there is not": {"signing_jwe": "a.b.c.d.e"},
        "a way in under the present key": {"wrappers": [wrapper(vault.user, vault.key)]},
        "the present key": {"key_id": vault.key.key_id, "wrappers": [wrapper(vault.user, vault.key)]},
    }.items():
        stage.call(what, owner, "POST", at, {**body, **changes})
    stage.call("signed in long ago", late, "POST", at, body)
    stage.call("begun", owner, "POST", at, body)
    stage.call("begun twice", owner, "POST", at, body)
    stage.call("another at the same time", owner, "POST", at, change(vault).body())
    stage.call("a way in meanwhile", owner, "POST", WRAPPERS, wrapper(vault.user, vault.key))
    stage.call("keys meanwhile", late, "GET", KEYS)
    stage.call("how far it is", late, "GET", at)
    stage.call("nothing to read back", owner, "GET", food)
    sealed_again = changing.resealed()
    refusals(stage, owner, "PUT", food, sealed_again)
    stage.call("sealed to nothing", owner, "PUT", food, copy)
    stage.call("another revision", owner, "PUT", food, {**sealed_again, "content_revision": 2})
    stage.call("nothing is kept there", owner, "PUT", f"{at}/segments/identity/basic", sealed_again)
    stage.call("signed in long ago", late, "PUT", food, sealed_again)
    refusals(stage, owner, "POST", ending, {})
    stage.call("not all is sealed again", owner, "POST", ending, {})
    stage.call("sealed again", owner, "PUT", food, sealed_again)
    stage.call("read back", late, "GET", food)
    refusals(stage, owner, "DELETE", at)
    stage.call("given up", owner, "DELETE", at)
    stage.call("begun again", owner, "POST", at, body)
    stage.call("sealed again after that", owner, "PUT", food, sealed_again)
    stage.call("not what was read back", owner, "POST", ending, {"read_back": "0" * 64})
    stage.call("signed in long ago", late, "POST", ending, {})
    stage.call("ended", owner, "POST", ending, {})
    stage.call("under the new key", owner, "GET", SEGMENTS)


def _old_data(stage: Stage) -> None:
    """Constant sealed text: nobody opens it here, and PBES2 under a fresh salt would differ each time."""
    person = factories.give_vault(factories.PersonFactory()).user
    owner = Caller.signed_in("owner of old data", person)
    at, saving = "/vault/legacy", "/vault/legacy/progress"
    letting_go = f"{at}/lifestyle/finish"
    stage.call("none was left", owner, "GET", at)
    stage.call("none was left", owner, "PUT", saving, progress())
    stage.call("none was left", owner, "POST", letting_go, finish())
    factories.MigrationStateFactory(user=person)
    for domain in ("lifestyle", "identity"):
        factories.LegacyBlobFactory(user=person, domain=domain, jwe=encryption.sealed("old.sealed.text"))
    refusals(stage, owner, "GET", at)
    stage.call("two domains", owner, "GET", at)
    refusals(stage, owner, "PUT", saving, progress())
    stage.call("saved", owner, "PUT", saving, progress())
    stage.call("failed without a code", owner, "PUT", saving, progress(status="failed"))
    stage.call("said to be completed", owner, "PUT", saving, progress(status="completed"))
    refusals(stage, owner, "POST", letting_go, finish())
    stage.call("a revision that does not stand", owner, "POST", letting_go, finish(segments={"food": 9}))
    stage.call("another row", owner, "POST", letting_go, finish(updated_at="2024-05-17T09:30:01Z"))
    stage.call("no segment named", owner, "POST", letting_go, finish(segments={}))
    stage.call("moved", owner, "POST", letting_go, finish())
    stage.call("moved twice", owner, "POST", letting_go, finish())
    stage.call("discarded", owner, "POST", f"{at}/identity/finish", finish(segments={}, discard=True))
    stage.call("nothing is left", owner, "GET", at)
    stage.call("nothing is left", owner, "PUT", saving, progress())


def _reset(stage: Stage) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    owner = Caller.signed_in("owner who lost every way in", vault.user)
    late = Caller.signed_in("owner who lost every way in, an hour after signing in", vault.user, seconds_ago=3600)
    at = "/vault/reset"
    newcomer = Caller.signed_in("somebody without a vault", factories.PersonFactory())
    stage.call("nothing to give up", newcomer, "POST", at)
    stage.call("nothing to take back", newcomer, "DELETE", at)
    refusals(stage, owner, "POST", at, {})
    stage.call("signed in long ago", late, "POST", at)
    stage.call("given up", owner, "POST", at)
    stage.call("given up twice", owner, "POST", at)
    stage.call("keys meanwhile", late, "GET", KEYS)
    stage.call(
        "a write meanwhile", owner, "PUT", FOOD, {"jwe": "a.b.c.d.e", "base_content_revision": 1, "attributes": []}
    )
    stage.call("a way in meanwhile", owner, "POST", WRAPPERS, wrapper(vault.user, vault.key))
    refusals(stage, owner, "DELETE", at)
    stage.call("taken back", late, "DELETE", at)
    stage.call("keys afterwards", owner, "GET", KEYS)
