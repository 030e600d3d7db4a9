"""After a restore the log goes on where it was published, or begins anew for everybody to see."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from consent.errors import LogRefused
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry, LogQueue
from consent.ledger.proofs import as_hashed
from consent.log import keys, published, tree
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import sequence_and_sign, sequence_batch
from consent.notices.models import NoticeCounter
from consent.notices.outbox import EPOCH
from consent.rules import RULES
from consent_bridge import notes
from consent_bridge.entries import read_chain
from consent_bridge.errors import Refused
from consent_bridge.logs import LogEpochChanged, Memory, Trust, read_keys
from tests.chains import verify_log
from tests.consent.log.backups import Backup
from tests.consent.log.conftest import AT, Grow
from tests.database import missing_rules
from tests.factories import AppFactory
from tests.fakes.witness import Witness

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def mirror(db: None, settings: Any, tmp_path: Path) -> Path:
    settings.LOG_MIRROR = str(tmp_path / "mirror")
    return tmp_path / "mirror"


def newest() -> AuditCheckpoint:
    found = published.newest_published()
    assert found is not None
    return found


def a_reader() -> Memory:
    """Somebody who looked at the log now."""
    memory = Memory(Trust(read_keys("".join(f"{key}\n" for key in keys.verifier_keys(published.epoch())))))
    return memory.tie(memory.read(newest().full_note), ())


def look(memory: Memory) -> Memory:
    """What a client does at its next look."""
    seen = memory.read(newest().full_note)
    memory.require_no_rollback(seen)
    gap = memory.gap(seen)
    return memory.tie(seen, tree.consistency_proof(*gap) if gap else ())


def append(count: int, chain: str = "person:b") -> None:
    audit.append_all([audit.NewEntry(chain=chain, kind="denied", actor="person", at=AT, facts={})] * count)


def restored_facts() -> dict[str, Any]:
    return AuditEntry.objects.of(audit.DEPLOYMENT).get(kind="restored").facts


# --- with a mirror ----------------------------------------------------------------------------------------------------


@pytest.fixture
def rolled_back(grow: Grow, mirror: Path) -> Memory:
    """A reader of 603 leaves; the database has 300 of them and, in its queue, the entries of two more."""
    grow(300)
    append(2)
    backup = Backup()
    assert sequence_and_sign() == 2
    grow(301, chain="app:x")
    reader = a_reader()
    backup.restore()
    return reader


def test_after_a_restore_nothing_takes_the_place_of_what_was_published(rolled_back: Memory) -> None:
    with pytest.raises(Refused, match="the log has 300 entries and had 603 when it was last seen: it was rolled back"):
        look(rolled_back)
    with pytest.raises(LogRefused, match="the signer signed 603 leaves, and the database has 300"):
        sequence_and_sign()

    assert (LogState.objects.get().size, LogQueue.objects.count()) == (300, 2)
    assert any("cut or rolled back" in flaw.reason for flaw in verify_log())


def test_the_tree_grows_again_from_the_mirror(rolled_back: Memory, capsys: Capture) -> None:
    app = AppFactory()

    call_command("restore_log", "--from-mirror")

    assert NoticeCounter.objects.get(app=app).sequence == EPOCH

    expected = "303 leaves came back, and the log has 603.\nThe entries of 301 of them are lost, with what they told. "
    assert capsys.readouterr().out.startswith(expected)
    assert look(rolled_back).checkpoint == rolled_back.checkpoint
    assert sequence_and_sign() == 1  # the entry that tells of it
    after = look(rolled_back).checkpoint
    assert after is not None
    assert after.size == 604
    assert (restored_facts()["had"], restored_facts()["size"], restored_facts()["epoch"]) == (300, 603, "")
    assert restored_facts()["leaves_without_entries"] == [[302, 602]]
    assert (LogTile.objects.count(), AuditEntry.objects.filter(leaf=None).count()) == (2, 0)
    assert [checkpoint.size for checkpoint in AuditCheckpoint.objects.order_by("size")] == [300, 302, 603, 604]
    assert list(verify_log()) == []


def test_a_leaf_that_no_restore_told_of_is_still_a_finding(rolled_back: Memory) -> None:
    call_command("restore_log", "--from-mirror")
    backup = Backup()
    backup.rows[LogLeaf][17].entry_id = None
    backup.restore()

    assert (17, "the entry of this leaf is gone") in [(flaw.sequence, flaw.reason) for flaw in verify_log()]


@pytest.mark.parametrize("there", [True, False])
def test_the_signers_memory_is_made_anew_only_where_it_is_lost(rolled_back: Memory, there: bool) -> None:
    file = Path(settings.LOG_SIGNER_FILE)
    before = file.read_text()
    if there:
        assert refused("--from-mirror", "--signer-too").endswith("is there, and says what was signed.")
        assert LogState.objects.get().size == 300
        return
    file.unlink()
    assert "the signer's memory is missing" in refused("--from-mirror")

    call_command("restore_log", "--from-mirror", "--signer-too")

    assert file.read_text() == before
    assert sequence_and_sign() == 1
    look(rolled_back)


def refused(*options: str) -> str:
    with pytest.raises(CommandError) as raised:
        call_command("restore_log", *options)
    return str(raised.value)


def test_a_mirror_that_does_not_continue_the_log_changes_nothing(rolled_back: Memory, mirror: Path) -> None:
    Path(settings.LOG_SIGNER_FILE).unlink()
    append(1)
    assert sequence_batch() == 3  # the log went on beside what was published, which its signer would have refused

    message = refused("--from-mirror", "--signer-too")

    assert "does not begin as the mirror does: it takes a new epoch" in message
    assert LogState.objects.get().size == 303


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda mirror: (mirror / "checkpoint").unlink(), "the mirror has no"),
        (lambda mirror: (mirror / "tile/entries/001").unlink(), "the mirror has no"),
        (lambda mirror: (mirror / "tile/entries/001").write_bytes(b""), "does not hold 256 entries"),
        (lambda mirror: spoil_entry(mirror / "tile/entries/001"), "is not over those that it has"),
        (lambda mirror: spoil_note(mirror / "checkpoint"), "not signed by a key of this log"),
    ],
)
def test_a_mirror_that_is_not_whole_changes_nothing(
    rolled_back: Memory, mirror: Path, spoil: Any, message: str
) -> None:
    spoil(mirror)

    assert message in refused("--from-mirror")
    assert (LogState.objects.get().size, AuditCheckpoint.objects.count()) == (300, 1)
    assert not AuditEntry.objects.of(audit.DEPLOYMENT).exists()


def spoil_entry(path: Path) -> None:
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1  # of a leaf that the database does not have
    path.write_bytes(octets)


def spoil_note(path: Path) -> None:
    path.write_text(path.read_text().replace("\n603\n", "\n604\n"))


def test_a_mirror_behind_the_signer_and_one_with_nothing_new_change_nothing(grow: Grow, mirror: Path) -> None:
    grow(3)
    assert "nothing is to come back" in refused("--from-mirror")
    backup, older = Backup(), (mirror / "checkpoint").read_text()
    grow(2)
    middle = (mirror / "checkpoint").read_text()
    grow(2)
    backup.restore()
    (mirror / "checkpoint").write_text(middle)

    assert "the signer signed 7 leaves, and the mirror has 5" in refused("--from-mirror")
    (mirror / "checkpoint").write_text(older)
    assert "nothing is to come back" in refused("--from-mirror")


def test_without_a_mirror_there_is_nothing_to_grow_from(grow: Grow) -> None:
    grow(1)
    assert refused("--from-mirror") == "Nothing was changed: LOG_MIRROR names no folder."


# --- without one ------------------------------------------------------------------------------------------------------


@pytest.fixture
def cut(grow: Grow, tmp_path: Path) -> tuple[Memory, Witness, str]:
    """A reader and a witness of 310 leaves, of which the database has 300, and the last note."""
    grow(300)
    backup = Backup()
    grow(10)
    note, reader = newest().note, a_reader()
    backup.restore()
    own = Ed25519PrivateKey.generate()
    log_keys = tuple(notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys())
    witness = Witness(name="witness.example/w", key=own, logs=log_keys, path=tmp_path / "seen")
    return reader, witness, note


def test_another_tree_begins_with_the_old_ones_last_note_and_every_reader_sees_it(
    cut: tuple[Memory, Witness, str], capsys: Capture
) -> None:
    reader, witness, note = cut
    app = AppFactory()
    before = [bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")]

    call_command("restore_log", "--new-epoch", "2026-11-24")

    assert NoticeCounter.objects.get(app=app).sequence == EPOCH  # numbers of lost events are not used again
    assert f"until they are given its key:\n{keys.verifier_keys('2026-11-24')[0]}\n" in capsys.readouterr().out
    after = [bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")]
    assert after == [hashlib.sha256(note.encode()).digest(), *before]
    assert newest().note.startswith("localhost:8000/log/2026-11-24\n301\n")
    assert (restored_facts()["last_note"], restored_facts()["leaves_without_entries"]) == (note, [[0, 0]])
    with pytest.raises(LogEpochChanged, match="begins anew as localhost:8000/log/2026-11-24"):
        look(reader)
    assert witness.add_checkpoint(f"old 0\n\n{newest().full_note}".encode())[0] == 404

    assert sequence_and_sign() == 1
    assert list(verify_log()) == []
    anew = a_reader()
    assert anew.checkpoint is not None
    assert (anew.checkpoint.origin, anew.checkpoint.size) == ("localhost:8000/log/2026-11-24", 302)
    proof = notes.read_proof(str(published.proof_of(before[7])), anew.trust.keys)
    proof.check(before[7])


def test_who_gives_a_newer_note_has_it_in_the_first_leaf(cut: tuple[Memory, Witness, str], tmp_path: Path) -> None:
    reader, witness, note = cut
    assert reader.checkpoint is not None
    answer = witness.add_checkpoint(f"old 0\n\n{note}".encode())
    assert answer[0] == 200
    (tmp_path / "note").write_text(note + answer[1])
    Path(settings.LOG_SIGNER_FILE).unlink()

    call_command("restore_log", "--new-epoch", "b", "--last-note", str(tmp_path / "note"))

    first = LogLeaf.objects.get(log_index=0)
    assert bytes(first.entry_hash) == hashlib.sha256(notes.signed_by_log(reader.checkpoint.note).encode()).digest()
    assert restored_facts()["last_note"] == note


@pytest.mark.parametrize("spoilt", ["what a witness had\n", "localhost:8000/log\n{size}0\n{rest}"])
def test_a_last_note_that_the_log_did_not_sign_changes_nothing(
    cut: tuple[Memory, Witness, str], tmp_path: Path, spoilt: str
) -> None:
    _, size, rest = cut[2].split("\n", 2)
    (tmp_path / "note").write_text(spoilt.format(size=size, rest=rest))

    assert "is not signed by a key of this log" in refused("--new-epoch", "b", "--last-note", str(tmp_path / "note"))
    assert LogState.objects.get().epoch == ""


def test_the_protection_of_the_log_stands_again_afterwards(cut: tuple[Memory, Witness, str]) -> None:
    call_command("restore_log", "--new-epoch", "b")

    assert missing_rules(connection, RULES) == []
    with pytest.raises(DatabaseError), transaction.atomic():
        LogState.objects.update(epoch="c")


def test_a_beginning_that_was_not_signed_is_signed_the_next_time(
    cut: tuple[Memory, Witness, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("consent.log.signer.begin_epoch", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            call_command("restore_log", "--new-epoch", "b")
    with pytest.raises(LogRefused, match="signs for localhost:8000/log"):
        sequence_and_sign()

    call_command("restore_log", "--new-epoch", "b")

    assert (newest().epoch, newest().size) == ("b", 302)
    assert list(verify_log()) == []


def test_a_mirror_keeps_each_tree_in_a_folder_of_its_own(grow: Grow, mirror: Path) -> None:
    grow(5)
    call_command("restore_log", "--new-epoch", "b")

    assert sequence_and_sign() == 1
    assert (mirror / "checkpoints" / "5").exists()
    assert sorted(path.name for path in (mirror / "b" / "checkpoints").iterdir()) == ["6", "7"]


def test_a_name_is_used_once(grow: Grow) -> None:
    assert "nothing was signed yet" in refused("--new-epoch", "b")
    grow(1)
    call_command("restore_log", "--new-epoch", "b")
    assert "there was a tree of the name b before" in refused("--new-epoch", "b")


@pytest.mark.parametrize(
    "options",
    [
        ("--new-epoch", "../x"), ("--new-epoch", ""), ("--new-epoch", "A b"), ("--new-epoch", "b", "--signer-too"),
        ("--from-mirror", "--last-note", "x"), ("--new-epoch", "b", "--last-note", "/nowhere/at/all"), (),
        ("--from-mirror", "--new-epoch", "b"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(grow: Grow, options: tuple[str, ...]) -> None:
    grow(1)
    refused(*options)
    assert LogState.objects.get().epoch == ""


def test_without_the_keys_nothing_is_restored(grow: Grow, settings: Any) -> None:
    grow(1)
    settings.LOG_KEYS = []
    assert refused("--new-epoch", "b") == "LOG_KEYS is not set here, so nothing can be signed."


def test_chains_that_were_restored_hold(rolled_back: Memory) -> None:
    call_command("restore_log", "--from-mirror")

    assert list(verifying.verify()) == []
    chain = AuditEntry.objects.of(audit.DEPLOYMENT).select_related("kept")
    assert [entry.kind for entry in read_chain(map(as_hashed, chain))] == ["restored"]
