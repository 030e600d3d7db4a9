"""The documentation pages: the API's, made from its own OpenAPI document; the refusals', made from their code."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common.problems import every_problem
from consent.api.openapi import document
from consent.docs import snippets
from consent.docs.advice import ADVICE

if TYPE_CHECKING:
    from consent.docs.markdown import Written

FOLDER = settings.ROOT / "docs"
# in the order in which they are read
NAMES = ("quick-start", "integrating", "sandbox", "lifecycle", "mcp", "agents", "messaging", "financial")


@dataclass(frozen=True)
class Document:
    """One document: its file's name without the ending, its address, and what is in it."""

    name: str
    address: str
    written: "Written"


def every_document() -> list[Document]:
    """All of them, in the reader's language where words are ours."""
    return list(_documents(get_language() or settings.LANGUAGE_CODE).values())


def find_document(name: str) -> Document | None:
    """None where there is no such document, or it is not for readers; a name is looked up and never opened."""
    return _documents(get_language() or settings.LANGUAGE_CODE).get(name)


@cache
def _documents(language: str) -> Mapping[str, Document]:
    """They change with the code alone, so that a process writes each once in each language."""
    from consent.docs.markdown import write  # the first reader of a document brings the parser

    addresses = {name: reverse("document", args=[name]) for name in NAMES}
    return {
        name: Document(name, addresses[name], write((FOLDER / f"{name}.md").read_text(encoding="utf-8"), addresses))
        for name in NAMES
    }


@dataclass(frozen=True)
class Member:
    """One parameter, or one member of a body."""

    name: str
    place: str
    kind: str
    rule: str
    required: bool
    description: str


@dataclass(frozen=True)
class Operation:
    """One operation, ready to show."""

    anchor: str
    method: str
    path: str
    summary: str
    paragraphs: list[str]
    parameters: list[Member]
    members: list[Member]
    answers: list[dict[str, str]]
    refusals: list[dict[str, Any]]
    curl: str
    python: str


@dataclass(frozen=True)
class Refusal:
    """One code, with what it means and what to do."""

    code: str
    status: int
    title: str
    meaning: str
    advice: Any


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def api(request: HttpRequest) -> HttpResponse:
    """The developers' REST, for reading."""
    context = {"groups": operations(), "base_url": f"{settings.BASE_URL}/api/v1", "trip": snippets.trip()}
    return render(request, "docs/api.html", context)


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    """Every code: what it means, its status, what to do."""
    app_codes = codes_of_operations()
    every = refusals()
    groups = {
        "apps": [refusal for refusal in every if refusal.code in app_codes],
        "people": [refusal for refusal in every if refusal.code not in app_codes],
    }
    return render(request, "docs/errors.html", groups)


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/index.html", {"documents": every_document()})


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def document_page(request: HttpRequest, document: str) -> HttpResponse:
    found = find_document(document)
    if found is None:
        raise Http404
    return render(request, "docs/document.html", {"documents": every_document(), "document": found})


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """What this service can and cannot promise."""
    return render(request, "docs/security.html")


@cache
def refusals() -> list[Refusal]:
    """Every code, by name; classes that only inherit a code add nothing."""
    found = [
        Refusal(
            problem.code, problem.status, problem.title, inspect.getdoc(problem) or "", ADVICE.get(problem.code, "")
        )
        for problem in every_problem()
        if "code" in vars(problem)
    ]
    return sorted(found, key=lambda refusal: refusal.code)


@cache
def operations() -> dict[str, list[Operation]]:
    """The operations by their tag, in the order of a trip."""
    groups: dict[str, list[Operation]] = {tag["name"]: [] for tag in document()["tags"]}
    for path, item in document()["paths"].items():
        for method, description in item.items():
            groups[description["tags"][0]].append(_operation(path, method, description))
    return groups


@cache
def codes_of_operations() -> frozenset[str]:
    """The codes that a developer's program may meet."""
    every = [operation for group in operations().values() for operation in group]
    named = {code["code"] for operation in every for refusal in operation.refusals for code in refusal["codes"]}
    return frozenset(named | {"internal_error"})


def _operation(path: str, method: str, description: dict[str, Any]) -> Operation:
    body = description.get("requestBody", {}).get("content", {}).get("application/json", {})
    example, callable_ = _first_example(body), snippets.can_be_called(description)
    return Operation(
        anchor=description["operationId"],
        method=method.upper(),
        path=path,
        summary=description["summary"],
        paragraphs=description["description"].split("\n\n"),
        parameters=[_parameter(parameter) for parameter in description.get("parameters", [])],
        members=_members(body["schema"]) if body else [],
        answers=list(_answers(description["responses"])),
        refusals=list(_refusals(description["responses"])),
        curl=snippets.curl(path, method, description, example) if callable_ else "",
        python=snippets.python(path, method, description, example) if callable_ else "",
    )


def _parameter(parameter: dict[str, Any]) -> Member:
    schema = parameter["schema"]
    return Member(
        name=parameter["name"],
        place=parameter["in"],
        kind=_kind(schema),
        rule=_rule(schema),
        required=bool(parameter.get("required")),
        description=parameter.get("description", ""),
    )


def _members(schema: dict[str, Any]) -> list[Member]:
    schema = _resolved(schema)
    required = schema.get("required", [])
    return [
        Member(name, "body", _kind(part), _rule(part), name in required, part.get("description", ""))
        for name, part in schema.get("properties", {}).items()
    ]


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` without the null that an optional member also allows."""
    for choice in schema.get("anyOf", []):
        if choice.get("type") != "null":
            return {**_resolved(choice), **{key: value for key, value in schema.items() if key != "anyOf"}}
    return _resolved(schema)


def _kind(schema: dict[str, Any]) -> str:
    schema = _plain(schema)
    if schema.get("type") == "array":
        return f"array of {_kind(schema['items'])}"
    return str(schema.get("type", "string"))


def _rule(schema: dict[str, Any]) -> str:
    """The bounds of a member, short: `300 to 31536000, default 86400`."""
    schema = _plain(schema)
    limits = []
    if "enum" in schema:
        limits.append(" | ".join(str(value) for value in schema["enum"]))
    if "minimum" in schema and "maximum" in schema:
        limits.append(f"{schema['minimum']} to {schema['maximum']}")
    if "maxLength" in schema:
        limits.append(f"{schema.get('minLength', 0)} to {schema['maxLength']} characters")
    if schema.get("default") is not None:
        limits.append(f"default {schema['default']}")
    return ", ".join(limits)


def _answers(responses: dict[str, Any]) -> Any:
    for status, response in responses.items():
        content = response.get("content", {})
        if int(status) >= 400:
            continue
        example = _first_example(content.get("application/json", {}))
        yield {
            "status": status,
            "description": response["description"],
            "example": snippets.pretty(example) if example is not None else "",
        }


def _refusals(responses: dict[str, Any]) -> Any:
    for status, response in responses.items():
        content = response.get("content", {}).get("application/problem+json")
        if content:
            codes = [example["value"] for example in content["examples"].values()]
            yield {"status": status, "codes": codes}


def _first_example(content: dict[str, Any]) -> Any:
    for example in content.get("examples", {}).values():
        return example["value"]
    return None
