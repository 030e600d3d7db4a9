"""A sandbox person played by a test app's token, from an empty vault to the end of sharing, and what does not fit."""

from datetime import timedelta
from typing import Any

from django.test import override_settings
from django.utils import timezone

from consent_bridge import sealed
from tests import factories
from tests.consent.decisions import approval_body, refreshed, resumption
from tests.corpus.plays.decisions import CUISINE, DRINK, refreshed_body
from tests.corpus.stage import Caller, Stage
from tests.pkm.sealed_segments import segment, wrapper

PEOPLE = "/api/v1/sandbox/people"


def play(stage: Stage) -> None:
    app = factories.TestAppFactory()
    program = Caller.with_token("test app", factories.TokenFactory(app=app).secret)
    live = Caller.with_token("live app", factories.TokenFactory().secret)
    stage.call("of a live app", live, "POST", PEOPLE, {})
    _people(stage, program)
    _vault(stage, app, program)
    vault = factories.give_vault(factories.SandboxPersonFactory(app=app).user)
    at = f"{PEOPLE}/{vault.user.public_id}"
    _segments(stage, vault, program, at)
    _decisions(stage, app, vault, program, at)
    _grants(stage, app, vault, program, at)
    stage.call("time passes", program, "POST", f"{at}/clock", {"seconds": 31_536_000})


def _people(stage: Stage, program: Caller) -> None:
    stage.call("none yet", program, "GET", PEOPLE)
    made = stage.call("made", program, "POST", PEOPLE, {"label": "Frugal traveller"}).json()["user_id"]
    stage.call("one", program, "GET", PEOPLE)
    stage.call("deleted", program, "DELETE", f"{PEOPLE}/{made}")
    stage.call("deleted twice", program, "DELETE", f"{PEOPLE}/{made}")
    for number in range(21):
        stage.call(f"number {number}", program, "POST", PEOPLE, {})


def _vault(stage: Stage, app: Any, program: Caller) -> None:
    factories.SandboxPersonFactory._meta.model.objects.filter(app=app).delete()
    person, other = factories.SandboxPersonFactory(app=app).user, factories.PersonFactory()
    at, key = f"{PEOPLE}/{person.public_id}", sealed.generate_vault_key()
    body: dict[str, Any] = {"key_id": key.key_id, "wrappers": [wrapper(person, key)]}
    unsealed = {"jwe": "a.b.c.d.e", "base_content_revision": 0, "attributes": []}
    stage.call("no vault yet", program, "PUT", f"{at}/segments/lifestyle/food", unsealed)
    stage.call("no vault yet", program, "POST", f"{at}/wrappers", wrapper(person, key))
    foreign = {**body, "wrappers": [wrapper(other, key)]}
    stage.call("somebody else's way in", program, "POST", f"{at}/keys", foreign)
    _, members = sealed.new_root(key.secret, key.key_id, person.public_id)
    _, other_root = sealed.new_root(key.secret, key.key_id, other.public_id)
    stage.call("a root before the vault", program, "PUT", f"{at}/signing-key", members)
    stage.call("somebody else's root", program, "POST", f"{at}/keys", {**body, **other_root})
    stage.call("created", program, "POST", f"{at}/keys", body)
    stage.call("somebody else's root", program, "PUT", f"{at}/signing-key", other_root)
    stage.call("the vault's root", program, "PUT", f"{at}/signing-key", members)
    _, another = sealed.new_root(key.secret, key.key_id, person.public_id)
    stage.call("another in its place", program, "PUT", f"{at}/signing-key", another)
    stage.call("nobody of this app's", program, "PUT", f"{PEOPLE}/usr_unknown/signing-key", members)
    stage.call("created twice", program, "POST", f"{at}/keys", body)
    stage.call("nobody of this app's", program, "POST", f"{PEOPLE}/usr_unknown/keys", body)
    stage.call("somebody else's way in", program, "POST", f"{at}/wrappers", wrapper(other, key))
    stage.call("nobody of this app's", program, "POST", f"{PEOPLE}/usr_unknown/wrappers", wrapper(person, key))
    first = person.key_wrappers.get().wrapper_id
    stage.call("the last way in", program, "DELETE", f"{at}/wrappers/{first}")
    for number in range(20):
        stage.call(f"one more way in, {number}", program, "POST", f"{at}/wrappers", wrapper(person, key))
    stage.call("removed", program, "DELETE", f"{at}/wrappers/{first}")
    stage.call("the vault", program, "GET", f"{at}/keys")


