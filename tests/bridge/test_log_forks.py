"""A log and one of its witnesses show two histories: whoever asks all witnesses, or saw one history, notices."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge import notes
from consent_bridge.errors import Refused
from consent_bridge.logs import Memory, Trust
from tests.bridge.logs import Log
from tests.fakes.witness import Witness

AT = 1_764_000_000


@pytest.fixture
def log():
    made = Log()
    made.grow(3)
    return made


@pytest.fixture
def fork(log):
    """The same log, by its own key, with another third entry."""
    other = Log()
    other.private, other.key = log.private, log.key
    other.leaves = [*log.leaves[:2], hashlib.sha256(b"something else").digest()]
    return other


@pytest.fixture
def honest(log, tmp_path):
    return Witness(name="w1.example", key=Ed25519PrivateKey.generate(), logs=[log.key], path=tmp_path / "w1")


@pytest.fixture
def forking():
    """Cosigns whatever it is shown."""
    return Ed25519PrivateKey.generate()


def key_of(private):
    return notes.VerifierKey("w2.example", notes.COSIGNATURE, private.public_key().public_bytes_raw())


def cosigned(log, private):
    text = log.note().rpartition("\n\n")[0] + "\n"
    stamped = AT.to_bytes(8, "big") + private.sign(notes.cosigned_text(text, AT))
    return log.note() + notes.signature_line("w2.example", key_of(private).key_id + stamped)


def test_a_second_witness_that_forks_is_no_quorum(log, fork, honest, forking):
    status, line = honest.add_checkpoint(log.request(0))
    trust = Trust((log.key,), (honest.key, key_of(forking)))
    whole = notes.read_checkpoint(cosigned(log, forking) + line, trust.keys, trust.witnesses)
    checkpoint = notes.read_checkpoint(cosigned(fork, forking), trust.keys, trust.witnesses)

    assert status == 200
    trust.require(whole)
    with pytest.raises(Refused, match=r"not cosigned by w1\.example"):
        trust.require(checkpoint)
    with pytest.raises(Refused, match=r"w1\.example does not hold"):  # its word for the first is none for the second
        notes.read_checkpoint(cosigned(fork, forking) + line, trust.keys, trust.witnesses)
    assert honest.add_checkpoint(fork.request(3))[0] == 422


def test_where_one_witness_is_enough_whoever_saw_the_first_history_notices(log, fork, forking):
    trust = Trust((log.key,), (key_of(forking),), quorum=1)
    first = notes.read_checkpoint(cosigned(log, forking), trust.keys, trust.witnesses)
    second = notes.read_checkpoint(cosigned(fork, forking), trust.keys, trust.witnesses)
    trust.require(second)

    with pytest.raises(Refused, match="rewritten"):
        Memory(trust, first).tie(second, [])
