"""A log that published nothing yet, and one that began anew after a restore: neither is taken for a forged one."""

import base64
import hashlib
import json
import time
from dataclasses import replace

import pytest

from consent_bridge import notes
from consent_bridge.encoding import encode_base64url
from consent_bridge.entries import read_chain
from consent_bridge.errors import Refused
from consent_bridge.logs import LogEpochChanged, LogKeyChanged, Memory, NothingPublished, Trust, newest_in_log
from consent_bridge.notes import VerifierKey
from tests.bridge.fake_service import Reply, problem
from tests.bridge.logs import Log, consistency

NOT_FOUND = problem("not_found", 404)


class Site:
    """What a service answers under /log/, as its log stands at this moment."""

    def __init__(self, fake):
        self.fake, self.log = fake, Log()

    def shows(self, log, *, proofs=()):
        """This log, with the proofs of these leaves."""
        self.log = log
        self.answers("/log/key", f"{log.key}\n")
        self.answers("/log/checkpoint", log.note() if log.leaves else NOT_FOUND)
        for leaf in proofs:
            index = log.leaves.index(leaf) if leaf in log.leaves else None
            path = f"/log/proof/{encode_base64url(leaf)}"
            self.answers(path, Reply("", status=202) if index is None else log.proof(index))

    def answers(self, path, reply):
        self.fake.scripts["GET", path] = [reply if isinstance(reply, Reply) else Reply(reply)]

    def begins_anew(self, *, name="one", kept=None):
        """The tree that a restore begins: the hash of the last note, and the leaves that are left."""
        after = Log(f"{self.log.key.name}/{name}")
        after.private = self.log.private
        after.key = replace(self.log.key, name=after.key.name)
        first = hashlib.sha256(self.log.note().encode()).digest()
        after.leaves = [first, *self.log.leaves[:kept]]
        self.shows(after, proofs=[first])
        return after


@pytest.fixture
def site(fake):
    made = Site(fake)
    made.log.grow(5)
    made.shows(made.log)
    return made


@pytest.fixture
def empty(fake):
    made = Site(fake)
    made.shows(made.log)
    return made


@pytest.fixture
def memory(tmp_path):
    return tmp_path / "logs.json"


def test_a_log_without_a_checkpoint_is_not_a_forged_one(make_client, empty, memory):
    with (
        make_client(log_memory=memory) as client,
        pytest.raises(NothingPublished, match="nothing has been published in the log"),
    ):
        client.follow_log()
    assert not memory.exists()

    empty.log.grow(1)
    empty.shows(empty.log)
    with make_client(log_memory=memory) as client:
        assert client.follow_log().checkpoint.size == 1


def test_a_log_that_publishes_nothing_any_more_is_a_finding(make_client, site, memory):
    with make_client(log_memory=memory) as client:
        client.follow_log()
        site.answers("/log/checkpoint", NOT_FOUND)
        with pytest.raises(Refused, match="publishes nothing and had 5 entries when it was last seen") as caught:
            client.follow_log()
    assert caught.value.member == "size"


# -- a history


def digest(value, salt=b""):
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return encode_base64url(hashlib.sha256(salt + canonical).digest())


def history(*ages, last=None):
    """A chain of so many entries, each so many seconds old, as the service tells it; with its leaves.

    `last` has members of the newest one that differ.
    """
    entries, before = [], ""
    for sequence, age in enumerate(ages, start=1):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - age))
        links = {"chain": "chn_a", "sequence": sequence, "prev_hash": before, "kind": "denied", "actor": "person"}
        entry = {
            "v": 2,
            **links,
            "at": at,
            "facts": {"request_id": f"req_{sequence}"},
            "salt": encode_base64url(b"salt"),
        }
        if sequence == len(ages):
            entry |= last or {}
        entry["facts_hash"] = digest(entry["facts"], b"salt")
        before = entry["entry_hash"] = digest({name: entry[name] for name in ("v", *links, "at", "facts_hash")})
        entries.append(entry)
    leaves = [base64.urlsafe_b64decode(f"{entry['entry_hash']}=") for entry in entries]
    return json.dumps({"head": {}, "entries": entries}).encode(), leaves


def test_a_history_is_verified_though_nothing_is_published(cli, fake, empty):
    printed, _ = history(900, 3)
    done = cli("verify-history", stdin=printed, CONSENT_BASE_URL=f"{fake.url}/api/v1")
    assert (done.returncode, json.loads(done.stdout)) == (
        1, {"chain": "chn_a", "entries": 2, "in_log": 0, "log": None},
    )  # fmt: skip
    assert b"the history is as it was written, as far as it shows by itself: nothing has been published" in done.stderr


BLANK = {"facts": {}, "salt": ""}


@pytest.mark.parametrize(
    ("ranges", "gone"),
    [
        ([[1, 2]], None),
        ([[2, 2], [1, 1]], None),
        ([[2, 2]], 1),
        ([[1, 1]], 2),
        ([[1, 3]], 1),
        ([[True, 2]], 1),
        ("all", 1),
    ],
)
def test_facts_are_gone_from_a_history_where_an_entry_says_so(ranges, gone):
    printed, _ = history(900, 800, 700, last={"kind": "erased", "facts": {"ranges": ranges}})
    first, second, erased = json.loads(printed)["entries"]
    chain = [first | BLANK, second | BLANK, erased]
    if gone is None:
        assert [entry.facts for entry in read_chain(chain)] == [None, None, {"ranges": ranges}]
        return
    with pytest.raises(Refused, match=f"the facts of entry {gone} are gone") as caught:
        read_chain(chain)
    assert caught.value.member == "facts"


