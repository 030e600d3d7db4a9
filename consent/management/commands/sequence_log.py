"""`manage.py sequence_log`: the sequencer and signer as a process of its own, beside a worker without their keys."""

import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, close_old_connections

from consent.errors import LogRefused
from consent.log import cosigning, keys, sequencing
from consent.log.models import LogState

_log = logging.getLogger(__name__)
_PAUSE = 2.0  # seconds


class Command(BaseCommand):
    help = "Takes new audit entries into the public log every 2 seconds, signs it, and asks its witnesses."
    requires_system_checks = ("log",)  # it has no other keys (config/checks.py)

    def add_arguments(self, parser: CommandParser) -> None:
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--once", action="store_true", help="take what waits now, and end")
        how.add_argument(
            "--print-keys", action="store_true", help="print LOG_VERIFIER_KEYS of the other processes, and end"
        )

    def handle(self, *args: Any, once: bool = False, print_keys: bool = False, **options: Any) -> None:
        if not sequencing.signs_here():
            raise CommandError("LOG_KEYS is not set here, so nothing can be signed.")
        if print_keys:
            self.stdout.write(",".join(map(str, keys.verifier_keys())))
            return
        if once:
            taken = sequencing.sequence_and_sign()
            cosigning.request_cosignatures()
            self.stdout.write(f"{taken} entries entered the log, which has {LogState.objects.get(pk=1).size}.")
            return
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        # a witness that says nothing holds up no entry
        cosigning_thread = threading.Thread(
            target=_repeat, args=(cosigning.request_cosignatures, stopped), name="ask-witnesses"
        )
        cosigning_thread.start()
        _repeat(sequencing.sequence_and_sign, stopped)
        cosigning_thread.join()


def _repeat(turn: Callable[[], object], stopped: threading.Event) -> None:
    """Turn after turn; what fails is told and tried again at the next one."""
    while not stopped.wait(_PAUSE):
        _take(turn)


def _take(turn: Callable[[], object]) -> None:
    try:
        turn()
    except LogRefused as refused:
        _log.critical("the log is not signed: %s", refused)
    except (Error, OSError, RuntimeError):
        _log.exception("the log could not go on")
    finally:
        close_old_connections()
