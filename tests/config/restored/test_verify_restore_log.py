"""`manage.py verify_restore` of the public log: rolled back or not, and which call of `restore_log` repairs it."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config.restored import log
from consent.log.models import LogState
from consent.log.sequencing import sequence_and_sign, sequence_batch
from tests.config.restored.command import quick
from tests.consent.log.backups import Backup
from tests.consent.log.test_restoring import append
from tests.consent.verification.world import World, make_world


def rolled_back() -> None:
    """More was signed after the backup."""
    backup = Backup()
    make_world()
    sequence_and_sign()
    connection.check_constraints()
    backup.restore()


def log_faults() -> list[str]:
    return [each for each in quick() if each.partition(":")[0] in ("log keys", "signer", "mirror", "epochs")]


def test_a_log_that_was_rolled_back_is_found_and_the_call_that_it_names_repairs_it(world: World) -> None:
    rolled_back()

    found = log_faults()
    assert [each.partition(":")[0] for each in found] == ["signer", "mirror"]
    assert all(each.endswith("it was rolled back; next is `restore_log --from-mirror`") for each in found)

    call_command("restore_log", "--from-mirror", stdout=StringIO())
    sequence_and_sign()
    assert "FAILS" not in "".join(lines_of_log())


def lines_of_log() -> list[str]:
    return [
        str(line)
        for check in (log.check_checkpoint_signature, log.check_signer, log.check_mirror, log.check_epochs)
        for line in check()
    ]


def test_where_the_signers_memory_is_lost_too_the_call_says_so(world: World) -> None:
    rolled_back()
    Path(settings.LOG_SIGNER_FILE).unlink()

    found = log_faults()
    assert found[0].endswith("where it is lost, next is `restore_log --from-mirror --signer-too`")
    call_command("restore_log", "--from-mirror", "--signer-too", stdout=StringIO())
    sequence_and_sign()
    assert "FAILS" not in "".join(lines_of_log())


def test_without_a_mirror_that_has_it_all_another_tree_is_next(world: World, settings: Any) -> None:
    rolled_back()
    settings.LOG_MIRROR = ""
    (found,) = log_faults()
    assert found.endswith("next is `restore_log --new-epoch NAME`, with a name that no tree had")
    call_command("restore_log", "--new-epoch", "b", stdout=StringIO())
    sequence_and_sign()
    assert "FAILS" not in "".join(lines_of_log())


def test_a_backup_from_before_the_tree_of_today(world: World) -> None:
    backup = Backup()
    call_command("restore_log", "--new-epoch", "b", stdout=StringIO())
    backup.restore()

    signer, epochs = log_faults()
    assert signer.startswith("signer: it signs for localhost:8000/log/b, and the database is from before that: ")
    assert epochs.startswith("epochs: the mirror has the tree localhost:8000/log/b, begun after this backup; ")
    assert not any("--from-mirror" in each for each in (signer, epochs))


def test_older_copies_of_the_signers_memory_and_of_the_mirror(world: World, mirror: Path) -> None:
    files = [Path(settings.LOG_SIGNER_FILE), mirror / "checkpoint"]
    before = [path.read_text() for path in files]
    make_world()
    sequence_and_sign()
    for path, text in zip(files, before, strict=True):
        path.write_text(text)

    found = log_faults()
    assert [each.partition(" of ")[0] for each in found] == [
        "signer: it is an older copy",
        "mirror: it is an older copy",
    ]


def test_a_log_that_went_on_beside_what_was_signed(world: World, mirror: Path) -> None:
    backup = Backup()
    make_world()
    sequence_and_sign()
    signed = [path.read_text() for path in (Path(settings.LOG_SIGNER_FILE), mirror / "checkpoint")]
    connection.check_constraints()
    backup.restore()
    size = int(signed[1].split("\n")[1])
    append(size - LogState.objects.get().size)
    sequence_batch()

    found = log_faults()
    assert [each.partition(" leaves are others")[0] for each in found] == [f"signer: its {size}", f"mirror: its {size}"]


def test_a_log_of_another_address(world: World, settings: Any) -> None:
    settings.ISSUER = "https://elsewhere.example"
    assert log_faults()[0].startswith("log keys: the newest checkpoint is of localhost:8000/log, and BASE_URL makes ")


@pytest.mark.parametrize("text", ["", "no note"])
def test_files_that_are_none(world: World, mirror: Path, text: str) -> None:
    Path(settings.LOG_SIGNER_FILE).write_text(text)
    (mirror / "checkpoint").write_text(text)
    assert [each.partition(":")[0] for each in log_faults()] == ["signer", "mirror"]


def test_a_mirror_that_is_gone(world: World, mirror: Path) -> None:
    (mirror / "checkpoint").unlink()
    (found,) = log_faults()
    assert found.startswith("mirror: the mirror has no ")


def test_a_mirror_of_something_else_beside_a_log_that_signed_nothing(
    world: World, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_newest_kept", lambda epoch: None)
    (mirror / "checkpoint").write_text("no note")
    (wrong,) = log.check_mirror()
    (mirror / "checkpoint").unlink()
    (missing,) = log.check_mirror()

    assert str(wrong).endswith("the mirror's checkpoint is no checkpoint")
    assert str(missing).endswith("nothing was mirrored yet")
