"""The whole table, in its order."""

from tests.consent.verification import of_chains, of_approvals, of_reads, of_log, of_everything  # noqa: F401, I001  # in the order of the table; each adds its rows
from tests.consent.verification.table import CHAINS, LOG, OPERATOR, ROWS, TABLE, TREE, Manipulation

__all__ = ["CHAINS", "LOG", "OPERATOR", "ROWS", "TABLE", "TREE", "Manipulation"]
