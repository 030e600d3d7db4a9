"""What the owner's program seals again: only what the vault's own notes remember, whatever the service says."""

import time
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

from consent_bridge import own_history
from consent_bridge.encoding import decode_base64url
from consent_bridge.errors import Problem
from consent_bridge.notes import encode
from consent_bridge.sealed import open_export, request_digest
from consent_bridge.signatures import sha256, thumbprint
from consent_bridge.signing import generate_root, signed_approval
from consent_bridge.vault_notes import AppMemory, RolledBack
from tests.bridge.fake_service import Reply, problem
from tests.bridge.logs import Log, consistency
from tests.bridge.refusals import refused_for
from tests.bridge.remembered import CUISINE, DIET, claims_of, digest, entry, notes_of, status, write_notes
from tests.bridge.wire import HEADER


def test_a_newer_revision_repeats_the_end_that_the_vault_signed(unlocked, site, approved):
    first = claims_of(site.decisions[0])

    unlocked.refresh_grant(approved)

    [sent] = site.exports
    newer = claims_of(sent)
    assert (newer["revision"], newer["approved_attributes"]) == (2, [CUISINE])
    assert (newer["ends_at"], newer["access_duration"]) == (first["ends_at"], 3600)
    header = replace(
        HEADER, sub="usr_as_app_a", kid="connector-1", request_digest=request_digest(site.request), revision=2
    )
    assert open_export(sent["jwe"], site.key, header).data == {
        "lifestyle": {"food": {"favorite_cuisine": "Thai-canary"}}
    }


def test_what_is_approved_and_renewed_is_remembered_with_it(unlocked, site, approved):
    ends_at = claims_of(site.decisions[0])["ends_at"]
    key = site.request["connector_thumbprint"]

    def remembered(revision, approval):
        kept = [[1], ends_at, revision, sha256(approval)]
        return {"app_a": {"sub": "usr_as_app_a", "keys": {key: {request_digest(site.request): kept}}}}

    kept = notes_of(unlocked, site)
    assert 0 <= time.time() - kept.pop("generation") < 60
    assert kept == {
        "approvals": remembered(1, site.decisions[0]["approval"]),
        "connectors": {"app_a": [key]},
        "root": thumbprint(unlocked._approval_root().key.public),
        "segments": {"lifestyle.food": 1, "lifestyle.fitness": 1},
    }
    unlocked.refresh_grant(approved)
    assert notes_of(unlocked, site)["approvals"] == remembered(2, site.exports[0]["approval"])


def test_what_the_vault_knows_of_an_app_is_its_own_word(unlocked, site):
    site.vouching = {"by": "published", "domain": "table.example", "since": None}
    assert unlocked.memory_of(unlocked.review("req_a")) == AppMemory("first", None)

    unlocked.approve(unlocked.review("req_a"))

    assert unlocked.memory_of(unlocked.review("req_a")) == AppMemory("known", None)
    site.vouching = {"by": "published", "domain": "mallory.example", "since": None}
    write_notes(unlocked, site, connectors={"app_a": ["another"]})
    assert unlocked.memory_of(unlocked.review("req_a")) == AppMemory("new", "table.example")


TASTE = "lifestyle.food.taste"
MADE = {"from": CUISINE, "rule": {"kind": "part", "characters": 3}, "rule_version": 1}


@pytest.fixture
def answered(unlocked, site):
    """A continuous grant of an answer about the cuisine and of the diet."""
    site.request |= {
        "refresh_policy": "continuous",
        "required_attributes": [TASTE],
        "optional_attributes": [DIET],
        "derived": {TASTE: MADE},
    }
    unlocked.approve(unlocked.review("req_a"), attributes=[TASTE, DIET])
    return status(TASTE, DIET)


def opened(site, revision):
    names = {"sub": "usr_as_app_a", "kid": "connector-1", "request_digest": request_digest(site.request)}
    return open_export(site.exports[-1]["jwe"], site.key, replace(HEADER, revision=revision, **names))


def test_an_answer_is_repeated_until_the_month_is_over_whatever_becomes_of_the_value(unlocked, site, answered):
    unlocked.update("lifestyle", "food", {"favorite_cuisine": "Korean", "diet_preference": "Vegan"})

    unlocked.refresh_grant(answered)

    content = opened(site, 2)
    assert content.data == {"lifestyle": {"food": {"taste": "Tha", "diet_preference": "Vegan"}}}
    assert content.derived == {TASTE: MADE}
    given = notes_of(unlocked, site)["answers"]
    given["app_a"][CUISINE][TASTE][1] = "2026-01"
    write_notes(unlocked, site, answers=given)
    site.decisions += site.exports
    unlocked.refresh_grant(status(TASTE, DIET, revision=2))
    assert opened(site, 3).data["lifestyle"]["food"]["taste"] == "Kor"
    assert unlocked.memory_of(unlocked.review("req_a")).knows == {TASTE: "Kor"}