@pytest.mark.parametrize(
    ("ages", "sequenced", "text"),
    [
        ([900, 800], 2, None),
        ([900, 3], 1, None),
        ([3, 2], 0, b"none of it is in the log yet, which takes new entries within seconds: come back"),
        ([900, 800, 3], 1, b"the log lacks what came after entry 1, since 20"),
        ([900] * 700, 0, b"the log lacks what came after entry 0, since 20"),
        ([900] * 700, 5, b"the log lacks what came after entry 5, since 20"),
    ],
)
def test_a_history_whose_newest_entries_wait_says_so(cli, fake, site, ages, sequenced, text):
    printed, leaves = history(*ages)
    site.log.leaves += leaves[:sequenced]
    site.shows(site.log, proofs=leaves)
    before = len(fake.received)
    done = cli("verify-history", stdin=printed, CONSENT_BASE_URL=f"{fake.url}/api/v1")

    assert json.loads(done.stdout)["in_log"] == sequenced
    assert (done.returncode, text is None or text in done.stderr) == (0 if text is None else 1, True), done.stderr
    assert len(fake.received) - before < 30


def test_the_newest_entry_in_a_log_is_found_with_few_questions():
    for count in range(40):
        for there in range(count + 1):
            tried = []
            assert newest_in_log(count, lambda n, there=there, tried=tried: tried.append(n) or n <= there) == there
            assert len(tried) <= 13
            assert tried == [] or min(tried) >= 1


# -- a log that began anew


def test_a_log_that_began_anew_is_no_other_log(make_client, site, memory):
    with make_client(log_memory=memory) as client:
        client.follow_log()
        site.begins_anew(kept=3)
        with pytest.raises(LogEpochChanged, match="last seen with 5 entries, begins anew as") as caught:
            client.follow_log()
        assert (caught.value.last.origin, caught.value.newest.size) == ("log.example/log", 4)
        with pytest.raises(Refused, match="did not begin anew as elsewhere"):
            client.accept_log_epoch("elsewhere")

        accepted = client.accept_log_epoch("log.example/log/one").checkpoint
        assert (accepted.origin, accepted.size) == ("log.example/log/one", 4)
    site.log.grow(3)
    size = len(site.log.leaves)
    site.shows(site.log)
    site.answers("/log/consistency", "".join(f"{notes.encode(each)}\n" for each in consistency(4, site.log.leaves)))
    with make_client(log_memory=memory) as later:
        assert later.follow_log().checkpoint.size == size
    [kept] = json.loads(memory.read_text()).values()
    assert [note.partition("\n")[0] for note in kept["ended"]] == ["log.example/log"]


def test_a_log_that_began_anew_under_another_key_is_a_finding_of_the_key(make_client, site, memory):
    with make_client(log_memory=memory) as client:
        client.follow_log()
        site.shows(Log("log.example/log/one"))
        site.log.grow(2)
        site.shows(site.log)
        with pytest.raises(LogKeyChanged):
            client.follow_log()
        with pytest.raises(Refused, match="or no key that is known signed it"):
            client.accept_log_epoch("log.example/log/one")


def test_the_command_shows_both_and_asks(cli, fake, site, state):
    where = {"CONSENT_BASE_URL": f"{fake.url}/api/v1"}
    printed, leaves = history(900)
    site.log.leaves += leaves
    site.shows(site.log, proofs=leaves)
    assert cli("verify-history", stdin=printed, **where).returncode == 0
    assert json.loads(cli("accept-epoch", **where).stdout) == {
        "accepted": False, "why": "the log goes on as it was seen",
    }  # fmt: skip
    site.begins_anew()

    refused = cli("verify-history", stdin=printed, **where)
    assert (refused.returncode, b"begins anew as log.example/log/one" in refused.stderr) == (1, True)
    shown = cli("accept-epoch", **where)
    body = json.loads(shown.stdout)
    assert (shown.returncode, b"nothing was accepted" in shown.stderr) == (1, True)
    assert (body["old"]["origin"], body["old"]["size"]) == ("log.example/log", 6)
    assert (body["new"]["origin"], body["new"]["size"]) == ("log.example/log/one", 7)
    assert (body["new_begins_after_last_seen"], body["accepted"]) == (True, False)

    assert json.loads(cli("accept-epoch", "--yes", **where).stdout)["accepted"] is True
    site.shows(site.log, proofs=leaves)
    assert json.loads(cli("verify-history", stdin=printed, **where).stdout)["in_log"] == 1


def test_a_new_log_that_begins_after_another_checkpoint_says_so(cli, fake, site):
    where = {"CONSENT_BASE_URL": f"{fake.url}/api/v1"}
    printed, leaves = history(900)
    site.log.leaves += leaves
    site.shows(site.log, proofs=leaves)
    cli("verify-history", stdin=printed, **where)
    seen = hashlib.sha256(site.log.note().encode()).digest()
    site.log.grow(1)
    site.begins_anew()
    site.shows(site.log, proofs=[seen])

    assert json.loads(cli("accept-epoch", **where).stdout)["new_begins_after_last_seen"] is False


def test_a_proof_of_an_unknown_key_says_which_key_it_takes(site):
    other = Log()
    other.leaves = site.log.leaves
    with pytest.raises(Refused) as caught:
        Memory(Trust((site.log.key,))).read_proof(other.proof(1))
    message = str(caught.value)
    assert f"signed by the key {other.key.key_id.hex()} of" in message
    assert f"known are {site.log.key.key_id.hex()}" in message
    assert "--log-key" in message
    both = Trust((site.log.key, VerifierKey.parse(str(other.key))))
    assert Memory(both).read_proof(other.proof(1)).index == 1
