"""A log that changes its key: readers learn the new one from the old one's word, and from nothing else."""

from dataclasses import replace

import pytest

from consent_bridge.calls import follow_log
from consent_bridge.errors import Refused
from consent_bridge.logs import LogKeeper, LogKeyChanged, Memory, Trust
from tests.bridge.logs import Log, consistency


class Place:
    """A log under several keys, and what its addresses answer."""

    def __init__(self):
        self.old, self.new = Log(), Log()
        self.old.grow(3)
        self.signing, self.named = [self.old], [self.old.key]

    def note(self, size=None):
        """The checkpoint of this size, signed by everyone whose turn it is."""
        first, *others = self.signing
        note = self.whole(first).note(size)
        return note + "".join(self.whole(log).note(size).rpartition("\n\n")[2] for log in others)

    def whole(self, log):
        log.leaves = self.old.leaves
        return log

    def proof(self, index, size):
        return self.old.proof(index, size, self.note(size))

    def look(self, memory):
        """What a reader remembers after a look at this log; and how often it asked for keys."""
        asking, answer, paths = follow_log(memory), None, []
        while True:
            try:
                call = asking.send(answer)
            except StopIteration as done:
                return done.value, paths
            paths.append(call.path)
            answer = {
                "/log/key": lambda: tuple(self.named),
                "/log/checkpoint": self.note,
                "/log/consistency": lambda params=call.params: self.between(int(params["old"]), int(params["new"])),
            }[call.path]()

    def between(self, old, new):
        return tuple(consistency(old, self.old.leaves[:new]))


@pytest.fixture
def place():
    return Place()


@pytest.fixture
def seen(place):
    """A reader who looked once."""
    memory, paths = place.look(None)
    assert paths == ["/log/key", "/log/checkpoint"]
    return memory


def both(place):
    place.signing, place.named = [place.new, place.old], [place.new.key, place.old.key]
    place.old.grow(2)


def changed(place):
    place.signing, place.named = [place.new], [place.new.key]
    place.old.grow(2)


def test_a_key_that_the_known_one_vouches_for_is_learned(place, seen):
    both(place)
    memory, paths = place.look(seen)
    assert paths == ["/log/checkpoint", "/log/consistency", "/log/key"]
    assert (memory.trust.keys, memory.trust.earlier) == ((place.new.key, place.old.key), ())

    changed(place)
    memory, _ = place.look(memory)
    assert (memory.trust.keys, memory.trust.earlier) == ((place.new.key,), (place.old.key,))
    assert place.look(memory)[1] == ["/log/checkpoint"]


def test_a_key_that_nobody_vouches_for_is_a_finding(place, seen):
    changed(place)
    with pytest.raises(LogKeyChanged, match="none that this reader knows vouches for it") as refused:
        place.look(seen)
    assert refused.value.member == "signature"


def test_an_old_key_that_comes_back_signs_nothing_new(place, seen):
    both(place)
    changed_memory, _ = place.look(seen)
    changed(place)
    memory, _ = place.look(changed_memory)
    place.signing = [place.old]
    place.old.grow(1)
    with pytest.raises(LogKeyChanged):
        place.look(memory)


def test_what_the_old_key_signed_before_goes_on_to_count(place, seen):
    early = place.proof(1, 3)
    both(place)
    memory, _ = place.look(seen)
    changed(place)
    memory, _ = place.look(memory)

    assert memory.read_proof(early).checkpoint.size == 3
    place.signing = [place.old]
    place.old.grow(1)
    with pytest.raises(Refused, match="no key that counts now signed this checkpoint"):
        memory.read_proof(place.proof(1, 8))


def test_a_proof_of_a_key_that_was_never_known_counts_where_it_is_tied(place):
    """Whoever comes after the change: the last checkpoint, which is signed, holds what the old one held."""
    early = place.proof(1, 3)
    changed(place)
    memory, _ = place.look(None)
    with pytest.raises(Refused, match="the proof is signed by the key"):
        memory.read_proof(early)
    proof = memory.read_proof(early, tied=True)
    assert memory.tie(proof.checkpoint, place.between(3, 5)) == memory
    forged = Log()
    forged.grow(3, "forged ")
    with pytest.raises(Refused, match="the log was rewritten"):
        memory.tie(memory.read_proof(forged.proof(1), tied=True).checkpoint, place.between(3, 5))
    forged.grow(9)
    with pytest.raises(Refused, match="no key that counts now"):
        memory.read_proof(forged.proof(1), tied=True)


def test_a_key_that_is_named_and_did_not_sign_is_not_learned(place, seen):
    place.named = [place.new.key, place.old.key]
    memory, paths = place.look(seen)
    assert (memory.trust.keys, paths) == ((place.old.key,), ["/log/checkpoint"])


def test_a_signature_that_does_not_hold_teaches_nothing(place, seen):
    both(place)
    place.new.private = Log().private
    with pytest.raises(Refused, match="does not hold"):
        place.look(seen)


def test_a_key_of_another_name_is_not_the_logs(place, seen):
    other = Log("elsewhere.example/log")
    place.signing, place.named = [place.old, other], [other.key, place.old.key]
    memory, _ = place.look(seen)
    assert memory.trust.keys == (place.old.key,)


def test_keys_that_the_caller_named_stay(place, seen):
    both(place)
    memory, paths = place.look(replace(seen, fixed=True))
    assert (memory.trust.keys, paths) == ((place.old.key,), ["/log/checkpoint", "/log/consistency"])


def test_a_key_that_is_gone_at_the_first_look_counts_for_what_it_signed(place):
    early = place.proof(0, 3)
    changed(place)
    place.named = [place.new.key, place.old.key]
    memory, _ = place.look(None)
    assert (memory.trust.keys, memory.trust.earlier) == ((place.new.key,), (place.old.key,))
    assert memory.read_proof(early).index == 0


def test_the_file_keeps_earlier_keys(place, seen, tmp_path):
    keeper = LogKeeper(tmp_path / "logs.json", None)
    both(place)
    memory, _ = place.look(seen)
    changed(place)
    memory, _ = place.look(memory)
    keeper.keep("https://consent.example", memory)
    assert LogKeeper(tmp_path / "logs.json", None).find("https://consent.example") == memory
    named = LogKeeper(tmp_path / "logs.json", Trust((place.new.key,))).find("https://consent.example")
    assert named == Memory(Trust((place.new.key,)), memory.checkpoint, fixed=True)
