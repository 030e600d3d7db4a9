"""Calls to copy, for the documentation: made from the OpenAPI document, so that they cannot disagree with it."""

import json
from typing import Any
from urllib.parse import quote

from django.conf import settings


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


_TOKENS = {
    "bearer": ("Authorization", "Bearer ", "CONSENT_DEVELOPER_TOKEN"),
    "management": ("Authorization", "Bearer ", "CONSENT_MANAGEMENT_TOKEN"),
    "agentConsent": ("A2A-Consent", "", "AGENT_CONSENT_TOKEN"),
}


def can_be_called(description: dict[str, Any]) -> bool:
    """Whether a program can make this call: it is open, or a token of a program's lets it in."""
    return not description["security"] or _token(description) is not None


def curl(path: str, method: str, description: dict[str, Any], body: Any) -> str:
    """A command line that works once the variable is set that it names."""
    address, query = _address(path, description)
    written = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
    lines = [f"curl -sS '{address}{'?' if written else ''}{written}'"]
    if method != "get":
        lines[0] = f"curl -sS -X {method.upper()} '{address}'"
    if token := _token(description):
        name, before, variable = token
        lines.append(f'-H "{name}: {before}${variable}"')
    if body is not None:
        lines.append("-H 'Content-Type: application/json'")
        lines.append(f"-d '{pretty(body)}'")
    return " \\\n  ".join(lines)


def python(path: str, method: str, description: dict[str, Any], body: Any) -> str:
    """The same with requests, the library that most Python programs have."""
    address, query = _address(path, description)
    arguments = [f'"{address}"']
    if query:
        arguments.append(f"params={query!r}")
    if body is not None:
        arguments.append(f"json={_python_literal(body)}")
    token = _token(description)
    if token:
        name, before, variable = token
        arguments.append(f'headers={{"{name}": f"{before}{{os.environ[\'{variable}\']}}"}}')
    arguments.append(f"timeout={40 if 'wait' in query else 10}")
    joined = ",\n    ".join(arguments)
    imports = "import os\n\nimport requests" if token else "import requests"
    return (
        f"{imports}\n\nanswer = requests.{method}(\n    {joined},\n)\nanswer.raise_for_status()\nprint(answer.json())"
    )


def trip() -> str:
    """The whole way with the bridge's command line."""
    return "\n".join(
        [
            f"export CONSENT_BASE_URL={settings.BASE_URL}/api/v1",
            "export CONSENT_DEVELOPER_TOKEN=cr_live_…",
            "consent-bridge keygen --key app.jwk",
            "consent-bridge discover usr_…",
            "consent-bridge request usr_… 'attr.lifestyle.food.*' \\",
            '  --purpose "Suggest restaurants that you would like" --key app.jwk',
            "consent-bridge wait req_… --timeout 600",
            "consent-bridge read req_… --key app.jwk",
        ]
    )


def _token(description: dict[str, Any]) -> tuple[str, str, str] | None:
    """The header of the token, what stands before it, and the variable that holds it."""
    return next((_TOKENS[name] for way in description["security"] for name in way if name in _TOKENS), None)


def _address(path: str, description: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The address with its path filled in, and the query of an ordinary call."""
    query: dict[str, Any] = {}
    for parameter in description.get("parameters", []):
        example = parameter["schema"].get("example")
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", example)
        elif parameter["in"] == "query" and parameter["name"] in ("request_id", "limit", "wait"):
            query[parameter["name"]] = {"limit": 20, "wait": 30}.get(parameter["name"], example)
    return settings.BASE_URL + path, query


def _python_literal(value: Any, depth: int = 1) -> str:
    """`value` as Python writes it, one member a line."""
    if not isinstance(value, dict):
        return repr(value) if not isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    indent = "    " * depth
    members = "".join(
        f'{indent}    "{name}": {_python_literal(member, depth + 1)},\n' for name, member in value.items()
    )
    return f"{{\n{members}{indent}}}"
