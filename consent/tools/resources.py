"""The resources that a host can read: the scope catalog, the lifecycles, how to decrypt (contract 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mcp_types as mcp

from consent import diagram
from consent.discovery import queries as discovery_queries
from developers.tokens.models import Permission

_ANY = frozenset(str(permission) for permission in Permission)


@dataclass(frozen=True)
class Resource:
    """One resource, read on request; the token must carry one of its `permissions`."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    permissions: frozenset[str]
    read: Callable[[], str]

    def definition(self) -> mcp.Resource:
        return mcp.Resource(
            uri=self.uri, name=self.name, title=self.title, description=self.description, mime_type=self.mime_type
        )


def _catalog() -> str:
    return discovery_queries.scope_catalog().decode()


@cache
def _how_to_decrypt() -> str:
    return (Path(__file__).parent / "how_to_decrypt.md").read_text(encoding="utf-8")


RESOURCES = {
    resource.uri: resource
    for resource in (
        Resource(
            uri="consent://scope-catalog",
            name="scope-catalog",
            title="Scope catalog",
            description="Every scope that this service lets apps ask for, as list_scope_catalog answers it.",
            mime_type="application/json",
            permissions=frozenset({str(Permission.DISCOVER)}),
            read=_catalog,
        ),
        Resource(
            uri="consent://lifecycle",
            name="lifecycle",
            title="The two lifecycles",
            description="The states of a request and of an approval, and who moves them.",
            mime_type="text/markdown",
            permissions=_ANY,
            read=diagram.page,
        ),
        Resource(
            uri="consent://how-to-decrypt",
            name="how-to-decrypt",
            title="How to decrypt an export",
            description="What get_encrypted_export answers, how to open it, and what to check.",
            mime_type="text/markdown",
            permissions=_ANY,
            read=_how_to_decrypt,
        ),
    )
}
