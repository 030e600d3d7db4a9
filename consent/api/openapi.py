"""The OpenAPI 3.1 document: every view that is described, wherever it is, and the webhooks. Made once per process."""

from functools import cache
from http import HTTPStatus
from typing import Any

import orjson
import yaml
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.problems import InvalidRequest
from consent.api.base import PublicView
from consent.notices.webhook_document import webhooks
from consent.schemas import RequestConsentBody, describe_members

_DESCRIPTION = (
    "Ask people for a part of what they keep, wait for their decision, and read what they approved. Every refusal is "
    "`application/problem+json` with a stable `code`; all codes are explained at `/docs/errors`. Call these addresses "
    "from your server: requests that come from a web page are refused."
)
_LICENSE = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
_YAML = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the same bytes, in a third of the time where libyaml is there
_MEDIA_TYPES = {"json": "application/json", "yaml": "application/yaml"}
_ANSWER_HEADERS: dict[str, Any] = {
    "X-Request-Id": {"description": "Names this call in our logs.", "schema": {"type": "string"}},
    "Cache-Control": {"description": "Always `no-store`.", "schema": {"type": "string", "const": "no-store"}},
}
_STATUS_HEADERS: dict[str, dict[str, Any]] = {
    "401": {"WWW-Authenticate": {"schema": {"type": "string", "pattern": "^Bearer"}}},
    "405": {"Allow": {"schema": {"type": "string"}}},
    "429": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
    "503": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}
_LIMITED = (
    "getUserScopes",
    "requestConsent",
    "getConsentStatus",
    "streamConsentEvents",
    "reportLeakedToken",
    "beginConnection",
    "getConnection",
    "makeSandboxPerson",
    "tellSandboxEvent",
)
_LIMIT_HEADERS: dict[str, dict[str, Any]] = {
    "RateLimit-Policy": {
        "description": "The limits that are on: name, quota `q`, window `w` in seconds.",
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": "What is left of them: `r`, and in how many seconds `t` there is more.",
        "schema": {"type": "string"},
    },
}


@cache
def document() -> dict[str, Any]:
    """The whole document as plain data, each part in its place."""
    from drf_spectacular.generators import SchemaGenerator  # brings Django's test client

    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # upstream has no types
    made: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schema: dict[str, Any] = orjson.loads(orjson.dumps(made, default=str))  # lazy texts become text
    schema["info"] |= {"description": _DESCRIPTION, "version": "1", "license": _LICENSE}
    schema["servers"] = [{"url": settings.BASE_URL}]
    schema["tags"] = [{"name": tag} for tag in sorted(_tags(schema))]
    schema["webhooks"] = webhooks(schema["components"]["schemas"])
    describe_members(schema["components"]["schemas"][RequestConsentBody.__name__])
    for item in schema["paths"].values():
        for operation in item.values():
            operation.setdefault("security", [])
            limits = _LIMIT_HEADERS if _is_limited(operation) else {}
            for status, response in operation["responses"].items():
                response["headers"] = {**_ANSWER_HEADERS, **_status_headers(operation, status), **limits}
    plain: dict[str, Any] = _ecma_patterns(schema)
    return plain


@cache
def served_document() -> dict[str, Any]:
    """The same for other programs, less than half as long: what headers and refusals repeat is a component."""
    schema: dict[str, Any] = orjson.loads(orjson.dumps(document()))
    parts: dict[str, dict[str, Any]] = {"headers": {}, "examples": {}, "responses": {}}
    schema["components"] |= parts
    for operation in (operation for item in schema["paths"].values() for operation in item.values()):
        for status, response in operation["responses"].items():
            for name, header in response["headers"].items():
                response["headers"][name] = _referred(parts, "headers", name, header)
            if int(status) >= HTTPStatus.BAD_REQUEST:
                for content in response["content"].values():
                    examples = content["examples"].items()
                    content["examples"] = {name: _referred(parts, "examples", name, body) for name, body in examples}
                operation["responses"][status] = _referred(parts, "responses", f"Refused{status}", response)
    return schema


def _referred(parts: dict[str, dict[str, Any]], kind: str, name: str, part: dict[str, Any]) -> dict[str, str]:
    """A reference to `part` among the components; another of the same name is numbered."""
    named, number = parts[kind], 1
    while named.setdefault(key := name if number == 1 else f"{name}-{number}", part) != part:
        number += 1
    return {"$ref": f"#/components/{kind}/{key}"}


def only_described(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """drf-spectacular's list of all addresses, without those that nobody described for programs."""
    return [
        endpoint for endpoint in endpoints if hasattr(getattr(endpoint[3].cls, endpoint[2].lower(), None), "operation")
    ]


def _is_limited(operation: dict[str, Any]) -> bool:
    return operation["operationId"] in _LIMITED or {"management": []} in operation["security"]


def _tags(schema: dict[str, Any]) -> set[str]:
    return {tag for item in schema["paths"].values() for operation in item.values() for tag in operation["tags"]}


def _status_headers(operation: dict[str, Any], status: str) -> dict[str, Any]:
    """What an answer with this status has; the challenge only where a token is what is missing."""
    if status == "401" and {"bearer": []} not in operation["security"]:
        return {}
    return _STATUS_HEADERS.get(status, {})


def _ecma_patterns(node: Any) -> Any:
    """`node` with its patterns in JSON Schema's dialect, which ends a text with `$`, and no default against them."""
    if isinstance(node, list):
        return [_ecma_patterns(part) for part in node]
    if not isinstance(node, dict):
        return node
    has_pattern = any("pattern" in choice for choice in (node, *node.get("anyOf", [])))
    if has_pattern and node.get("default") == "":  # what is left out is told from what is empty by code alone
        node = {name: value for name, value in node.items() if name != "default"}
    return {
        _ecma(name) if name.startswith("^") else name: _ecma(value)
        if name == "pattern" and isinstance(value, str)
        else _ecma_patterns(value)
        for name, value in node.items()
    }


def _ecma(pattern: str) -> str:
    return pattern.replace("\\Z", "$").replace("\\z", "$")


@cache
def _written(form: str) -> bytes:
    if form == "json":
        return orjson.dumps(served_document())
    text: str = yaml.dump(served_document(), Dumper=_YAML, sort_keys=False, allow_unicode=True)
    return text.encode()


class Schema(PublicView):
    """The document as JSON, or as YAML where `Accept` or `?format=yaml` asks for it."""

    takes_query = True

    def get(self, request: HttpRequest) -> HttpResponse:
        given = dict(self.request.query_pairs)
        accepted = "yaml" if "yaml" in request.META.get("HTTP_ACCEPT", "") else "json"
        form = given.pop("format", accepted)
        if given or form not in _MEDIA_TYPES:
            raise InvalidRequest("The only member is `format`, with the value json or yaml.")
        return HttpResponse(_written(form), content_type=_MEDIA_TYPES[form], headers={"Vary": "Accept"})
