"""The whole table, in its order."""

from tests.consent.verification import of_chains, of_everything  # noqa: F401  # each adds its rows
from tests.consent.verification.table import CHAINS, ROWS, TABLE, Manipulation

__all__ = ["CHAINS", "ROWS", "TABLE", "Manipulation"]
