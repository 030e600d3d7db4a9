"""Entering the release and the witnesses in the log when a process that serves pages begins; nothing waits for it."""

import logging
from functools import partial

from django.conf import settings
from django.db import Error, connection

from common.background import background
from common.problems import Problem
from consent.release.current import release
from consent.release.manifest import Release

_log = logging.getLogger(__name__)
_PAUSE = 5.0  # seconds between two attempts, while the database is away or the audit cannot be written


def begin() -> None:
    """Enter it in the background, so that a database that is away keeps no server from starting."""
    found = release()
    if found is not None or settings.LOG_WITNESSES:
        background.soon(partial(_enter, found))


def _enter(found: Release | None) -> None:
    # have models, and config/wsgi.py imports this module before they can be loaded
    from consent.log import witness_changes
    from consent.release import entry

    try:
        if witness_changes.record():
            _log.info("other witnesses than before were entered in the log")
        if found is not None and entry.record(found):
            _log.info("release %s was entered in the log", found.version)
    except (Error, Problem) as error:
        _log.warning("what is new of this deployment cannot be entered in the log yet: %s", type(error).__name__)
        connection.close()  # a broken one is not used again
        background.later(_PAUSE, partial(_enter, found))
