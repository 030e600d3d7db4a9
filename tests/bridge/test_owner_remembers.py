"""What the owner's program seals again: only what the vault's own notes remember, whatever the service says."""

import hashlib
from dataclasses import replace

import pytest
import rfc8785

from consent_bridge.encoding import encode_base64url
from consent_bridge.errors import Problem, Refused
from consent_bridge.owner import Owner
from consent_bridge.records import without_records
from consent_bridge.results import Status, build
from consent_bridge.sealed import open_export, request_digest
from consent_bridge.signatures import sha256, thumbprint, verified
from consent_bridge.signing import generate_root, new_root, signed_approval
from consent_bridge.vault_notes import NotesMemory, RolledBack, open_notes, seal_notes
from consent_bridge.wrappers import wrap
from tests.bridge.fake_service import Reply, problem
from tests.bridge.fake_site import LOGIN, PASSPHRASE, PASSWORD, STATUS
from tests.bridge.refusals import refused_for
from tests.bridge.wire import APPROVED, HEADER

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


@pytest.fixture
def site(site):
    site.request["refresh_policy"] = "continuous"
    return site


@pytest.fixture
def approved(unlocked, site):
    """The status of a continuous grant of the cuisine, as the service tells it."""
    unlocked.approve(unlocked.review("req_a"), attributes=[CUISINE], access_duration=3600)
    return status(CUISINE)


def status(*attributes, revision=1):
    terms = {"grant_id": "grt_a", "approved_attributes": list(attributes), "export_revision": revision}
    return build(Status, {**STATUS, "grant": {**APPROVED["grant"], **terms}})


def claims_of(sent):
    return verified(sent["approval"], "consent-approval+jwt", sent["approval_key"], "it")


def notes_of(unlocked, site):
    return open_notes(site.notes["jwe"], unlocked._unlocked(), "usr_a", site.notes["revision"])


def write_notes(unlocked, site, **changes):
    notes = {**notes_of(unlocked, site), **changes}
    revision = site.notes["revision"] + 1
    site.notes = {"jwe": seal_notes(notes, unlocked._unlocked(), "usr_a", revision), "revision": revision}


def entry(site, kind, facts):
    """The next entry of the person's chain, hashed as the service does it."""
    last = site.chain[-1] if site.chain else {"sequence": 0, "entry_hash": ""}
    salt = bytes(32)
    hashed = {
        "v": 2,
        "chain": "c" * 22,
        "sequence": last["sequence"] + 1,
        "prev_hash": last["entry_hash"],
        "kind": kind,
        "actor": "person",
        "at": "2026-11-20T10:00:00Z",
        "facts_hash": digest(facts, salt),
    }
    return {**hashed, "entry_hash": digest(hashed), "facts": facts, "salt": encode_base64url(salt)}


def digest(value, salt=b""):
    return encode_base64url(hashlib.sha256(salt + rfc8785.dumps(value)).digest())


def test_a_newer_revision_repeats_the_end_that_the_vault_signed(unlocked, site, approved):
    first = claims_of(site.decisions[0])

    unlocked.refresh_grant(approved)

    [sent] = site.exports
    newer = claims_of(sent)
    assert (newer["revision"], newer["approved_attributes"]) == (2, [CUISINE])
    assert (newer["ends_at"], newer["access_duration"]) == (first["ends_at"], 3600)
    header = replace(HEADER, kid="connector-1", request_digest=request_digest(site.request), revision=2)
    assert open_export(sent["jwe"], site.key, header).data == {
        "lifestyle": {"food": {"favorite_cuisine": "Thai-canary"}}
    }


