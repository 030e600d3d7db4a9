"""The types of both clients, and what a digest covers: made from the OpenAPI document, and checked in.

Generators make them: datamodel-code-generator for Python, openapi-typescript for Node. What goes in is the document's
schemas under the names that the clients' users know, without rules that the service alone applies.
"""

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import run
from typing import Any

from deploy.local import node
from deploy.local.place import PYTHON, ROOT, VENV, Stop

TEMPLATES = ROOT / "deploy" / "contract"
ANSWERS, TERMS = ROOT / "bridge/consent_bridge/answers.py", ROOT / "bridge/consent_bridge/terms.py"
TYPES, SCHEMAS = ROOT / "bridge-js/src/contract.d.ts", ROOT / "bridge-js/src/schemas.js"
DIGESTED = ROOT / "bridge-js/src/formats/contract.js"
# the parts of the document's answers, and what the clients call each
NAMES = {
    "ScopeEntry": "ScopeEntry",
    "AccessDuration": "DurationBounds",
    "Runtime": "Runtime",
    "UserScopes": "Discovery",
    "FoundPerson": "FoundPerson",
    "FoundPeople": "PeoplePage",
    "FrozenRequest": "FrozenRequest",
    "MadeRequest": "MadeRequest",
    "MadeConnection": "MadeConnection",
    "ConnectionNotice": "ConnectionNotice",
    "Connection": "Connection",
    "Grant": "Grant",
    "ConsentStatus": "Status",
    "ProcessingNotice": "Processing",
    "ConsentRequests": "RequestPage",
    "ConsentExport": "Envelope",
    "SandboxPerson": "SandboxEntry",
    "SandboxConnection": "ConnectionAnswer",
    "VaultSegment": "SealedSegment",
    "SegmentRevisions": "Revisions",
}
_STRUCTURE = ("$ref", "type", "properties", "required", "items", "anyOf")
_REFERENCE = re.compile(r"(?<=#/components/schemas/)\w+")
_MADE = "Made by `./run types` from the OpenAPI document; not to be edited."

Schema = dict[str, Any]


class Failed(Exception):
    """A generator refused; the text is what it said."""


