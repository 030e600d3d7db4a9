"""The rules of a request's terms, as the contract has them: what options, tools and the digest are made from."""

from __future__ import annotations

from typing import Any, get_type_hints

from consent_bridge.terms import Terms

_HINTS = get_type_hints(Terms, include_extras=True)
TERM_TYPES: dict[str, Any] = {name: hint.__origin__ for name, hint in _HINTS.items()}
# each one's JSON Schema, with its description
TERM_RULES: dict[str, dict[str, Any]] = {name: hint.__metadata__[0] for name, hint in _HINTS.items()}
