"""The commands around the local tool server: serve, the host's configuration, and a new connector key."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from consent_bridge import calls, login
from consent_bridge.commands import developer_token, keyring_of
from consent_bridge.errors import Refused
from consent_bridge.keys import public_half, thumbprint
from consent_bridge.state import RequestLog, state_directory
from consent_bridge.transport import rest_base_url

_NAME = "consent"
_PLACEHOLDER = "<your developer token>"
_PASSED_ON = ("CONSENT_BRIDGE_STATE", "CONSENT_CONNECTOR_KEY")


def serve_command(options: Namespace) -> None:
    """Serve the tools to a host on standard input and output."""
    # Imported here: the SDK takes a second to load, which the other commands need not wait for.
    try:
        from consent_bridge.server import serve
    except ModuleNotFoundError as error:
        raise Refused(f"{error.name} is not installed: serve needs consent-bridge[mcp]") from error

    base_url, token = login.address(options), developer_token(options)
    if not token:  # hosts that log in need no bridge to hold a token, and go to /mcp themselves
        raise Refused("CONSENT_DEVELOPER_TOKEN is not set")
    rest_base_url(base_url)
    calls.bearer(token)
    serve(base_url, token, keyring_of(options), RequestLog(state_directory()))


def config_command(options: Namespace) -> dict[str, Any]:
    """What goes into a host's configuration file."""
    base_url = options.base_url or os.environ.get("CONSENT_BASE_URL")
    if not base_url:
        raise Refused("CONSENT_BASE_URL is not set: the service's address, ending in /api/v1")
    token = os.environ.get("CONSENT_DEVELOPER_TOKEN") if options.with_token else None
    if options.with_token and not token:
        raise Refused("CONSENT_DEVELOPER_TOKEN is not set")
    environment = {
        "CONSENT_BASE_URL": rest_base_url(base_url),
        "CONSENT_DEVELOPER_TOKEN": token or _PLACEHOLDER,
        **{name: str(Path(os.environ[name]).absolute()) for name in _PASSED_ON if os.environ.get(name)},
    }
    command, *arguments = _pipx(options.pipx) if options.pipx else _installed()
    return {"mcpServers": {_NAME: {"command": command, "args": [*arguments, "serve"], "env": environment}}}


def _pipx(folder: Path) -> list[str]:
    """Absolute, since a host has its own working directory; a bare name would be looked for in a public index."""
    if not (folder / "pyproject.toml").is_file():
        raise Refused(f"{folder} is not the folder of consent-bridge: it holds no pyproject.toml")
    return ["pipx", "run", "--spec", f"{folder.absolute()}[mcp]", "consent-bridge"]


def _installed() -> list[str]:
    """How this very installation is started, with absolute paths: hosts have another search path than shells."""
    started = Path(sys.argv[0]).absolute()
    if started.name.startswith("consent-bridge") and os.access(started, os.X_OK):
        return [str(started)]
    beside = shutil.which("consent-bridge", path=str(Path(sys.executable).parent))
    return [beside] if beside else [sys.executable, "-m", "consent_bridge"]


def rotate_key_command(options: Namespace) -> dict[str, Any]:
    """A new connector key for the requests to come; what was asked with the old one stays readable."""
    earlier, new = keyring_of(options).rotate(options.curve)
    return {"connector_public_key": public_half(new), "thumbprint": thumbprint(new), "earlier_thumbprint": earlier}
