"""The vault's JSON addresses: keys, ways in, segments, hidden scopes."""

from typing import Any

from django.test import override_settings

from consent_bridge import sealed
from tests import factories
from tests.corpus.plays.owners import refusals
from tests.corpus.stage import Caller, Stage
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
