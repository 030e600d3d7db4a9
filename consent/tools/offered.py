"""The six tools as a table: what a host sees of each, and what runs when it is called (contract 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as mcp
from pydantic.json_schema import models_json_schema

from consent.api import shapes
from consent.api.descriptions import MEMBERS
from consent.schemas import RequestConsentBody, Strict
from consent.tools import operations
from developers.models import Permission

_DISCOVER, _REQUEST, _READ = (frozenset({str(permission)}) for permission in Permission)
_LOOKS = mcp.ToolAnnotations(read_only_hint=True, open_world_hint=False)


def _changes(*, destructive: bool = False, idempotent: bool = False) -> mcp.ToolAnnotations:
    return mcp.ToolAnnotations(
        read_only_hint=False, destructive_hint=destructive, idempotent_hint=idempotent, open_world_hint=False
    )


@dataclass(frozen=True)
class Offer:
    """One tool. `needs` names the permissions of which the token must carry one."""

    name: str
    title: str
    description: str
    needs: frozenset[str]
    arguments: type[Strict]
    answer: type[shapes.Shape]
    run: Callable[[Any, Any], bytes | dict[str, Any]]
    annotations: mcp.ToolAnnotations

    def described(self) -> mcp.Tool:
        return mcp.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_input_schema(self.arguments),
            output_schema=_output_schema(self.answer),
            annotations=self.annotations,
        )


def _input_schema(model: type[Strict]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("description", None)
    for name, description in MEMBERS.get(model.__name__, {}).items():
        schema["properties"][name]["description"] = description
    return dict(_plain(schema))


def _output_schema(shape: type[shapes.Shape]) -> dict[str, Any]:
    """The answer or, since hosts hold failed results against the schema as well, problem details."""
    named, definitions = models_json_schema([(shape, "serialization"), (shapes.ProblemDetails, "serialization")])
    either = [named[model, "serialization"] for model in (shape, shapes.ProblemDetails)]
    return dict(_plain({"type": "object", "anyOf": either, **definitions}))


def _plain(node: Any) -> Any:
    """`node` in JSON Schema's dialect, where a text ends with `$`, and without the titles that repeat the names."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, Mapping):
        return node
    return {
        name: value.replace("\\Z", "$") if name == "pattern" and isinstance(value, str) else _plain(value)
        for name, value in node.items()
        if not (name == "title" and isinstance(value, str))
    }


OFFERS = {
    offer.name: offer
    for offer in (
        Offer(
            name="discover_user_scopes",
            title="Discover what a person could share",
            description=(
                "Lists the scopes that one person could approve today. It holds none of their data, and they see that "
                "your app looked. Always discover first: scopes differ between people."
            ),
            needs=_DISCOVER,
            arguments=operations.Person,
            answer=shapes.UserScopes,
            run=operations.discover_user_scopes,
            annotations=_LOOKS,
        ),
        Offer(
            name="request_consent",
            title="Ask a person for consent",
            description=(
                "Asks one person for exactly one scope, for one purpose. It only asks: the person decides in the "
                "consent app at `approval_url`, which nothing here can do for them. What they approve is sealed to "
                "`connector_public_key`; keep its private half, or use the local bridge, which has a key of its own."
            ),
            needs=_REQUEST,
            arguments=RequestConsentBody,
            answer=shapes.AskedConsent,
            run=operations.request_consent,
            annotations=_changes(),
        ),
        Offer(
            name=operations.STATUS,
            title="Check a consent request",
            description=(
                "Tells where a request stands. With `wait_seconds` the answer is held until the person decides; "
                "prefer that to polling."
            ),
            needs=_REQUEST | _READ,
            arguments=operations.Status,
            answer=shapes.ConsentStatus,
            run=operations.check_consent_status,
            annotations=_LOOKS,
        ),
        Offer(
            name="get_encrypted_export",
            title="Read approved data, sealed",
            description=(
                "Answers the approved slice as a JWE that only the connector's private key opens. Every call counts "
                "as a read and is shown to the person; with `max_reads`, the last one ends the approval."
            ),
            needs=_READ,
            arguments=operations.OneRequest,
            answer=shapes.ConsentExport,
            run=operations.get_encrypted_export,
            annotations=_changes(),
        ),
        Offer(
            name="end_consent",
            title="End a request or an approval",
            description=(
                "Takes a waiting request back, or gives an approval up: its data can then no longer be read. It cannot "
                "be undone."
            ),
            needs=_REQUEST,
            arguments=operations.OneRequest,
            answer=shapes.ConsentStatus,
            run=operations.end_consent,
            annotations=_changes(destructive=True, idempotent=True),
        ),
        Offer(
            name="list_scope_catalog",
            title="List every scope",
            description="Lists every scope that this service lets apps ask for, without any person.",
            needs=_DISCOVER,
            arguments=operations.Nothing,
            answer=shapes.ScopeCatalog,
            run=operations.list_scope_catalog,
            annotations=_LOOKS,
        ),
    )
}
