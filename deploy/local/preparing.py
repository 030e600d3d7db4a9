"""Several of Django's commands in one process, which imports the project once.

Run inside .venv with the steps as JSON: what a person is told of each, what it is called where it fails, and the
command with its arguments. What a command says is shown where it fails.
"""

import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NamedTuple

from deploy.local.place import PYTHON, call, fail, step


class Step(NamedTuple):
    """`title` is shown before the step begins; a step without one belongs to that before it."""

    title: str
    what: str
    command: Sequence[str]


def prepare(steps: Sequence[Step], env: dict[str, str]) -> None:
    """Carry out the steps in a process with this environment; `Stop` at the first that fails."""
    if call([PYTHON, "-m", "deploy.local.preparing", json.dumps(steps)], env=env):
        fail("Nothing was started; the messages above say why.")


def main() -> int:
    """The exit code: 0 where every step could be carried out."""
    shown, output = sys.stdout, io.StringIO()
    now = "Reading the settings"
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            _set_up()
            for title, what, command in json.loads(sys.argv[1]):
                now = what
                if title:
                    with contextlib.redirect_stdout(shown):
                        step(title)
                _carry_out(command)
    except KeyboardInterrupt:
        return 130
    except (Exception, SystemExit) as error:
        print(f"✗ {now} failed:\n{output.getvalue()}{_reason(error)}", flush=True)
        return 1
    return 0


def _set_up() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()


def _carry_out(command: Sequence[str]) -> None:
    from django.core.management import call_command

    call_command(*command)


def _reason(error: BaseException) -> str:
    """What a person can do something about in its own words, a defect with the way to it."""
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management.base import CommandError

    if isinstance(error, CommandError | ImproperlyConfigured | SystemExit):
        return str(error)
    return "".join(traceback.format_exception(error))


if __name__ == "__main__":
    sys.exit(main())
