"""Everything of the table is done to a real history, and found by whom the table names."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command
from django.db import connection, transaction

from consent.errors import LogRefused
from consent.ledger import audit
from consent.log import keys, tree
from consent.log.models import AuditCheckpoint
from consent.log.sequencing import sequence_and_sign
from consent.rules import RULES
from consent.verification.run import Position, run
from consent_bridge.errors import Refused
from consent_bridge.logs import Memory, Trust
from consent_bridge.notes import Checkpoint, VerifierKey, encode
from tests.chains import verify_log
from tests.consent.verification.log_forged import begin_to_count_anew, build_again, forget_checkpoints
from tests.consent.verification.manipulations import CHAINS, LOG, OPERATOR, ROWS, TABLE, TREE, Manipulation
from tests.consent.verification.world import World, made_world, shared_world
from tests.fakes.witness import Witness

__all__ = ["made_world", "shared_world"]  # fixtures
_FOUND = [each for each in TABLE if each.found_by in (CHAINS, ROWS)]
_OF_TREE = [each for each in TABLE if each.found_by == TREE]
_MADE_TO_FIT = [each for each in TABLE if each.found_by == LOG]
_NOT_FOUND = [each for each in TABLE if each.found_by not in (CHAINS, ROWS, TREE, LOG)]
_BEGIN, _END = "<!-- tampering table -->\n", "<!-- end of the tampering table -->"
_WORDS = {
    "chains": "`verify_audit`, by the chains",
    "rows": "`verify_audit`, by the rows",
    "tree": "`verify_audit`, by the log",
    "log": "`verify_audit`, by the log; with the log's key too: its signer, witnesses, and who saw the log before",
    "approval": "the receiving app, by the vault's signature",
    "app": "the app that asked",
    "operator": "whoever knows that nothing was restored: `verify_audit` names every restore; the person's own browser",
}


@pytest.fixture
def world(shared_world: World) -> World:
    """A history, with the triggers that protect it lifted for one who owns the database."""
    assert sequence_and_sign()
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    return shared_world


def complaints() -> list[str]:
    """What the chains and the rows say, without the log."""
    position = Position()
    pages = takewhile(lambda _: position.stage != "log", run(position))
    return [f"{flaw.chain} entry {flaw.sequence}: {flaw.reason}" for page in pages for flaw in page]


def complaints_of_the_log() -> list[str]:
    return [f"{flaw.chain} entry {flaw.sequence}: {flaw.reason}" for flaw in verify_log()]


def after(manipulation: Manipulation, world: World) -> list[str]:
    with transaction.atomic():
        manipulation.do(world)
        found = complaints()
        transaction.set_rollback(True)
    return found


def test_what_nobody_touched_holds(world: World) -> None:
    assert complaints() == []
    assert complaints_of_the_log() == []


@pytest.mark.parametrize("manipulation", _FOUND, ids=lambda each: each.what)
def test_it_is_found_and_named(world: World, manipulation: Manipulation) -> None:
    found = after(manipulation, world)

    assert [line for line in found if manipulation.complaint in line], found
    assert complaints() == []


@pytest.mark.parametrize("manipulation", _OF_TREE, ids=lambda each: each.what)
def test_what_is_done_to_the_log_is_found_and_named(world: World, manipulation: Manipulation) -> None:
    with transaction.atomic():
        manipulation.do(world)
        found = complaints_of_the_log()
        transaction.set_rollback(True)

    assert [line for line in found if manipulation.complaint in line], found
    assert complaints_of_the_log() == []


@pytest.mark.parametrize("manipulation", _MADE_TO_FIT, ids=lambda each: each.what)
def test_what_was_made_to_fit_is_found_by_the_log(
    world: World, manipulation: Manipulation, settings: Any, tmp_path: Path
) -> None:
    """First with the log as it was; then made to fit in tree and edge; then with the log's key, signed anew."""
    newest = AuditCheckpoint.objects.get()
    readers = _Readers(newest, tmp_path)
    with transaction.atomic():
        manipulation.do(world)
        assert complaints() == []
        assert [line for line in complaints_of_the_log() if "this leaf is gone" in line or "is not the one" in line]

        build_again()
        unsigned = complaints_of_the_log()
        assert [line for line in unsigned if "not over the leaves" in line or "more leaves than" in line], unsigned

        forget_checkpoints()
        with pytest.raises(LogRefused, match=r"follow from what was signed before|the database has"):
            sequence_and_sign()
        begin_to_count_anew()
        settings.LOG_SIGNER_FILE = str(tmp_path / "signer of the thief")
        sequence_and_sign()
        assert (complaints(), complaints_of_the_log()) == ([], [])
        assert readers.say_to(AuditCheckpoint.objects.get()) in (
            ("the log was rewritten: it does not fit what was last seen of it", 422),
            (_rolled_back(newest), 400),
        )

        _outgrow(newest)
        assert (complaints(), complaints_of_the_log()) == ([], [])
        answer = readers.say_to(AuditCheckpoint.objects.order_by("-size")[0])
        assert answer == ("the log was rewritten: it does not fit what was last seen of it", 422)
        transaction.set_rollback(True)


