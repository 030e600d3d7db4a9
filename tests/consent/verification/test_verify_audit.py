"""The command: what it says, how it exits, how it goes on after it was ended, and that it costs no more memory."""

import gc
import tracemalloc
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from accounts.erasure.actions import erase
from consent.decisions import actions as decision_actions
from consent.exports.actions import refresh_export
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry, AuditFacts
from consent.log import verifying as log_verifying
from consent.log.sequencing import sequence_and_sign
from consent.rules import RULES
from consent.schemas import ExportBody
from consent.verification import people, state_file
from consent.verification.run import Position, run
from tests.consent.decisions import approval, refreshed
from tests.consent.verification.chains_forged import entries_of, rehash
from tests.consent.verification.world import CUISINE, DIET, World, made_world, shared_world
from tests.factories import ConsentRequestFactory, ErasureFactory

__all__ = ["made_world", "shared_world"]  # fixtures
AT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


@pytest.fixture
def world(shared_world: World) -> World:
    return shared_world


@pytest.fixture
def unguarded(world: World) -> World:
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    return world


def verified(**options: Any) -> str:
    output = StringIO()
    call_command("verify_audit", stdout=output, stderr=StringIO(), **options)
    return output.getvalue()


def refused(**options: Any) -> tuple[int, str]:
    errors = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("verify_audit", stdout=StringIO(), stderr=errors, **options)
    return raised.value.returncode, errors.getvalue()


def widen(world: World) -> str:
    Grant.objects.filter(pk=world.live.pk).update(approved_attributes=["lifestyle.food.diet_preference"])
    return f"the grant {world.live.grant_id} says another approved_attributes"


def test_a_history_holds_in_all_its_chains_and_rows(world: World) -> None:
    assert verified() == f"5 chains, {AuditEntry.objects.count()} entries: all hold.\n"


def test_a_row_that_says_something_else_is_named_by_whom_it_is_about(unguarded: World) -> None:
    flaw = widen(unguarded)

    code, errors = refused()

    assert code == 1
    assert f"person:{unguarded.ada.user.public_id} entry 1: {flaw}\n" in errors
    assert f"app:{unguarded.shop.app_id} entry 1: {flaw}\n" in errors


@pytest.mark.parametrize("whose", ["person", "app"])
def test_one_person_or_app_alone(unguarded: World, whose: str) -> None:
    options = {"person": unguarded.ben.user.public_id} if whose == "person" else {"app": unguarded.paused.app.app_id}
    widen(unguarded)

    assert verified(**options).endswith("entries: all hold.\n")


def test_a_chain_that_there_is_not_cannot_be_checked(world: World) -> None:
    assert refused(person="usr_nobody") == (2, "")
    with pytest.raises(CommandError, match="There is no chain person:nobody"):
        call_command("verify_audit", chain="person:nobody")


def test_one_chain_is_named_as_it_is_and_is_alone_in_what_is_wrong(unguarded: World) -> None:
    subject = f"app:{unguarded.paused.app.app_id}"
    assert verified(chain=subject) == f"{subject}, 2 entries: all hold.\n"
    AuditFacts.objects.filter(entry__chain=unguarded.chain, entry__sequence=3).delete()

    code, errors = refused()

    assert (code, errors.count("facts are missing")) == (1, 1)
    assert f"person:{unguarded.ada.user.public_id} entry 3: its facts are missing\n" in errors
    assert verified(chain=subject).endswith("all hold.\n")


def test_a_run_that_was_ended_goes_on_and_tells_what_it_found_before(
    unguarded: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "PAGE", 2)
    flaw, state = widen(unguarded), tmp_path / "state.json"
    position = Position()
    pages = run(position)
    while not position.found:
        next(pages)
    state_file.write(state, position)
    Grant.objects.filter(pk=unguarded.live.pk).update(approved_attributes=unguarded.live.approved_attributes)

    code, errors = refused(state=state)

    assert (code, flaw in errors) == (1, True)
    assert not state.exists()
    assert verified(state=state).endswith("entries: all hold.\n")


