"""A dump that was taken while people, apps and the sequencer went on, in a second database."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry, Receipt
from consent.log.models import LogState
from consent.log.sequencing import sequence_and_sign
from deploy.local import scratch
from tests.config.restored.command import faults, whole
from tests.consent.verification.world import approved, make_world
from tests.factories import AppFactory, PersonFactory, Vault, give_vault

_WRITERS = 2
_MODELS = (AuditEntry, Receipt, Grant)


def server() -> list[str]:
    given = connection.settings_dict
    return ["-h", given["HOST"] or "localhost", "-p", str(given["PORT"] or 5432), "-U", given["USER"] or "root"]


def url() -> str:
    """Of the database whose server makes the second one."""
    given = connection.settings_dict
    password = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
    _, host, _, port, _, user = server()
    return f"postgres://{user}{password}@{host}:{port}/{given['NAME']}"


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=120)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """This process works on another database."""
    own = connection.settings_dict["NAME"]
    switch(name)
    try:
        yield
    finally:
        switch(own)


def switch(name: str) -> None:
    connection.close()
    connection.close_pool()
    connection.settings_dict["NAME"] = name


@contextmanager
def going_on(acts: list[Callable[[], Any]]) -> Iterator[None]:
    """Each of these again and again, by a thread of its own: every one once before this goes on, and once after it."""
    over = threading.Event()
    failed: list[BaseException] = []
    rounds = threading.Barrier(len(acts) + 1)

    def again(act: Callable[[], Any]) -> None:
        try:
            act()
            rounds.wait(60)
            while not over.is_set():
                act()
            act()
        except BaseException as error:
            failed.append(error)
            rounds.abort()
        finally:
            connection.close()

    threads = [threading.Thread(target=again, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    try:
        with suppress(threading.BrokenBarrierError):  # one of them failed, and says below why
            rounds.wait(60)
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    assert failed == []


def shares_and_stops(vault: Vault) -> Callable[[], None]:
    app = AppFactory()

    def act() -> None:
        grant_actions.revoke(grant_id=approved(app, vault).grant_id, by=vault.user)

    return act


@pytest.fixture
def second() -> Iterator[str]:
    """The name of an empty database beside the test's."""
    name = f"{connection.settings_dict['NAME']}_restored"
    scratch.make(url(), name)
    yield name
    scratch.drop(url(), name)


def kept() -> dict[str, set[int]]:
    return {model._meta.label: set(model._base_manager.values_list("pk", flat=True)) for model in _MODELS}


def dumped_under_load(path: Path) -> dict[str, set[int]]:
    """What was acknowledged before the dump began; at its end more was written and signed than it has."""
    with going_on([sequence_and_sign, *(shares_and_stops(give_vault(PersonFactory())) for _ in range(_WRITERS))]):
        before = kept()
        run("pg_dump", *server(), "--format=custom", f"--file={path}", connection.settings_dict["NAME"])
    sequence_and_sign()
    return before


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="pg_dump is of PostgreSQL alone")
@pytest.mark.django_db(transaction=True)
def test_what_pg_dump_took_under_load_is_restored_with_nothing_lost(mirror: Path, second: str, tmp_path: Path) -> None:
    make_world()
    dump = tmp_path / "dump"
    before = dumped_under_load(dump)
    published = LogState.objects.get().size
    run("pg_restore", *server(), "--exit-on-error", "--no-owner", "--no-acl", f"--dbname={second}", str(dump))

    with connected_to(second):
        after = kept()
        assert {label: before[label] - after[label] for label in before} == {label: set() for label in before}
        assert LogState.objects.get().size < published
        signer, of_mirror = faults(quick=True)
        assert signer.endswith("it was rolled back; next is `restore_log --from-mirror`")
        assert of_mirror.endswith("it was rolled back; next is `restore_log --from-mirror`")

        call_command("restore_log", "--from-mirror", stdout=StringIO())
        sequence_and_sign()

        assert "Left out: nothing." in whole()
        make_world()  # it takes what comes
        sequence_and_sign()
        assert "Left out: nothing." in whole()


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="pg_dump is of PostgreSQL alone")
@pytest.mark.django_db(transaction=True)
def test_a_restore_that_ended_after_the_rows_is_found(mirror: Path, second: str, tmp_path: Path) -> None:
    make_world()
    sequence_and_sign()
    dump = tmp_path / "dump"
    run("pg_dump", *server(), "--format=custom", f"--file={dump}", connection.settings_dict["NAME"])
    sections = ("--section=pre-data", "--section=data")
    run("pg_restore", *server(), *sections, "--no-owner", "--no-acl", f"--dbname={second}", str(dump))

    with connected_to(second):
        found = faults(quick=True)

    assert {each.partition(":")[0] for each in found} == {"constraints", "rules"}
    assert "constraints: consent_grants.request_id as foreign key is missing: restore again" in "\n".join(found)
