"""Every link of every page, document, script, mail and answer leads to an address that is there, signed in and out."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.template import Context, Template
from django.urls import resolve

from consent.docs.pages import NAMES
from tests.access.following import Followed, faults_of_page, is_there, leads_to
from tests.access.invariants import ROOT
from tests.access.routes import plain_route
from tests.access.walk import Walk, all_well, parts, welcome
from tests.addresses import ADDRESSES, Address, Caller

_ROOMS = ("accounts", "agents_proxy", "common", "consent", "developers", "pkm", "portal")
_IN_SCRIPTS = re.compile(r"""(["`])(/(?!/)[a-z][^"`\s]*)\1""")
_ON_A_LINE = re.compile(r"^\s*(?:\{\{ (?:issuer|site) \}\}(?P<path>/\S*)|\{\{ (?P<made>\w+) \}\})\s*$", re.MULTILINE)
_MAILS = [
    path for path in sorted((ROOT / "templates").rglob("*.txt"))
    if path.parent.name in ("mail", "email") and not path.stem.endswith("_subject")
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_links_of_documents(name: str, followed: Followed) -> None:
    page = f"/docs/{name}/"

    assert faults_of_page(followed, page, followed.at(page, Caller.OWNER), Caller.OWNER) == []


def test_documents_that_lead_to_one_another_are_all_served() -> None:
    """But for those of operators, which lie with the source alone."""
    for name in NAMES:
        text = (ROOT / f"docs/{name}.md").read_text()
        linked = set(re.findall(r"\]\(([a-z-]+)\.md", text))
        assert linked <= {*NAMES, *_OF_OPERATORS}, name


_OF_OPERATORS = {"operating", "enterprise"}


@pytest.mark.parametrize("script", sorted((ROOT / "static/js").rglob("*.js")), ids=lambda path: path.stem)
def test_addresses_in_scripts(script: Any) -> None:
    named = [re.sub(r"\$\{[^}]*\}", "1", found[1]) for found in _IN_SCRIPTS.findall(script.read_text())]

    assert [path for path in named if not is_there(path.partition("#")[0])] == []


@pytest.mark.parametrize("mail", _MAILS, ids=lambda path: path.stem)
def test_links_of_mails(mail: Any, walk: Walk, followed: Followed) -> None:
    for line in _ON_A_LINE.finditer(mail.read_text()):
        if line["path"]:
            link = Template(line["path"]).render(Context(_in_mails(walk)))
            reader = Caller.STAFF_2FA if link.startswith("/admin/") else Caller.OWNER
            assert followed.faults(link, reader) == []
        else:  # the function that writes the mail makes it, and test_addresses_in_programs reads that; or allauth does
            assert line["made"] in _MADE, line["made"]


_MADE = {"code", "address", "link", "activate_url", "password_reset_url", "signup_url"}


def _in_mails(walk: Walk) -> dict[str, Any]:
    world = walk.world
    application = world.owner.developer_applications.first()
    requests = {"request": world.pending, "renewal": world.pending}
    return {"app": world.app, "token": {"app": world.app}, "application": application, **requests}


@cache
def _of_programs() -> list[tuple[str, str]]:
    """Every address that a program puts behind this service's own: where, and its path with 1 for what is filled in."""
    found = []
    for program in (program for room in _ROOMS for program in sorted((ROOT / room).rglob("*.py"))):
        for node in ast.walk(ast.parse(program.read_text())):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else _filled(part) for part in node.values
                )
                found += [(program.name, path) for path in re.findall(r"SITE(/[^\s\"']*)", text)]
    return found


def _filled(part: ast.expr) -> str:
    written = ast.unparse(part)
    if re.search(r"\bsettings\.(ISSUER|BASE_URL)\b", written):
        return "SITE"
    return "" if "reverse(" in written else "1"


def test_addresses_in_programs() -> None:
    assert ("actions.py", "/account/delete/undo/#1") in _of_programs()
    named = {path.partition("#")[0] for _, path in _of_programs()} - _NAMES
    assert {path for path in named if not is_there(path)} == set()


# what programs put addresses behind, the log's own name, and that of A2A's extension
_NAMES = {"/api/v1", "/log", "/extensions/consent/v1"}


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if address.speaks_json))
def test_links_of_answers(addresses: list[Address], walk: Walk, followed: Followed) -> None:
    """As the app or the person is answered; what webhooks and events say is what a status says.

    What a call made is undone by now: of what it names, the address alone is looked for.
    """
    found: dict[str, list[str]] = {}
    for address in addresses:
        answer = walk.ask(address, welcome(address))
        links = {leads_to(text, "/") for text in _texts(answer.json()) if text.startswith(settings.BASE_URL)} - {None}
        faults = []
        for link in sorted(str(link) for link in links - _NAMES):
            if address.method == "GET" and _opens(link):
                faults += followed.faults(link, Caller.OWNER)
            elif not is_there(link):
                faults.append(f"{link} is nowhere")
        found |= {address.name: faults} if faults else {}

    all_well(found)


def _opens(link: str) -> bool:
    """Whether it is to be looked at: what a program posts to, or asks with a query of its own, is named alone."""
    if not is_there(link):
        return True  # and is missed there
    at = urlsplit(link)
    registered = [one for one in ADDRESSES if one.route == plain_route(resolve(at.path).route)]
    return not registered or any(one.method == "GET" and (at.query or not one.query) for one in registered)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