def test_what_is_approved_and_renewed_is_remembered_with_it(unlocked, site, approved):
    record = {"attributes": [1], "ends_at": claims_of(site.decisions[0])["ends_at"]}
    key = site.request["connector_thumbprint"]

    def remembered(revision, approval):
        kept = {**record, "revision": revision, "approval_sha256": sha256(approval)}
        return {"app_a": {"sub": "usr_a", "keys": {key: {request_digest(site.request): kept}}}}

    assert notes_of(unlocked, site) == {
        "approvals": remembered(1, site.decisions[0]["approval"]),
        "connectors": {"app_a": [key]},
        "root": thumbprint(unlocked._approval_root().key.public),
        "segments": {"lifestyle.food": 1},
    }
    unlocked.refresh_grant(approved)
    assert notes_of(unlocked, site)["approvals"] == remembered(2, site.exports[0]["approval"])


def test_what_others_keep_in_the_notes_stays(unlocked, site, approved):
    write_notes(unlocked, site, log={"size": 4})

    unlocked.refresh_grant(approved)

    assert notes_of(unlocked, site)["log"] == {"size": 4}


def test_a_device_that_was_faster_is_read_again_and_nothing_is_signed_twice(fake, unlocked, site):
    faster = problem("stale_revision", 409, member="notes", current_revision=1)
    fake.scripts["POST", "/consent/requests/req_a/decision"] = [faster, site.signed_in(site.decide)]

    unlocked.approve(unlocked.review("req_a"), attributes=[CUISINE])

    sent = [asked.json() for asked in fake.asked if asked.path.endswith("/decision")]
    assert (len(sent), len({body["approval"] for body in sent}), site.notes["revision"]) == (2, 1, 2)


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
    assert notes_of(unlocked, site)["approvals"] == {"app_a": {"sub": "usr_a", "keys": {}}}


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

    [sent] = [asked.json() for asked in fake.asked if asked.path.endswith("/revoke")]
    assert sent["notes"]["base_revision"] == 2
    site.keep_notes(sent["notes"])
    assert notes_of(unlocked, site)["approvals"] == {"app_a": {"sub": "usr_a", "keys": {}}}


def test_a_stop_is_sent_though_the_notes_cannot_be_written(fake, unlocked, site, approved):
    fake.scripts["GET", "/vault/notes"] = [problem("temporarily_unavailable", 503)] * 9

    unlocked.revoke("grt_a")

    assert [asked.json() for asked in fake.asked if asked.path.endswith("/revoke")] == [{}]


# --- an older state ---------------------------------------------------------------------------------------------------


def test_older_notes_than_were_seen_stop_a_decision_and_a_renewal(unlocked, site, approved):
    before = site.notes
    unlocked.refresh_grant(approved)
    site.notes, sent = before, len(site.decisions) + len(site.exports)

    with pytest.raises(RolledBack, match="older state of your vault than was seen here"):
        unlocked.refresh_grant(status(CUISINE, revision=2))
    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))
    site.notes = {"revision": 0, "jwe": None}
    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))

    assert len(site.decisions) + len(site.exports) == sent


def test_other_notes_of_the_same_revision_stop_a_decision(unlocked, site, approved):
    revision = site.notes["revision"]
    notes = {"approvals": without_records(None, [], 0)}
    site.notes = {"jwe": seal_notes(notes, unlocked._unlocked(), "usr_a", revision), "revision": revision}

    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))


def test_newer_notes_of_another_device_are_taken(unlocked, site, approved):
    write_notes(unlocked, site, log={"size": 4})
    write_notes(unlocked, site, log={"size": 5})

    unlocked.approve(unlocked.review("req_a"))

    assert notes_of(unlocked, site)["log"] == {"size": 5}


def test_what_was_seen_outlives_the_program_where_somebody_keeps_it(fake, unlocked, site, approved):
    memory, before = NotesMemory(), site.notes
    with another_program(fake, memory) as first:
        first.approve(first.review("req_a"))
    site.notes = before

    with another_program(fake, memory) as second, pytest.raises(RolledBack):
        second.approve(second.review("req_a"))


def another_program(fake, memory):
    owner = Owner(fake.url, memory=memory)
    owner.sign_in(LOGIN, PASSWORD)
    owner.unlock(passphrase=PASSPHRASE)
    return owner


