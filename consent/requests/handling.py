"""What the application of an app says becomes of the data, in the form in which receipts name it (ISO/IEC TS 27560)."""

from typing import Any


def handling_of(*, recipients: str, location: str, retention: str, jurisdiction: str) -> dict[str, Any]:
    """`recipients`, `storage` of `location` and `retention`, `jurisdiction`; no member for what is not said."""
    storage = _said(location=location, retention=retention)
    return _said(recipients=recipients, storage=storage, jurisdiction=jurisdiction)


def _said(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}
