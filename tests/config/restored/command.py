"""What `manage.py verify_restore` says."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def whole(**options: Any) -> str:
    """What the command says of a database that holds."""
    output = StringIO()
    call_command("verify_restore", stdout=output, stderr=StringIO(), **options)
    assert "FAILS" not in output.getvalue()
    return output.getvalue()


def faults(**options: Any) -> list[str]:
    """The lines that fail, each `part: what was found`."""
    output = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("verify_restore", stdout=output, stderr=StringIO(), **options)
    found = [line[10:] for line in output.getvalue().splitlines() if line.startswith("FAILS")]
    assert raised.value.returncode == 1
    assert str(raised.value).startswith(f"{len(found)} of ")
    return found


def quick() -> list[str]:
    return faults(quick=True)