def test_an_answer_that_changes_by_itself_is_never_renewed(unlocked, site, answered):
    """Though the service and the app agreed on it: the digest is right."""
    site.request["derived"] = {TASTE: {**MADE, "rule": {"kind": "at_least", "of": "age", "value": 18}}}
    unlocked.approve(unlocked.review("req_a"), attributes=[TASTE, DIET])

    with refused_for("derived"):
        unlocked.refresh_grant(answered)
    assert site.exports == []


def test_a_sharing_id_that_the_vault_does_not_know_is_asked_about(unlocked, site):
    site.request["invitation_sha256"] = sha256("sh_alices")

    with refused_for("invitation_sha256"):
        unlocked.approve(unlocked.review("req_a"))
    assert site.decisions == []
    unlocked.approve(unlocked.review("req_a"), invited=True)
    write_notes(unlocked, site, invitations=[sha256("sh_alices")])
    unlocked.approve(unlocked.review("req_a"))

    assert len(site.decisions) == 2


def test_what_others_keep_in_the_notes_stays(unlocked, site, approved):
    write_notes(unlocked, site, log={"size": 4})

    unlocked.refresh_grant(approved)

    assert notes_of(unlocked, site)["log"] == {"size": 4}


def test_a_device_that_was_faster_is_read_again_and_nothing_is_signed_twice(fake, unlocked, site):
    before = site.notes["revision"]
    faster = problem("stale_revision", 409, member="notes", current_revision=before)
    fake.scripts["POST", "/consent/requests/req_a/decision"] = [faster, site.signed_in(site.decide)]

    unlocked.approve(unlocked.review("req_a"), attributes=[CUISINE])

    sent = [call.json() for call in fake.received if call.path.endswith("/decision")]
    assert (len(sent), len({body["approval"] for body in sent}), site.notes["revision"] - before) == (2, 1, 1)


def test_a_decision_that_is_refused_is_not_remembered(fake, unlocked, site):
    fake.scripts["POST", "/consent/requests/req_a/decision"] = [problem("already_decided", 409)]

    with pytest.raises(Problem, match="already_decided"):
        unlocked.approve(unlocked.review("req_a"), attributes=[CUISINE])

    assert notes_of(unlocked, site)["approvals"] == {}


def test_a_genuine_approval_that_the_vault_does_not_remember_is_not_renewed(unlocked, site, approved):
    """Of a grant that was stopped, which somebody put back with all its rows."""
    write_notes(unlocked, site, approvals={})

    with refused_for("approval"):
        unlocked.refresh_grant(approved)

    assert site.exports == []


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ({"root": generate_root()}, "approval"),
        ({"approved_attributes": [DIET, CUISINE]}, "approval"),
        ({"approval": "no.approval.atall"}, "approval"),
        ({"approval": None}, "approval"),
    ],
)
def test_another_approval_than_the_one_remembered_is_not_renewed(fake, unlocked, site, approved, change, member):
    members = {**claims_of(site.decisions[0]), "revision": 1}
    forged = signed_approval(
        change.get("root") or unlocked._approval_root(),
        members,
        approved_attributes=change.get("approved_attributes", [CUISINE]),
        access_duration=86400,
        sealed="any",
    )["approval"]
    fake.scripts["GET", "/consent/grants/grt_a/approval"] = [
        Reply({**site.approval(), "approval": change.get("approval", forged)})
    ]

    with refused_for(member):
        unlocked.refresh_grant(approved)

    assert site.exports == []


def test_more_than_the_vault_approved_is_not_renewed(unlocked, site, approved):
    with refused_for("approved_attributes"):
        unlocked.refresh_grant(status(CUISINE, DIET))

    assert site.exports == []


def test_another_key_than_the_vault_approved_is_not_renewed(unlocked, site, approved):
    """The whole request, put in the place of the one that was approved: its digest and its key are others."""
    site.request["connector_thumbprint"] = "A" * 43
    site.request["purpose"] = "Something else"

    with refused_for("connector_thumbprint"):
        unlocked.refresh_grant(approved)
    assert site.exports == []


