"""The tool catalogue: what a host sees of each of the six tools, and what runs when it is called (contract 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as mcp
from pydantic import TypeAdapter

from common.admission.schemas import Strict
from common.shapes import ProblemDetails
from consent import shapes
from consent.schemas import RequestConsentBody, describe_members
from consent.tools import operations
from developers.tokens.models import Permission

_DISCOVER, _REQUEST, _READ = (frozenset({str(permission)}) for permission in Permission)
STILL_TAKEN = frozenset({"connector_key_id"})  # of what a host may leave out
_OF_PAGES = {  # in fewer words than the document's: every model knows these
    "limit": {"type": "integer", "description": "At most so many."},
    "cursor": {"type": "string", "description": "`next_cursor`, to go on."},
}
_ACCEPTS = {"type": "object", "description": "Path of a value: [coarser answers that do]."}
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
    always: frozenset[str] | None = None  # members of every result, where arguments may leave out others

    def definition(self, without: frozenset[str] = frozenset()) -> mcp.Tool:
        """As a host is shown it, `without` the arguments that are known of it (consent/tools/hosts.py)."""
        return mcp.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_input_schema(self.arguments, without),
            output_schema=_output_schema(self.result, self.always),
            annotations=self.annotations,
        )


def _input_schema(model: type[Strict], without: frozenset[str]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("description", None)
    if model is RequestConsentBody:
        describe_members(schema)
        del schema["properties"]["invitation_sha256"]  # clients add it
        schema["properties"]["accepts"] = _ACCEPTS
    for name in _OF_PAGES.keys() & schema.get("properties", {}).keys():
        schema["properties"][name] = _OF_PAGES[name]
    if without:
        schema["properties"] = {
            name: member for name, member in schema.get("properties", {}).items() if name not in without - STILL_TAKEN
        }
        schema["required"] = [name for name in schema.get("required", []) if name not in without]
    return dict(_tidy(schema))


def _output_schema(shape: Any, always: frozenset[str] | None) -> dict[str, Any]:
    """The members that a result has or, since hosts validate failed results too, those of problem details.

    By their names alone: what each is, the REST's document says, and every model that is given the tools reads this.
    `always` are those of a tool that may leave others out.
    """
    either = [always or required_of(shape), required_of(ProblemDetails)]
    return {"type": "object", "anyOf": [{"required": sorted(names)} for names in either]}


def required_of(shape: Any) -> frozenset[str]:
    """The members that a shape always has."""
    return frozenset(TypeAdapter(shape).json_schema(mode="serialization")["required"])


_OMITTED = (
    "pattern",
    "minLength",
    "maxLength",
    "maxItems",
    "x-in-digest",
)  # what the service checks and nobody has to read


def _tidy(node: Any) -> Any:
    """`node` as short as it can be said: without titles, examples, patterns, and the null that leaves a member out.

    Every model that is given the tools reads all of this.
    """
    if isinstance(node, list):
        return [_tidy(part) for part in node]
    if not isinstance(node, Mapping):
        return node
    given = [choice for choice in node.get("anyOf", []) if choice != {"type": "null"}]
    if len(given) == 1:
        node = {**given[0], **{name: value for name, value in node.items() if name != "anyOf"}}
    return {
        name: _tidy(value)
        for name, value in node.items()
        if name not in _OMITTED
        and not (name == "additionalProperties" and value is True)
        and not (name == "default" and value is None)
        and not (name == "title" and isinstance(value, str))
        and not (name == "examples" and isinstance(value, list))
    }


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="discover_user_scopes",
            title="Discover what a person could share",
            description=("Scopes that one person could approve today, without their data; they see that you looked."),
            permissions=_DISCOVER,
            arguments=operations.UserArguments,
            result=shapes.UserScopes,
            run=operations.discover_user_scopes,
            annotations=_READ_ONLY,
            always=frozenset({"scope_entries"}),
        ),
        Tool(
            name=operations.REQUEST_CONSENT,
            title="Ask a person for consent",
            description=(
                "Asks one person for one scope. They decide at `approval_url`, which nothing here can "
                "do for them. What they approve is sealed to the connector key."
            ),
            permissions=_REQUEST,
            arguments=RequestConsentBody,
            result=shapes.MadeRequest,
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
                "Answers the approved slice as a JWE that the connector's private key opens. Every call counts "
                "as a read and is shown to the person."
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
            description=("Takes a waiting request back, or gives an approval up: nothing can be read then, for good."),
            permissions=_REQUEST,
            arguments=operations.RequestArguments,
            result=shapes.ConsentStatus,
            run=operations.end_consent,
            annotations=_writes(destructive=True, idempotent=True),
        ),
        Tool(
            name="list_scope_catalog",
            title="List every scope",
            description="Every scope that apps may ask for.",
            permissions=_DISCOVER,
            arguments=operations.CatalogArguments,
            result=shapes.ScopeCatalog,
            run=operations.list_scope_catalog,
            annotations=_READ_ONLY,
        ),
    )
}
