"""Notes, checkpoints and proofs are read as C2SP says, and nothing that is spelled otherwise."""

import base64
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from consent_bridge import notes
from consent_bridge.errors import KeyRefused, Refused
from tests.bridge.logs import Log

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "notes.json").read_text("utf-8"))["notes"]
# the example of signed-note
KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
SIGNATURE = (
    "\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAl"
    "TgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)


def test_the_key_and_note_of_the_specification_are_read() -> None:
    key = notes.VerifierKey.parse(KEY)
    text, signatures = notes.split_note("This is an example message.\n\n" + SIGNATURE)

    assert (str(key), key.name, text) == (KEY, "example.com/foo", "This is an example message.\n")
    notes.verify(key, signatures[0][1][4:], text.encode())
    with pytest.raises(Refused, match="three lines"):
        notes.read_checkpoint("This is an example message.\n\n" + SIGNATURE, [key])


@pytest.mark.parametrize(
    "text",
    [
        "", "example.com/foo", KEY.replace("530d903a", "530d903b"), KEY.replace("530d903a", "530D903A"), f"{KEY}=",
        f" {KEY}", KEY.replace("example.com/foo", "example.com/ foo"), KEY.replace("+Ae", "+Be"), KEY[:-4], f"{KEY}\n",
        "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    ],
)  # fmt: skip
def test_what_is_no_verifier_key_is_refused(text: str) -> None:
    with pytest.raises((KeyRefused, Refused)):
        notes.VerifierKey.parse(text)


def spoiled(log: Log) -> dict[str, str]:
    """Notes of which each is wrong in one thing."""
    good = log.note(3)
    text, _, line = good.rpartition("\n\n")
    root = text.split("\n")[2]
    return {
        "nothing": "",
        "no signature": text + "\n\n",
        "no blank line": text + "\n" + line,
        "no last newline": good[:-1],
        "two spaces": good.replace("\u2014 ", "\u2014  "),
        "a hyphen": good.replace("\u2014", "-"),
        "carriage returns": good.replace("\n", "\r\n"),
        "a tab": good.replace("log.example/log\n3", "log.example/log\t\n3"),
        "text after the signatures": good + "more\n",
        "another size": good.replace("\n3\n", "\n4\n"),
        "a signature of another kind of base64": good.replace(line, line.replace("=\n", "\n")),
        "a leading zero": log.signed(f"{log.key.name}\n03\n{root}\n"),
        "a plus": log.signed(f"{log.key.name}\n+3\n{root}\n"),
        "no number": log.signed(f"{log.key.name}\nthree\n{root}\n"),
        "half a root": log.signed(f"{log.key.name}\n3\n{root[:20]}\n"),
        "another origin": log.signed(f"other.example/log\n3\n{root}\n"),
        "two lines": log.signed(f"{log.key.name}\n3\n"),
        "an extension line": log.signed(f"{log.key.name}\n3\n{root}\nmore\n"),
        "an empty line within": log.signed(f"{log.key.name}\n\n3\n{root}\n"),
        "a signature cut off": text + "\n\n" + line[:-20] + "\n",
        "too many signatures": good + "\u2014 x AAAAAAAA\n" * 101,
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["why"])
def test_each_note_of_the_vectors_is_taken_or_refused(vector: dict[str, Any]) -> None:
    """Readers in JavaScript are held against the same file (tests/system/bridge_js/logs.test.mjs)."""
    with nullcontext() if vector["well_formed"] else pytest.raises(Refused):
        notes.split_note(vector["note"])
    with nullcontext() if vector["taken"] else pytest.raises(Refused):
        assert notes.read_checkpoint(vector["note"], [notes.VerifierKey.parse(vector["key"])]).size == 0


@pytest.mark.parametrize("name", list(spoiled(Log())))
def test_a_note_that_is_wrong_in_one_thing_is_refused(name: str) -> None:
    log = Log()
    log.grow(3)
    assert notes.read_checkpoint(log.note(3), [log.key]).size == 3

    with pytest.raises(Refused):
        notes.read_checkpoint(spoiled(log)[name], [log.key])


def test_signatures_of_unknown_keys_are_passed_over() -> None:
    log, other = Log(), Log()
    text = log.note().rpartition("\n\n")[0] + "\n"
    both = log.note() + other.signed(text).rpartition("\n\n")[2]

    assert notes.read_checkpoint(both, [log.key]).size == 0
    with pytest.raises(Refused, match="no key of the log"):
        notes.read_checkpoint(log.note(), [other.key])


def test_a_proof_is_read_and_checked() -> None:
    log = Log()
    log.grow(7)
    for index in range(7):
        proof = notes.read_proof(log.proof(index), [log.key])
        proof.check(log.leaves[index])
        for entry in {*log.leaves} - {log.leaves[index]}:
            with pytest.raises(Refused, match="does not hold"):
                proof.check(entry)
    with_extra = log.proof(0).replace("\nindex", "\nextra AAAA\nindex", 1)
    assert notes.read_proof(with_extra, [log.key]).index == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tlog-proof@v1", "tlog-proof@v2"), ("index 2", "index 02"), ("index 2", "index"), ("index 2", "2"),
        ("index 2", "index 3"), ("\nindex", "\nextra ?\nindex"), ("index 2\n", "index 2\nAAAA\n"), ("\n\n", "\n"),
        ("index 2", "index -1"), ("index 2", f"index {2**70}"),
    ],
)  # fmt: skip
def test_a_proof_that_is_spelled_otherwise_is_refused(old: str, new: str) -> None:
    log = Log()
    log.grow(7)

    with pytest.raises(Refused):
        notes.read_proof(log.proof(2).replace(old, new, 1), [log.key]).check(log.leaves[2])


def test_a_quorum_says_who_is_missing() -> None:
    log = Log()
    log.grow(1)
    witnesses = [notes.VerifierKey(f"w{at}.example", notes.COSIGNATURE, bytes([at]) * 32) for at in range(3)]
    read = notes.read_checkpoint(log.note(), [log.key], witnesses)

    assert notes.missing(read, witnesses) == ["w0.example", "w1.example", "w2.example"]
    assert notes.missing(read, witnesses, quorum=0) == notes.missing(read, []) == []


# --- proofs of another log -------------------------------------------------------------------------------------------


def test_proofs_of_a_log_that_is_not_ours_are_read_and_hold() -> None:
    """Of Rekor, sigstore's log, which publishes the same formats; tests/vectors/rekor.json says where they are from."""
    told = json.loads((Path(__file__).parents[1] / "vectors" / "rekor.json").read_text("utf-8"))

    for kept in told["proofs"]:
        text = "\n".join(["c2sp.org/tlog-proof@v1", f"index {kept['index']}", *kept["hashes"], "", kept["note"]])
        proof = notes.read_proof(text, [notes.VerifierKey.parse(kept["key"])])
        proof.check(base64.b64decode(kept["body"]))
        with pytest.raises(Refused, match="does not hold"):
            proof.check(base64.b64decode(kept["body"])[1:])
        with pytest.raises(Refused, match="no key of the log"):
            notes.read_proof(text, [Log().key])