def test_a_revision_that_the_vault_sealed_already_is_stale(unlocked, site, approved):
    unlocked.refresh_grant(approved)

    with pytest.raises(Problem, match="stale_revision"):
        unlocked.refresh_grant(approved)
    with refused_for("revision"):
        unlocked.refresh_grant(status(CUISINE, revision=5))

    assert len(site.exports) == 1


def test_what_the_history_says_ended_is_not_renewed_and_forgotten(unlocked, site, approved):
    facts = {"request_digest": request_digest(site.request)}
    site.chain += [entry(site, "approved", facts)]
    site.chain += [entry(site, "revoked", facts)]

    with refused_for("approval"):
        unlocked.refresh_grant(approved)

    last = site.chain[-1]
    assert notes_of(unlocked, site)["history"] == {name: last[name] for name in ("chain", "sequence", "entry_hash")}
    assert notes_of(unlocked, site)["approvals"] == {"app_a": {"sub": "usr_as_app_a", "keys": {}}}


def test_what_the_history_says_is_paused_is_not_renewed_until_the_vault_itself_resumes_it(unlocked, site, approved):
    """An entry that it was resumed is signed by no vault, and counts for nothing."""
    facts = {"request_digest": request_digest(site.request)}
    site.chain += [entry(site, "paused", facts)]
    site.chain += [entry(site, "resumed", facts)]

    with refused_for("paused"):
        unlocked.refresh_grant(approved)
    assert notes_of(unlocked, site)["paused"] == [facts["request_digest"]]

    site.chain += [entry(site, "paused", facts)]
    unlocked.resume("grt_a")
    assert "paused" not in notes_of(unlocked, site)
    unlocked.refresh_grant(approved)
    assert len(site.exports) == 1

    site.chain += [entry(site, "paused", facts)]
    with refused_for("paused"):
        unlocked.refresh_grant(status(CUISINE, revision=2))
    site.chain += [entry(site, "revoked", facts)]
    with refused_for("approval"):
        unlocked.refresh_grant(status(CUISINE, revision=2))
    assert "paused" not in notes_of(unlocked, site)


def test_an_end_whose_facts_are_gone_or_name_no_request_stops_everything(unlocked, site, approved):
    """Whoever deletes the facts of an end in the database leaves the chain whole: its hashes are over their digest."""
    facts = {"request_digest": request_digest(site.request)}
    whole = entry(site, "revoked", facts)

    for changed in (
        {**whole, "facts": {}, "salt": ""},
        entry(site, "revoked", {}),
        entry(site, "expired", {**facts, "request_digest": 1}),
    ):
        site.chain = [changed]
        with refused_for("facts", RolledBack):
            unlocked.refresh_grant(approved)

    assert (site.exports, "history" in notes_of(unlocked, site)) == ([], False)


@pytest.mark.parametrize("how", ["shorter", "rewritten", "renamed", "headless"])
def test_a_history_that_does_not_go_on_from_where_it_was_read_stops_everything(unlocked, site, approved, how):
    for number in range(3):
        site.chain += [entry(site, "denied", {"number": number})]
    unlocked.refresh_grant(approved)
    site.exports.clear()
    if how == "shorter":
        site.chain.pop()
    elif how == "rewritten":
        del site.chain[1:]
        for number in range(3):
            site.chain += [entry(site, "paused", {"number": number})]
    elif how == "renamed":
        site.chain = [{**one, "chain": "d" * 22} for one in site.chain]
    else:
        site.chain[-1] = {**site.chain[-1], "sequence": 9}

    if how == "renamed":  # with nothing new, only its newest hash is compared; what follows names its chain
        site.chain += [{**entry(site, "denied", {}), "chain": "d" * 22}]
    with pytest.raises(RolledBack):
        unlocked.refresh_grant(status(CUISINE, revision=2))

    assert site.exports == []


def test_a_stop_with_an_open_vault_is_forgotten_by_it(fake, unlocked, site, approved):
    unlocked.revoke("grt_a")

    [sent] = [call.json() for call in fake.received if call.path.endswith("/revoke")]
    assert sent["notes"]["base_revision"] == site.notes["revision"]
    site.keep_notes(sent["notes"])
    assert notes_of(unlocked, site)["approvals"] == {"app_a": {"sub": "usr_as_app_a", "keys": {}}}


