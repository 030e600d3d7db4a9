"""Types of what runs in a browser and on Node: read from JSDoc by the TypeScript that tests/node locks, never built.

The service needs no Node. Where Node or that TypeScript is not installed, there is nothing to check with.
"""

import json
from pathlib import Path

from deploy.local import node
from deploy.local.place import ROOT

TOOLS = ROOT / "tests" / "node"
PROJECTS = {"scripts": "tsconfig.json", "bridge-js": "tsconfig.bridge.json"}


def command(project: str) -> list[str]:
    return [
        node.command(),
        str(TOOLS / "node_modules" / "typescript" / "bin" / "tsc"),
        "--project",
        str(TOOLS / project),
    ]


def missing(tools: Path = TOOLS) -> str:
    """What has to be installed first, in one line; nothing where all of it is."""
    if not node.is_there():
        return "Node or npm is not on the path"
    wanted = json.loads((tools / "package.json").read_text())["devDependencies"]
    if all(_installed(tools / "node_modules" / name) == version for name, version in wanted.items()):
        return ""
    return "what tests/node locks is not installed (npm ci --prefix tests/node --ignore-scripts)"


def _installed(package: Path) -> str:
    """Its version, or nothing."""
    try:
        return str(json.loads((package / "package.json").read_text())["version"])
    except (OSError, ValueError, KeyError):
        return ""
