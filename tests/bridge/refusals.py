"""What a refusal is: of the command line, and of a call."""

from contextlib import contextmanager

import pytest

from consent_bridge.errors import Refused


def refusal(done):
    """The one line that a refusal is."""
    assert done.returncode == 1, done
    assert done.stdout == b""
    lines = done.stderr.decode("ascii").splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("consent-bridge: ")
    return lines[0].removeprefix("consent-bridge: ")


@contextmanager
def refused_for(member, kind=Refused, match=None):
    """The block is refused by the name of this member."""
    with pytest.raises(kind, match=match) as caught:
        yield
    assert caught.value.member == member
