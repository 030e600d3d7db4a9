"""To expect a refusal that is a row and no class of its own."""

import pytest

from common.problems import Kind, Problem


def refused_as(kind: Kind, match: str | None = None) -> pytest.RaisesExc[Problem]:
    """As `pytest.raises`, for a `Problem` of this kind."""
    return pytest.raises(Problem, match=match, check=lambda refused: refused.code == kind.code)
