"""What a field of the table is (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examples.reference_agents.values import Normalise


@dataclass(frozen=True)
class Field:
    """`labels`: other names beside the field's own. `said`: pattern → fixed value, None for that of its group.

    `denied` is the value of a fixed value that is negated ("no gym membership"), None where denying states nothing.
    """

    normalise: Normalise
    labels: tuple[str, ...] = ()
    said: Mapping[str, Any] | None = None
    denied: Mapping[Any, Any] | None = None
    case_sensitive: bool = False
