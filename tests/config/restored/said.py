"""What `manage.py verify_restore` says."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def whole(**options: Any) -> str:
    """What the command says of a database that holds."""
    said = StringIO()
    call_command("verify_restore", stdout=said, stderr=StringIO(), **options)
    assert "FAILS" not in said.getvalue()
    return said.getvalue()


def faults(**options: Any) -> list[str]:
    """The lines that fail, each `part: what was found`."""
    said = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("verify_restore", stdout=said, stderr=StringIO(), **options)
    found = [line[10:] for line in said.getvalue().splitlines() if line.startswith("FAILS")]
    assert raised.value.returncode == 1
    assert str(raised.value).startswith(f"{len(found)} of ")
    return found


def quick() -> list[str]:
    return faults(quick=True)