def _rolled_back(seen: AuditCheckpoint) -> str:
    size = AuditCheckpoint.objects.get().size
    return f"the log has {size} entries and had {seen.size} when it was last seen: it was rolled back"


def _outgrow(seen: AuditCheckpoint) -> None:
    """The forged log takes what happens next, until it is larger than the one that was seen."""
    while AuditCheckpoint.objects.order_by("-size")[0].size <= seen.size:
        audit.append(chain=audit.DEPLOYMENT, kind="staff_viewed", actor="staff", at=seen.at, facts={})
        sequence_and_sign()


class _Readers:
    """A client and a witness that saw the log before, with the tools that anybody has."""

    def __init__(self, seen: AuditCheckpoint, folder: Path) -> None:
        log_keys = tuple(VerifierKey.parse(str(key)) for key in keys.verifier_keys())
        memory = Memory(Trust(log_keys))
        self.memory = replace(memory, checkpoint=memory.read(seen.full_note))
        own = Ed25519PrivateKey.generate()
        self.witness = Witness(name="witness.example/w", key=own, logs=log_keys, path=folder / "seen")
        assert self.witness.add_checkpoint(_request(0, (), seen.full_note))[0] == 200

    def say_to(self, shown: AuditCheckpoint) -> tuple[str, int]:
        """What the client says, and the status that the witness answers, given the best proof that can be made."""
        read = self.memory.read(shown.full_note)
        gap = self.memory.gap(read)
        proof = tree.consistency_proof(*gap) if gap and gap[1] == shown.size else ()
        with pytest.raises(Refused) as refused:
            _look(self.memory, read, proof)
        had = self.memory.checkpoint.size if self.memory.checkpoint else 0
        return str(refused.value), self.witness.add_checkpoint(_request(had, proof, shown.full_note))[0]


def _look(memory: Memory, newest: Checkpoint, proof: Sequence[bytes]) -> None:
    memory.require_no_rollback(newest)
    memory.tie(newest, proof)


def _request(old: int, proof: Sequence[bytes], note: str) -> bytes:
    return ("\n".join([f"old {old}", *map(encode, proof), "", ""]) + note).encode()


@pytest.mark.parametrize("manipulation", _NOT_FOUND, ids=lambda each: each.what)
def test_the_database_alone_cannot_tell(world: World, manipulation: Manipulation) -> None:
    """Where this fails, chains or rows find it by now, and its row of the table has to say so."""
    with transaction.atomic():
        manipulation.do(world)
        sequence_and_sign()
        found = [*complaints(), *complaints_of_the_log()]
        transaction.set_rollback(True)
    assert found == []


def test_a_restore_that_never_was_is_told_to_the_operator(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (pretended,) = [each for each in TABLE if each.found_by == OPERATOR]
    pretended.do(world)
    sequence_and_sign()

    call_command("verify_audit")

    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("After a restore of 20")
    assert first.endswith(" leaves of the log are without entries.")
    assert last.endswith("entries: all hold.")


def _found_by(finder: str, words: str) -> str:
    """How many ways; which, where `verify_audit` alone is not enough."""
    ways = [each.what for each in TABLE if each.found_by == finder]
    listed = [] if finder in (CHAINS, ROWS, TREE) else [f"  - {way}\n" for way in ways]
    return f"- {words}: {len(ways)}\n{''.join(listed)}"


def test_the_table_is_in_the_security_page() -> None:
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    table = page.split(_BEGIN)[1].split(_END)[0]

    assert table == "".join(_found_by(finder, words) for finder, words in _WORDS.items())
    assert len(TABLE) >= 40
    assert len({each.what for each in TABLE}) == len(TABLE)
