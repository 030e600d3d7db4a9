"""The tool catalogue: what a host sees of each of the six tools, and what runs when it is called (contract 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as mcp
from pydantic import TypeAdapter

from common.admission.shapes import Nothing, Strict
from common.shapes import ProblemDetails
from consent import shapes
from consent.schemas import RequestConsentBody, describe_members
from consent.tools import operations
from developers.models import Permission

_DISCOVER, _REQUEST, _READ = (frozenset({str(permission)}) for permission in Permission)
_READ_ONLY = mcp.ToolAnnotations(read_only_hint=True, open_world_hint=False)


def _writes(*, destructive: bool = False, idempotent: bool = False) -> mcp.ToolAnnotations:
    return mcp.ToolAnnotations(
        read_only_hint=False, destructive_hint=destructive, idempotent_hint=idempotent, open_world_hint=False
    )


@dataclass(frozen=True)
class Tool:
    """One tool; the token must carry one of its `permissions`."""

    name: str
    title: str
    description: str
    permissions: frozenset[str]
    arguments: type[Strict]
    result: Any
    run: Callable[[Any, Any], bytes | Mapping[str, Any]]
    annotations: mcp.ToolAnnotations

    def definition(self) -> mcp.Tool:
        return mcp.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_input_schema(self.arguments),
            output_schema=_output_schema(self.result),
            annotations=self.annotations,
        )


def _input_schema(model: type[Strict]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("description", None)
    if model is RequestConsentBody:
        describe_members(schema)
    return dict(_tidy(schema))


def _output_schema(shape: Any) -> dict[str, Any]:
    """The result or, since hosts validate failed results against the schema as well, problem details."""
    given = [(kind, "serialization", TypeAdapter(kind)) for kind in (shape, ProblemDetails)]
    named, definitions = TypeAdapter.json_schemas(given)  # type: ignore[arg-type]  # its keys may be anything hashable
    either = [named[kind, "serialization"] for kind in (shape, ProblemDetails)]
    return dict(_tidy({"type": "object", "anyOf": either, **definitions}))


def _tidy(node: Any) -> Any:
    """`node` with patterns in the dialect of JSON Schema (`$`, not `\\Z`), without titles, which repeat the names."""
    if isinstance(node, list):
        return [_tidy(part) for part in node]
    if not isinstance(node, Mapping):
        return node
    return {
        name: value.replace("\\Z", "$") if name == "pattern" and isinstance(value, str) else _tidy(value)
        for name, value in node.items()
        if not (name == "title" and isinstance(value, str))
    }


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="discover_user_scopes",
            title="Discover what a person could share",
            description=(
                "Lists the scopes that one person could approve today. It holds none of their data, and they see that "
                "your app looked. Always discover first: scopes differ between people."
            ),
            permissions=_DISCOVER,
            arguments=operations.UserArguments,
            result=shapes.UserScopes,
            run=operations.discover_user_scopes,
            annotations=_READ_ONLY,
        ),
        Tool(
            name=operations.REQUEST_CONSENT,
            title="Ask a person for consent",
            description=(
                "Asks one person for exactly one scope, for one purpose. It only asks: the person decides in the "
                "consent app at `approval_url`, which nothing here can do for them. What they approve is sealed to "
                "`connector_public_key`; keep its private half, or use the local bridge, which has a key of its own."
            ),
            permissions=_REQUEST,
            arguments=RequestConsentBody,
            result=shapes.AskedConsent,
            run=operations.request_consent,
            annotations=_writes(),
        ),
        Tool(
            name=operations.CHECK_CONSENT_STATUS,
            title="Check a consent request",
            description=(
                "Tells where a request stands. With `wait_seconds` the answer is held until the person decides; "
                "prefer that to polling."
            ),
            permissions=_REQUEST | _READ,
            arguments=operations.StatusArguments,
            result=shapes.ConsentStatus,
            run=operations.check_consent_status,
            annotations=_READ_ONLY,
        ),
        Tool(
            name="get_encrypted_export",
            title="Read approved data, sealed",
            description=(
                "Answers the approved slice as a JWE that only the connector's private key opens. Every call counts "
                "as a read and is shown to the person; with `max_reads`, the last one ends the approval."
            ),
            permissions=_READ,
            arguments=operations.RequestArguments,
            result=shapes.ConsentExport,
            run=operations.get_encrypted_export,
            annotations=_writes(),
        ),
        Tool(
            name="end_consent",
            title="End a request or an approval",
            description=(
                "Takes a waiting request back, or gives an approval up: its data can then no longer be read. It cannot "
                "be undone."
            ),
            permissions=_REQUEST,
            arguments=operations.RequestArguments,
            result=shapes.ConsentStatus,
            run=operations.end_consent,
            annotations=_writes(destructive=True, idempotent=True),
        ),
        Tool(
            name="list_scope_catalog",
            title="List every scope",
            description="Lists every scope that this service lets apps ask for, without any person.",
            permissions=_DISCOVER,
            arguments=Nothing,
            result=shapes.ScopeCatalog,
            run=operations.list_scope_catalog,
            annotations=_READ_ONLY,
        ),
    )
}