def _segments(stage: Stage, vault: Any, program: Caller, at: str) -> None:
    food, values = f"{at}/segments/lifestyle/food", {"favorite_cuisine": "Thai"}
    good = segment(vault, "lifestyle", "food", values, base=1)
    many = {**good, "attributes": [f"a{number}" for number in range(501)]}
    stage.call("too many attributes", program, "PUT", food, many)
    stage.call("a stale revision", program, "PUT", food, segment(vault, "lifestyle", "food", values, base=0))
    other = segment(vault, "lifestyle", "food", values, base=1, header={"segment_id": "fitness"})
    stage.call("another address", program, "PUT", food, other)
    with override_settings(STORAGE_BYTES_PER_PERSON=10):
        longer = {"favorite_cuisine": "Thai and Lao, and on Sundays whatever there is. " * 20}
        stage.call("no room", program, "PUT", food, segment(vault, "lifestyle", "food", longer, base=1))
    stage.call("all", program, "GET", f"{at}/segments")
    fitness = f"{at}/segments/lifestyle/fitness"
    made = segment(vault, "lifestyle", "fitness", {"gym_membership": "none"})
    stage.call("a new one", program, "PUT", fitness, made)
    stage.call("removed without knowing it", program, "DELETE", f"{fitness}?base_content_revision=0")
    stage.call("removed", program, "DELETE", f"{fitness}?base_content_revision=1")


def _decisions(stage: Stage, app: Any, vault: Any, program: Caller, at: str) -> None:
    asked = factories.ConsentRequestFactory(app=app, user=vault.user)
    here, good = f"{at}/requests/{asked.request_id}", approval_body(asked, vault)
    stage.call("what was asked", program, "GET", f"{here}/data")
    stage.call("unknown", program, "GET", f"{at}/requests/req_unknown/data")
    for what, changes in {
        "a digest of something else": {"request_digest": "x" * 43},
        "an attribute outside": {"approved_attributes": ["identity.basic.full_name"]},
        "a duration over what was asked": {"access_duration": asked.access_duration + 1},
        "a source that there is not": {"sources": [{**good["sources"][0], "content_revision": 9}]},
    }.items():
        stage.call(what, program, "POST", f"{here}/decision", {**good, **changes})
    other = approval_body(asked, vault, header={"revision": 2})
    stage.call("another revision", program, "POST", f"{here}/decision", other)
    with override_settings(COPIES_BYTES_PER_PERSON=10):
        stage.call("no room", program, "POST", f"{here}/decision", good)
    stage.call("signed by nobody", program, "POST", f"{here}/decision", {**good, "approval": "a.b.c"})
    stage.call("approved", program, "POST", f"{here}/decision", good)
    stage.call("approved twice", program, "POST", f"{here}/decision", good)
    needed = factories.ConsentRequestFactory(
        app=app, user=vault.user, required_attributes=[CUISINE], optional_attributes=[DRINK], connector_key_id="key-2"
    )
    without = approval_body(needed, vault, [DRINK])
    stage.call("without what is needed", program, "POST", f"{at}/requests/{needed.request_id}/decision", without)
    late = factories.ConsentRequestFactory(
        app=app,
        user=vault.user,
        connector_key_id="key-3",
        created_at=timezone.now().replace(microsecond=0) - timedelta(days=2),
    )
    too_late = approval_body(late, vault)
    stage.call("too late", program, "POST", f"{at}/requests/{late.request_id}/decision", too_late)
    stage.call("unknown", program, "POST", f"{at}/requests/req_unknown/decision", {"decision": "deny"})


def _grants(stage: Stage, app: Any, vault: Any, program: Caller, at: str) -> None:
    grant = factories.ExportFactory(
        grant__request__app=app,
        grant__request__user=vault.user,
        grant__request__scope="attr.lifestyle.*",
        grant__request__refresh_policy="continuous",
        grant__approved_attributes=[CUISINE, DRINK],
    ).grant
    vault.write("lifestyle", "food", {"favorite_cuisine": "Lao", "coffee_or_tea": "Tea"}, base=1)
    here, body = f"{at}/grants/{grant.grant_id}", refreshed(vault, grant)
    for read in ("nonce", "approval"):
        stage.call("unknown", program, "GET", f"{at}/grants/grt_unknown/{read}")
    stage.call(
        "a revision too far", program, "PUT", f"{here}/export", refreshed_body(grant, vault, revision=9, source=2)
    )
    stage.call("from an old revision", program, "PUT", f"{here}/export", refreshed_body(grant, vault, source=1))
    stage.call("no sources", program, "PUT", f"{here}/export", {**body, "sources": []})
    stage.call("unknown", program, "PUT", f"{at}/grants/grt_unknown/export", body)
    with override_settings(COPIES_BYTES_PER_PERSON=10):
        stage.call("no room", program, "PUT", f"{here}/export", body)
    stage.call("refreshed", program, "PUT", f"{here}/export", body)
    for move in ("pause", "resume", "revoke"):
        stage.call("unknown", program, "POST", f"{at}/grants/grt_unknown/{move}", {})
    for step, move in enumerate(("resume", "pause", "resume", "revoke", "revoke", "pause", "resume")):
        nonce = stage.call(f"what step {step} names", program, "GET", f"{here}/nonce").json().get("nonce", "")
        signed = resumption(vault, grant, nonce) if move == "resume" else {}
        stage.call(f"step {step}", program, "POST", f"{here}/{move}", signed)
    ended = factories.GrantFactory(request__app=app, request__user=vault.user, status="expired").grant_id
    stage.call("over", program, "POST", f"{at}/grants/{ended}/revoke", {})
    stage.call("over", program, "PUT", f"{here}/export", refreshed_body(grant, vault, revision=3, source=2))