def test_a_stop_is_sent_though_the_notes_cannot_be_written(fake, unlocked, site, approved):
    fake.scripts["GET", "/vault/notes"] = [problem("temporarily_unavailable", 503)] * 9

    unlocked.revoke("grt_a")

    assert [call.json() for call in fake.received if call.path.endswith("/revoke")] == [{}]


# --- what the public log has of the history ---------------------------------------------------------------------------


@pytest.fixture
def log(fake, unlocked, site, approved):
    """A log that the vault's notes know, at the service."""
    made = Log()
    made.grow(3)

    def proof(call):
        leaf = decode_base64url(call.path.rsplit("/", 1)[1], "a hash")
        known = leaf in made.leaves
        return Reply(made.proof(made.leaves.index(leaf)) if known else "", 200 if known else 202)

    def consistent(call):
        hashes = consistency(int(call.query["old"]), made.leaves[: int(call.query["new"])])
        return Reply("".join(f"{encode(one)}\n" for one in hashes))

    made.serve = lambda entry: fake.on("GET", f"/log/proof/{entry['entry_hash']}", proof)
    fake.on("GET", "/log/consistency", consistent)
    write_notes(unlocked, site, log={"keys": [str(made.key)], "note": made.note(), "size": 3})
    return made


def added_at(site, at, kind="denied"):
    """Another entry of the person's chain, written at this time."""
    last = site.chain[-1] if site.chain else {"sequence": 0, "entry_hash": ""}
    made = entry(site, kind, {"request_digest": "A" * 43})
    hashed = {name: made[name] for name in ("v", "chain", "kind", "actor", "facts_hash")}
    hashed |= {"sequence": last["sequence"] + 1, "prev_hash": last["entry_hash"], "at": at}
    site.chain.append({**made, **hashed, "entry_hash": digest(hashed)})
    return site.chain[-1]


NOW, EARLIER = "2026-11-20T10:05:00Z", "2026-11-20T09:00:00Z"


@pytest.fixture(autouse=True)
def at_five_past_ten(monkeypatch, request):
    """The clock by which entries are new, for those who have a log."""
    if "log" in request.fixturenames:
        seconds = datetime.fromisoformat(NOW).timestamp()
        monkeypatch.setattr(own_history, "time", SimpleNamespace(time=lambda: seconds))


def test_a_history_that_the_log_has_is_remembered_as_proved(unlocked, site, approved, log):
    for at in (EARLIER, NOW):
        log.serve(added_at(site, at))
    log.leaves.append(decode_base64url(site.chain[0]["entry_hash"], "it"))

    unlocked.refresh_grant(approved)

    kept = notes_of(unlocked, site)
    assert (kept["history"]["sequence"], kept["proved"]["sequence"]) == (2, 1)  # the newest may be on its way
    log.leaves.append(decode_base64url(site.chain[1]["entry_hash"], "it"))
    site.decisions.append(site.exports[-1])  # whose approval is the newest now
    unlocked.refresh_grant(status(CUISINE, revision=2))
    assert notes_of(unlocked, site)["proved"]["sequence"] == 2


@pytest.mark.parametrize("how", ["never had it", "not yet, by its date", "in a tree that was rewritten", "another's"])
def test_a_history_that_the_log_does_not_have_stops_a_renewal(unlocked, site, approved, log, how):
    """Somebody took a stop out of it, and hashed what came after it again."""
    made = added_at(site, "2026-11-20T12:00:00Z" if how == "not yet, by its date" else EARLIER)
    log.serve(made)
    if how in ("in a tree that was rewritten", "another's"):
        log.leaves.append(decode_base64url(made["entry_hash"], "it"))
    if how == "in a tree that was rewritten":
        log.leaves[0] = bytes(32)
    if how == "another's":
        log.private = Log().private

    with pytest.raises(RolledBack, match="the public log has another history"):
        unlocked.refresh_grant(approved)

    assert site.exports == []


def test_a_first_approval_too_stops_where_the_log_lacks_the_history(fake, unlocked, site):
    """The notes know no log yet: it is taken as it shows itself."""
    site.chain += [entry(site, "denied", {"request_digest": "A" * 43})]
    lacking = f"/log/proof/{site.chain[-1]['entry_hash']}"
    fake.on("GET", lacking, Reply("", 202))

    with pytest.raises(RolledBack, match="the public log has another history"):
        unlocked.approve(unlocked.review("req_a"))
    assert site.decisions == []

    del fake.scripts["GET", lacking]
    unlocked.approve(unlocked.review("req_a"))
    assert (len(site.decisions), notes_of(unlocked, site)["proved"]["sequence"]) == (1, 1)