# --- a vault that was made with notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["notes", "the root in them", "the root"])
def test_a_vault_that_was_made_with_notes_approves_nothing_without_them(fake, unlocked, site, gone):
    """On a device that remembers nothing: the way in says so, and the service cannot make one that says otherwise."""
    if gone == "notes":
        site.notes = {"revision": 0, "jwe": None}
    elif gone == "the root":
        site.vault["signing_jwe"] = site.vault["signing_public_key"] = None
    else:
        jwe = seal_notes({"approvals": {}}, unlocked._unlocked(), "usr_a", 1)
        site.notes = {"revision": 1, "jwe": jwe}

    with pytest.raises(Refused), another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert (site.decisions, site.vault["signing_jwe"] is None) == ([], gone == "the root")


def test_another_root_than_the_notes_name_is_refused(fake, unlocked, site):
    _, members = new_root(unlocked._unlocked().secret, unlocked._unlocked().key_id, "usr_a")
    site.vault |= members

    with refused_for("signing_public_key"), another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert site.decisions == []


def test_an_older_vault_without_the_mark_goes_on_and_gets_its_notes(fake, unlocked, site):
    key = replace(unlocked._unlocked(), has_notes=False)
    site.vault["wrappers"] = [
        {"kind": "passphrase", "label": "Passphrase", "jwe": wrap(key, "passphrase", PASSPHRASE, "usr_a")}
    ]
    site.notes = {"revision": 0, "jwe": None}

    with another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert len(site.decisions) == site.notes["revision"] == 1


# --- what went back ---------------------------------------------------------------------------------------------------


def test_what_went_back_is_told_and_taken_by_the_persons_word(fake, unlocked, site, approved):
    """The program ends, the service is restored, and another run of it says so before anything is shown or sealed."""
    memory = NotesMemory()
    with another_program(fake, memory) as first:
        first.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
        yesterday = (site.notes, {place: dict(row) for place, row in site.segments.items()})
        first.update("lifestyle", "food", {"favorite_cuisine": "Georgian"})
        first.approve(first.review("req_a"))
    site.notes, site.segments = yesterday
    site.decisions.clear()

    with another_program(fake, memory) as second:
        with pytest.raises(RolledBack, match=r"lifestyle\.food went back from revision 3 to 2; .* ask the operator"):
            second.check_state()
        second.take_older_state()
        second.check_state()
        assert notes_of(second, site)["approvals"] == {"app_a": {"sub": "usr_a", "keys": {}}}
        with refused_for("approval"):
            second.refresh_grant(approved)
        second.approve(second.review("req_a"))

    assert len(site.decisions) == 1


def test_a_segment_that_was_put_back_is_not_sealed_by_a_program_that_never_saw_it(fake, unlocked, site):
    """Neither an older revision than one that was sealed, nor one that was deleted, wherever that was done."""
    before = {place: dict(row) for place, row in site.segments.items()}
    unlocked.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
    unlocked.approve(unlocked.review("req_a"))
    site.segments = {place: dict(row) for place, row in before.items()}
    with another_program(fake, NotesMemory()) as second, refused_for("content_revision", RolledBack):
        second.approve(second.review("req_a"))

    unlocked.delete("lifestyle", "food", base=1)
    site.segments = before
    with another_program(fake, NotesMemory()) as third, refused_for("content_revision", RolledBack):
        third.approve(third.review("req_a"))

    assert len(site.decisions) == 1


def test_a_second_device_and_a_deletion_there_are_no_rollback(fake, unlocked, site):
    with another_program(fake, NotesMemory()) as other:
        other.segments(domain="lifestyle")
        unlocked.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
        unlocked.delete("lifestyle", "fitness", base=1)
        other.check_state()
        other.approve(other.review("req_a"))
    unlocked.check_state()
    unlocked.approve(unlocked.review("req_a"))

    assert len(site.decisions) == 2
