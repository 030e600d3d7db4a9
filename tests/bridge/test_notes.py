"""Notes, checkpoints and proofs are read as C2SP says, and nothing that is spelled otherwise."""

import pytest

from consent_bridge import notes
from consent_bridge.errors import Refused
from tests.bridge.logs import Log

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


def test_a_quorum_says_who_is_missing() -> None:
    log = Log()
    log.grow(1)
    witnesses = [notes.VerifierKey(f"w{at}.example", notes.COSIGNATURE, bytes([at]) * 32) for at in range(3)]
    read = notes.read_checkpoint(log.note(), [log.key], witnesses)

    assert notes.missing(read, witnesses) == ["w0.example", "w1.example", "w2.example"]
    assert notes.missing(read, witnesses, quorum=0) == notes.missing(read, []) == []
