"""`env.example` and what is read from the environment are the same list."""

import ast
import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from agents_proxy.agents import AGENTS
from config import env

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "env.example").read_text()
OF_RUN = {
    "PORT", "HOST", "PROFILE", "NEIGHBOURHOOD", "REFERENCE_AGENTS",
}  # fmt: skip
READERS = {
    "text", "flag", "number", "choice", "names", "secret", "secret_json", "database", "email", "agent", "witnesses",
    "redis", "broker", "optional_number", "folder", "address", "picture", "colour", "origin",
    "sender",
}  # fmt: skip
OF_AN_AGENT = (
    "URL", "PROTOCOL", "MODEL", "TIMEOUT", "CHECKS_CONSENT", "DELETE_URL", "CONTACT",
    "TOKEN", "TOKEN_HEADER", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPE",
    "NAME", "OPERATOR", "COUNTRY", "PRIVACY_NOTICE",
)  # fmt: skip


def names_in_example() -> list[str]:
    """As they are written there, an agent's as AGENT_<NAME>_URL."""
    return re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+|AGENT_<NAME>_[A-Z_]+)=", EXAMPLE, re.MULTILINE)


def agents_in_example() -> set[str]:
    return set(re.findall(r"[A-Z][A-Z_]+", EXAMPLE.partition("# Each of ")[2].partition(" has these variables")[0]))


def names_read() -> set[str]:
    """Every first argument of a reader of `config.env`, wherever the server calls one."""
    found = {"CONSENT_VAR"}
    for path in ROOT.glob("[acdp]*/**/*.py"):
        if path.is_relative_to(ROOT / "deploy"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "env" and node.func.attr in READERS and node.args:
                if node.func.attr == "agent":  # called once, for every entry of the table
                    found |= {f"AGENT_<NAME>_{part}" for part in OF_AN_AGENT}
                    continue
                assert isinstance(node.args[0], ast.Constant), f"{path}: a name that cannot be found by reading"
                found.add(str(node.args[0].value))
                if node.func.attr == "secret_json":
                    found.add(f"{node.args[0].value}_FILE")
    return found


def test_example_lists_exactly_what_is_read() -> None:
    listed = names_in_example()

    assert len(listed) == len(set(listed))
    assert set(listed) - OF_RUN == names_read()
    assert {f"AGENT_{name}" for name in agents_in_example()} == {agent.variable_prefix for agent in AGENTS.values()}


def test_a_missing_secret_raises_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY")

    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY is not set\. Make one"):
        env.secret("SECRET_KEY", "Make one")


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("1", True), ("off", False), ("", False), ("Yes", True)]
)
def test_flag_reads(monkeypatch: pytest.MonkeyPatch, text: str, expected: bool) -> None:
    monkeypatch.setenv("A_FLAG", text)

    assert env.flag("A_FLAG") is expected


def test_flag_refuses_what_is_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_FLAG", "maybe")

    with pytest.raises(ImproperlyConfigured, match="A_FLAG must be true or false, not 'maybe'"):
        env.flag("A_FLAG")


@pytest.mark.parametrize("text", ["many", "-1", "11", "1.5"])
def test_number_refuses_what_is_none_or_out_of_bounds(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A_NUMBER", text)

    with pytest.raises(ImproperlyConfigured, match="A_NUMBER must"):
        env.number("A_NUMBER", 5, maximum=10)
