"""What a host can read beside the tools: the catalog, the lifecycle, how to decrypt."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mcp_types as mcp

from consent import diagram, queries
from developers.models import Permission

_EVERYBODY = frozenset(str(permission) for permission in Permission)


@dataclass(frozen=True)
class Paper:
    """One resource, read when it is asked for."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    needs: frozenset[str]
    read: Callable[[], str]

    def described(self) -> mcp.Resource:
        return mcp.Resource(
            uri=self.uri, name=self.name, title=self.title, description=self.description, mime_type=self.mime_type
        )


def _catalog() -> str:
    return queries.scope_catalog().decode()


@cache
def _how_to_decrypt() -> str:
    return (Path(__file__).parent / "how_to_decrypt.md").read_text(encoding="utf-8")


PAPERS = {
    paper.uri: paper
    for paper in (
        Paper(
            uri="consent://scope-catalog",
            name="scope-catalog",
            title="Scope catalog",
            description="Every scope that this service lets apps ask for, as list_scope_catalog answers it.",
            mime_type="application/json",
            needs=frozenset({str(Permission.DISCOVER)}),
            read=_catalog,
        ),
        Paper(
            uri="consent://lifecycle",
            name="lifecycle",
            title="The two lifecycles",
            description="The states of a request and of an approval, and who moves them.",
            mime_type="text/markdown",
            needs=_EVERYBODY,
            read=diagram.page,
        ),
        Paper(
            uri="consent://how-to-decrypt",
            name="how-to-decrypt",
            title="How to decrypt an export",
            description="What get_encrypted_export answers, how to open it, and what to check.",
            mime_type="text/markdown",
            needs=_EVERYBODY,
            read=_how_to_decrypt,
        ),
    )
}
