"""A connector key that its app registered: the owner's program proves it by the log, whatever the service says."""

from datetime import datetime

import pytest

from consent_bridge.encoding import decode_base64url
from consent_bridge.errors import Refused
from consent_bridge.notes import encode
from tests.bridge.fake_service import Reply
from tests.bridge.logs import Log, consistency
from tests.bridge.remembered import entry, write_notes

REGISTERED = "connector_key_registered"
LONG_AGO, TO_COME = "2026-11-20T10:00:00Z", "2999-01-01T00:00:00Z"


@pytest.fixture
def log(fake):
    """It has an entry of somebody else's, and what `keep` adds."""
    log = Log()
    log.grow(1)
    fake.on("GET", "/log/key", Reply(f"{log.key}\n"))

    def consistent(call):
        hashes = consistency(int(call.query["old"]), log.leaves)
        return Reply("".join(f"{encode(one)}\n" for one in hashes))

    fake.on("GET", "/log/consistency", consistent)
    return log


@pytest.fixture
def keep(fake, log):
    def keep(logged, *, proved=True):
        log.leaves.append(decode_base64url(logged["entry_hash"], "it"))
        fake.on("GET", f"/log/proof/{logged['entry_hash']}", Reply(log.proof(1)) if proved else Reply(b"", 202))
        fake.on("GET", "/log/checkpoint", Reply(log.note()))
        return logged

    return keep


def vouch_with(site, logged):
    site.tier, site.vouching = "restricted", {"by": "registered", "domain": None, "since": LONG_AGO, "entry": logged}


def facts(site, **others):
    return {"app_id": "app_a", "key_id": "connector-1", "thumbprint": site.request["connector_thumbprint"], **others}


def refused(unlocked, site):
    with pytest.raises(Refused) as found:
        unlocked.approve(unlocked.review("req_a"))
    assert site.decisions == []
    return found.value.member


def test_a_registration_that_the_log_proves_counts(unlocked, site, keep):
    vouch_with(site, keep(entry(site, REGISTERED, facts(site))))
    unlocked.approve(unlocked.review("req_a"))
    assert len(site.decisions) == 1


@pytest.mark.parametrize(
    ("kind", "others", "at"),
    [
        (REGISTERED, {"app_id": "app_thief"}, LONG_AGO),
        (REGISTERED, {"thumbprint": "of-another-key"}, LONG_AGO),
        ("connector_key_removed", {}, LONG_AGO),
        (REGISTERED, {}, TO_COME),
    ],
)
def test_an_entry_of_something_else_or_of_today_does_not(unlocked, site, keep, kind, others, at):
    vouch_with(site, keep(entry(site, kind, facts(site, **others), at)))
    assert refused(unlocked, site) == "vouching"


def test_a_registration_that_the_log_lacks_does_not(unlocked, site, keep):
    vouch_with(site, keep(entry(site, REGISTERED, facts(site)), proved=False))
    assert refused(unlocked, site) == "vouching"


@pytest.mark.parametrize("shown", [None, {}, "changed"])
def test_no_entry_or_a_changed_one_does_not(unlocked, site, keep, shown):
    real = keep(entry(site, REGISTERED, facts(site, thumbprint="another")))
    vouch_with(site, {**real, "facts": facts(site)} if shown == "changed" else shown)
    assert refused(unlocked, site) == "vouching"


@pytest.mark.parametrize(("later", "counts"), [(0, True), (601, False)])
def test_one_that_came_into_the_log_after_a_look_at_it_was_dated_back(unlocked, site, keep, log, later, counts):
    """By whoever writes the database: the day that it waits would be over at once."""
    looked = datetime.fromisoformat(LONG_AGO).timestamp() + later
    write_notes(unlocked, site, log={"keys": [str(log.key)], "note": log.note(), "size": 1, "at": looked})
    vouch_with(site, keep(entry(site, REGISTERED, facts(site))))

    if counts:
        unlocked.approve(unlocked.review("req_a"))
    else:
        assert refused(unlocked, site) == "vouching"


def test_the_log_that_the_vault_knows_has_to_have_it(unlocked, site, keep, fake):
    """Whoever writes the database, and shows a log of their own, has the entry in that one alone."""
    fake.scripts["GET", "/log/consistency"] = [Reply(b"")]
    known = Log()
    known.grow(5, "known")
    remembered = {"keys": [str(known.key)], "note": known.note(), "witnesses": [], "quorum": 0, "size": 5}
    write_notes(unlocked, site, log=remembered)
    vouch_with(site, keep(entry(site, REGISTERED, facts(site))))
    assert refused(unlocked, site) == "vouching"