@pytest.mark.parametrize("page", [1, 2, 3, 7])
def test_where_a_page_ends_changes_nothing(
    unguarded: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(verifying, "PAGE", page)

    assert [flaw for found in run(Position()) for flaw in found] == []
    AuditFacts.objects.filter(entry=entries_of(unguarded.chain, sequence=3).get()).delete()
    position = Position()
    for _ in run(position):  # each page by a run of its own
        state_file.write(tmp_path / "state.json", position)
        kept = state_file.read(tmp_path / "state.json", only="")
        assert kept is not None
        assert kept.as_json() == position.as_json()
    assert [tuple(each[1:]) for each in position.found][:1] == [(3, "its facts are missing")]


def test_a_refreshed_export_that_holds_less_holds_and_one_that_says_more_does_not(unguarded: World) -> None:
    """A person who renews what an app reads may leave something out; what was approved first stays as it was."""
    ada = unguarded.ada
    ada.write("lifestyle", "food", {**ada.segments["lifestyle", "food"], "coffee_or_tea": "Coffee"}, base=1)
    request = ConsentRequestFactory(app=unguarded.shop, user=ada.user, refresh_policy="continuous", max_reads=None)
    decision_actions.approve(request_id=request.request_id, by=ada.user, body=approval(request, ada, [CUISINE, DIET]))
    grant = Grant.objects.get(request=request)
    for revision, part in ((2, [CUISINE]), (3, [CUISINE, DIET]), (4, [DIET])):
        body = refreshed(ada, grant, revision, approved_attributes=part)
        body.pop("approved_attributes", None)
        refresh_export(grant_id=grant.grant_id, by=ada.user, body=ExportBody.model_validate(body))

    assert verified().endswith("entries: all hold.\n")
    assert [export.approved_attributes for export in Export.objects.filter(grant=grant).order_by("revision")] == [
        None, [CUISINE], None, [DIET],
    ]  # fmt: skip
    for revision, forged in ((2, [CUISINE, DIET]), (4, [CUISINE]), (3, [CUISINE])):
        with transaction.atomic():
            Export.objects.filter(grant=grant, revision=revision).update(approved_attributes=forged)
            flaw = f"the export of {request.request_id}, revision {revision}, says that other attributes were approved"
            assert flaw in refused()[1]
            transaction.set_rollback(True)


def test_a_run_that_was_ended_within_the_log_goes_on_there(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_verifying, "_PART", 3)
    sequence_and_sign()
    state, position = tmp_path / "state.json", Position()
    for _ in run(position):
        if position.log.size == 6:
            break
    state_file.write(state, position)
    read: list[int] = []
    leaves = log_verifying._Pass._leaves
    monkeypatch.setattr(log_verifying._Pass, "_leaves", lambda own: read.append(own.frontier.size) or leaves(own))

    assert verified(state=state).endswith("entries: all hold.\n")
    assert read == [6]


@pytest.mark.parametrize("text", ["", "[]", '{"version": 3}', '{"version": 2, "stage": "chains"}'])
def test_another_file_is_no_state(world: World, tmp_path: Path, text: str) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)

    assert refused(state=file) == (2, "")
    assert file.read_text() == text


def test_what_cannot_be_looked_at_is_told_apart_from_a_finding(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused(state=tmp_path / "gone" / "state.json")[0] == 2

    monkeypatch.setattr(AuditEntry.objects, "all", Mock(side_effect=OperationalError("the database is away")))
    assert refused()[0] == 2


def test_the_state_of_a_version_before_is_begun_anew(world: World, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"version": 1, "stage": "log", "told": {}}')

    assert "Going on" not in verified(state=tmp_path / "state.json")


def test_the_state_of_one_chain_is_not_gone_on_with_for_all(world: World, tmp_path: Path) -> None:
    state_file.write(tmp_path / "state.json", Position(only=world.chain))

    assert refused(state=tmp_path / "state.json") == (2, "")


def test_after_an_erasure_everything_else_still_holds(world: World) -> None:
    assert erase(erasure_pk=ErasureFactory(user=world.ada.user, asked_at=world.live.starts_at - timedelta(days=8)).pk)

    assert verified().endswith("entries: all hold.\n")


def test_what_changes_while_it_looks_is_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody stops sharing between the page of entries and the look at the rows."""
    looked = people._first_flaw
    stopped: list[str] = []

    def stop_first(*args: Any) -> Any:
        if not stopped:
            stopped.append(world.live.grant_id)
            grant_actions.revoke(grant_id=world.live.grant_id, by=world.ada.user)
            return 0, "as it was a moment ago"
        return looked(*args)

    monkeypatch.setattr(people, "_first_flaw", stop_first)

    assert [flaw for found in run(Position()) for flaw in found] == []
    assert stopped


@pytest.mark.parametrize(
    ("member", "message"), [("grant", "says another end"), ("receipt_digest", "says something else")]
)
def test_entries_that_leave_out_what_the_rows_say_are_found(unguarded: World, member: str, message: str) -> None:
    for facts in AuditFacts.objects.all():
        facts.facts.pop(member, None)
        facts.save()
    for chain in (unguarded.chain, unguarded.bens_chain, *_apps()):
        rehash(chain, resign=True)

    assert message in refused()[1]


def _apps() -> list[str]:
    heads = audit.AuditChain.objects.filter(subject__startswith="app:")
    return list(heads.values_list("chain", flat=True))


def test_a_longer_history_takes_no_more_memory(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five times the entries in one chain, and no more is kept between two pages."""
    monkeypatch.setattr(verifying, "PAGE", 20)
    peaks = []
    for entries in (20, 80, 400):  # the first run alone fills what the program keeps
        new = [audit.NewEntry("app:app_long", "reads", "app", AT, {"number": number}) for number in range(entries)]
        audit.append_all(new)
        gc.collect()
        tracemalloc.start()
        assert [flaw for found in run(Position()) for flaw in found] == []
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[2] - peaks[1] < 125_000  # octets; 400 entries that were kept would be some million
