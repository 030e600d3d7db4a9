"""What `./run` shows of the commands that it carries out in one process."""

import json
import sys
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from deploy.local import preparing

STEPS = [["First things", "Doing the first", ["first"]], ["", "Doing the second", ["second", "--quick"]]]


@pytest.fixture(autouse=True)
def _steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing.sys, "argv", ["preparing", json.dumps(STEPS)])
    monkeypatch.setattr(preparing, "_set_up", lambda: None)


def carrying_out(monkeypatch: pytest.MonkeyPatch, failure: BaseException | None = None) -> list[Any]:
    """The commands that are carried out, of which the second fails."""
    done: list[Any] = []

    def carry_out(command: list[str]) -> None:
        done.append(command)
        sys.stdout.write(f"{command[0]} talks\n")
        if failure is not None and command[0] == "second":
            raise failure

    monkeypatch.setattr(preparing, "_carry_out", carry_out)
    return done


def test_steps_are_carried_out_in_order_and_only_their_titles_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = carrying_out(monkeypatch)

    assert preparing.main() == 0

    assert done == [["first"], ["second", "--quick"]]
    assert capsys.readouterr() == ("▸ First things\n", "")


@pytest.mark.parametrize(
    ("failure", "shown"),
    [
        (CommandError("no such table"), "no such table\n"),
        (SystemExit("no such table"), "no such table\n"),
        (RuntimeError("no such table"), "RuntimeError: no such table\n\n"),
    ],
    ids=["refused", "ended", "a defect"],
)
def test_step_that_fails_says_what_it_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: BaseException, shown: str
) -> None:
    carrying_out(monkeypatch, failure)

    assert preparing.main() == 1

    output = capsys.readouterr().out
    assert output.startswith("▸ First things\n✗ Doing the second failed:\nfirst talks\nsecond talks\n")
    assert output.endswith(shown)


def test_settings_that_do_not_do_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise ImproperlyConfigured("SECRET_KEY is not set.")

    monkeypatch.setattr(preparing, "_set_up", refuse)

    assert preparing.main() == 1
    assert capsys.readouterr().out == "✗ Reading the settings failed:\nSECRET_KEY is not set.\n"