def complaints(env: Mapping[str, str]) -> str:
    """Which files are not what the document makes them, for whoever checks; nothing is written."""
    try:
        found = made(env)
    except (Failed, Stop) as refused:
        return str(refused)
    old = [path for path, text in found.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return "".join(f"{path.relative_to(ROOT)} is not what the contract makes it; `./run types` does.\n" for path in old)


def renew(env: Mapping[str, str]) -> None:
    """Write every file anew."""
    for path, text in made(env).items():
        path.write_text(text, encoding="utf-8")


def made(env: Mapping[str, str]) -> dict[Path, str]:
    """Every file with its text; without what Node makes where there is no Node."""
    printed = _output([PYTHON, "manage.py", "print_openapi"], env=env)
    schemas = json.loads(_REFERENCE.sub(lambda found: NAMES.get(found[0], found[0]), printed))["components"]["schemas"]
    answers = {theirs: schemas[ours] for ours, theirs in NAMES.items()}
    terms = _terms(schemas["RequestConsentBody"])
    every = {**answers, "Terms": terms}
    texts = {
        ANSWERS: _dataclasses(answers),
        TERMS: _typed_dictionary(terms),
        SCHEMAS: _runtime_schemas(every),
        DIGESTED: f"// @ts-check\n// {_MADE}\n\n{_later_members(terms)}",
    }
    return texts | ({TYPES: _typescript(every)} if node.is_there() else {})


def _terms(body: Schema) -> Schema:
    """The optional members of a request, each of which may be null to leave it out."""
    apart = {*body["required"], "connector_public_key"}  # clients take the key itself, private half and all
    members = {name: member for name, member in body["properties"].items() if name not in apart}
    return {
        "type": "object",
        "description": "The contract's optional members of a request; null leaves one out. Durations in seconds.",
        "properties": {
            name: {"anyOf": [_without_null(member), {"type": "null"}], "description": member["description"]}
            for name, member in members.items()
        },
    }


def _without_null(member: Schema) -> Schema:
    """A member's schema without the null that an optional one also allows, and without what is said of it."""
    choice: Schema = next((choice for choice in member.get("anyOf", []) if choice.get("type") != "null"), {})
    apart = ("title", "description", "default", "anyOf")
    return {keyword: value for keyword, value in {**member, **choice}.items() if keyword not in apart}


def _only(keywords: tuple[str, ...], schema: Schema) -> Schema:
    """A schema, and what is inside it, with no other keywords than these."""
    kept = {keyword: schema[keyword] for keyword in keywords if keyword in schema}
    if "properties" in kept:
        kept["properties"] = {name: _only(keywords, member) for name, member in kept["properties"].items()}
    if "anyOf" in kept:
        kept["anyOf"] = [_only(keywords, choice) for choice in kept["anyOf"]]
    if "items" in kept:
        kept["items"] = _only(keywords, kept["items"])
    return kept


def _dataclasses(answers: Mapping[str, Schema]) -> str:
    # without the states by name: one that the service gains later is text too, and is passed on
    about = "What the service answers, as frozen records with the wire's own names."
    return _python(answers, (*_STRUCTURE, "description"), "dataclasses.dataclass", about, "--keep-model-order")


def _typed_dictionary(terms: Schema) -> str:
    """The terms, each with its own schema beside its type: options and tools are described by it."""
    beside = {
        name: repr({"description": member["description"], **member["anyOf"][0]})
        for name, member in terms["properties"].items()
    }
    with tempfile.TemporaryDirectory() as folder:
        extra = Path(folder) / "extra.json"
        extra.write_text(json.dumps({"Terms": {"members": beside}}))
        return _python(
            {"Terms": {**terms, "description": terms["description"].replace("null", "None")}},
            (*_STRUCTURE, "description", "enum"),
            "typing.TypedDict",
            "What may be said of a request, each member with its rules as JSON Schema.",
            "--use-total-false-for-typed-dict",
            "--use-generic-container-types",
            "--no-use-closed-typed-dict",
            "--additional-imports=typing.Annotated",
            f"--extra-template-data={extra}",
        )


def _python(schemas: Mapping[str, Schema], keywords: tuple[str, ...], kind: str, about: str, *options: str) -> str:
    command = [
        VENV / "bin" / "datamodel-codegen", "--input-file-type=openapi", f"--output-model-type={kind}",
        "--target-python-version=3.11", "--enum-field-as-literal=all", "--use-schema-description",
        "--use-single-line-docstring", "--use-standard-collections", "--use-union-operator", "--use-exact-imports",
        "--strict-nullable", "--formatters=builtin", f"--custom-template-dir={TEMPLATES}",
        f'--custom-file-header="""{about}\n\n{_MADE}\n"""\n', *options,
    ]  # fmt: skip
    text = _output(command, given=_document(schemas, keywords))
    ruff, name = VENV / "bin" / "ruff", "--stdin-filename=bridge/consent_bridge/made.py"
    text = _output([ruff, "check", "--quiet", "--fix", "--select=I,UP", name, "-"], given=text)
    return _output([ruff, "format", "--quiet", name, "-"], given=text)


def _document(schemas: Mapping[str, Schema], keywords: tuple[str, ...]) -> str:
    components = {name: _only(keywords, schema) for name, schema in schemas.items()}
    head = {"openapi": "3.1.0", "info": {"title": "Consent Runtime", "version": "1"}, "paths": {}}
    return json.dumps({**head, "components": {"schemas": components}})


def _typescript(schemas: Mapping[str, Schema]) -> str:
    generator = node.install(TEMPLATES) / "openapi-typescript" / "bin" / "cli.js"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "openapi.json"
        source.write_text(_document(schemas, (*_STRUCTURE, "description", "enum", "additionalProperties")))
        return _output([node.command(), generator, source, "--root-types", "--root-types-no-schema-prefix"])


def _runtime_schemas(schemas: Mapping[str, Schema]) -> str:
    """What the client for Node holds an answer against, and the terms that it knows."""
    written = ",\n".join(_on_lines(name, _only(_STRUCTURE, schema)) for name, schema in schemas.items())
    return f"// @ts-check\n// {_MADE}\n\nexport const SCHEMAS = {{\n{written},\n}};\n"


def _on_lines(name: str, schema: Schema) -> str:
    """A schema of an object, a member a line."""
    head = f'  {name}: {{\n    type: "object",\n    required: {json.dumps(schema.get("required", []))},\n'
    members = "".join(f"      {member}: {json.dumps(part)},\n" for member, part in schema["properties"].items())
    return f"{head}    properties: {{\n{members}    }},\n  }}"


def _later_members(terms: Schema) -> str:
    """What a request's digest covers beyond the members of the contract's first version."""
    later = [name for name, member in terms["properties"].items() if member["anyOf"][0].get("x-in-digest")]
    return (
        "/** What the digest covers where the app gave it: the contract gained these after its first version. */\n"
        f"export const LATER_MEMBERS = /** @type {{string[]}} */ ({json.dumps(later)});\n"
    )


def _output(command: list[Any], *, given: str | None = None, env: Mapping[str, str] | None = None) -> str:
    words = [str(word) for word in command]
    done = run(words, cwd=ROOT, env=env, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{words[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
