"""The brand affinity as CSV (RFC 4180), which any spreadsheet and most CRMs import (pure)."""

import csv
import io
from typing import Any

from agents_proxy.analyses.affinity import LISTS, BrandAffinity, ShoppingPreferences
from common.text import harmless_cell


def as_csv(affinity: BrandAffinity) -> str:
    """One heading and one row; lists are joined by semicolons. No cell is a formula to a spreadsheet."""
    body = affinity.body()
    shopping = body.pop("shopping_preferences", {})
    columns = ("fullName", "email", "phone", *LISTS, *ShoppingPreferences.model_fields, "confidence")
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerow(_cell({**body, **shopping}.get(name)) for name in columns)
    return written.getvalue()


def _cell(value: Any) -> str:
    """Each item of a list is made harmless, since programs that split at semicolons make cells of them."""
    texts = value if isinstance(value, list) else [] if value is None else [str(value)]
    return "; ".join(map(harmless_cell, texts))
