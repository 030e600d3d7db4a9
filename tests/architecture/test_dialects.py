"""No action asks which database it speaks to: what PostgreSQL and SQLite spell differently stands in common/sql."""

import re

import pytest

from tests.architecture.test_house import files, name, text_of

pytestmark = pytest.mark.own_process("git says which files there are")
# what exists on one of them alone, each in a module that is about nothing else
NAMED = {
    "common/clock.py",  # whose clock decides
    "config/private_files.py",  # a database in a file
    "config/probes.py",  # a look from outside Django's connections, so with each database's own driver
    "config/restored/schema.py",  # what is in each database's own catalogue
    "consent/notices/long_polling.py",  # LISTEN
    "pkm/rules.py",  # triggers
}
ROOMS = ("accounts/", "agents_proxy/", "common/", "config/", "consent/", "developers/", "pkm/", "portal/")
_ASKS = re.compile(r"\.vendor\b|adapt_datetimefield_value")


def test_only_named_modules_ask_which_database_it_is() -> None:
    asking = {name(path) for path in files(".py") if name(path).startswith(ROOMS) and _ASKS.search(text_of(path))}

    assert {path for path in asking if not path.startswith("common/sql/")} == NAMED
