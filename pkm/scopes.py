"""The grammar of scopes and attribute paths (pure).

A path names one attribute: `domain.segment.attribute`. A scope names what it covers: `attr.<domain>.*`,
`attr.<domain>.<segment>.*`, `attr.<domain>.<segment>.<attribute>`, or `pkm.read` for everything.
"""

import hashlib
import re
from dataclasses import dataclass

_NAME = r"[a-z][a-z0-9_]{0,63}"
_NAME_ONLY = re.compile(rf"{_NAME}\Z")
_SCOPE = re.compile(rf"attr\.(?P<domain>{_NAME})\.(?:\*|(?P<segment>{_NAME})\.(?:\*|(?P<attribute>{_NAME})))\Z")
_PATH = re.compile(rf"(?P<domain>{_NAME})\.(?P<segment>{_NAME})\.(?P<attribute>{_NAME})\Z")

EVERYTHING = "pkm.read"


@dataclass(frozen=True)
class Scope:
    """A parsed scope; None stands for "all of them"."""

    domain: str | None = None
    segment: str | None = None
    attribute: str | None = None

    def covers(self, path: str) -> bool:
        """Whether this attribute path lies inside the scope; an unparsable path does not."""
        match = _PATH.match(path)
        return match is not None and all(
            wanted is None or wanted == found for wanted, found in zip(self._parts, match.groups(), strict=True)
        )

    def covers_scope(self, other: "Scope") -> bool:
        """Whether everything that `other` covers is covered here too."""
        return all(mine in (None, theirs) for mine, theirs in zip(self._parts, other._parts, strict=True))

    @property
    def takes_own_attributes(self) -> bool:
        """A scope of a whole segment or more also covers attributes that the person added."""
        return self.attribute is None

    @property
    def _parts(self) -> tuple[str | None, str | None, str | None]:
        return self.domain, self.segment, self.attribute


def parse(scope: str) -> Scope | None:
    """The parsed scope, or None where the text is no scope (unknown denies)."""
    if scope == EVERYTHING:
        return Scope()
    match = _SCOPE.match(scope)
    return Scope(**match.groupdict()) if match else None


def split_path(path: str) -> tuple[str, str, str] | None:
    """`domain.segment.attribute` in its three parts, or None."""
    match = _PATH.match(path)
    return (match["domain"], match["segment"], match["attribute"]) if match else None


def is_name(text: str) -> bool:
    """Whether this can name a domain, a segment or an attribute."""
    return _NAME_ONLY.match(text) is not None


def handle(scope: str) -> str:
    """The scope's short handle: `s_` and twelve hexadecimal digits of its SHA-256."""
    return f"s_{hashlib.sha256(scope.encode()).hexdigest()[:12]}"
