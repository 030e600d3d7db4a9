"""Every link of every page, document, script, mail and answer leads to an address that is there, signed in and out."""

import ast
import html
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import transaction
from django.template import Context, Template
from django.urls import Resolver404, resolve

from consent.docs.pages import NAMES
from tests.access.invariants import ROOT, in_short
from tests.access.routes import plain_route
from tests.access.sending import Answer
from tests.access.walk import Walk, all_well, parts, welcome
from tests.addresses import ADDRESSES, Address, Caller, pages

_ROOMS = ("accounts", "agents_proxy", "common", "consent", "developers", "pkm", "portal")
_READERS = (Caller.ANONYMOUS, Caller.OWNER, Caller.STAFF_2FA)
_LINK = re.compile(r'<(\w+)\b[^>]*?\s(?:href|src|action)="([^"]*)"')
_IN_SCRIPTS = re.compile(r"""(["`])(/(?!/)[a-z][^"`\s]*)\1""")
# staff's pages about one record differ in their fields alone, and in none of their links
_LEFT_OUT = re.compile(r"admin/\w+/\w+/(add/|<path:object_id>/)")
# where somebody goes on after the sign-in, which that page alone looks at
_ASKED_BACK = re.compile(r"(?<=^/accounts/login/)\?next=[^&]*$")
# staff's lists differ in what they are sorted by; of their records, and of the values of a filter, one stands for all
_RECORD, _VALUE = re.compile(r"(?<=/)[^/?]+(?=/change/)"), re.compile(r"(?<=[?&])(?!o=)(\w+)=[^&]*")
_ON_A_LINE = re.compile(r"^\s*(?:\{\{ (?:issuer|site) \}\}(?P<path>/\S*)|\{\{ (?P<made>\w+) \}\})\s*$", re.MULTILINE)
_MAILS = [
    path for path in sorted((ROOT / "templates").rglob("*.txt"))
    if path.parent.name in ("mail", "email") and not path.stem.endswith("_subject")
]  # fmt: skip


class Followed:
    """What is at each address; asked once by each reader, and undone."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._answers: dict[tuple[str, Caller], Answer] = {}

    def at(self, path: str, reader: Caller) -> Answer:
        path = _ASKED_BACK.sub("", path)
        if (path, reader) not in self._answers:
            with transaction.atomic():
                self._answers[path, reader] = self._walk.sender(reader).send("GET", path, Accept="text/html")
                transaction.set_rollback(True)
        return self._answers[path, reader]

    def faults(self, link: str, *readers: Caller) -> list[str]:
        """What is wrong with a link for those who see it, and for who is signed out by then."""
        return [fault for reader in dict.fromkeys((*readers, Caller.ANONYMOUS)) for fault in self._faults(link, reader)]

    def _faults(self, link: str, reader: Caller) -> Iterator[str]:
        path, _, anchor = link.partition("#")
        if path.startswith(settings.STATIC_URL):
            if not finders.find(unquote(urlsplit(path).path).removeprefix(settings.STATIC_URL)):
                yield f"{path} is no file"
            return
        at: str | None = path
        for _ in range(5):
            answer = self.at(at or "/", reader)
            if answer.status not in (301, 302, 303):
                break
            if (at := _here(answer.headers["Location"], at or "/")) is None:
                return
            at, anchor = at.partition("#")[0], ""
        if answer.status == 401 and reader is Caller.ANONYMOUS and answer.media_type == "application/problem+json":
            return  # a file for programs says so in their way
        if answer.status != 200:
            yield f"{link} is {in_short(answer)} to {reader.value}"
        elif anchor and reader is not Caller.ANONYMOUS and f'id="{anchor}"' not in answer.body.decode():
            yield f"{link} names no part of its page"


def _here(link: str, page: str) -> str | None:
    """Where a link of this page leads; None for one that leads elsewhere."""
    found = urlsplit(urljoin(f"{settings.BASE_URL}{page}", html.unescape(link)))
    is_here = f"{found.scheme}://{found.netloc}" == settings.BASE_URL
    return found._replace(scheme="", netloc="").geturl() or "/" if is_here else None


def _is_there(path: str) -> bool:
    try:
        return bool(resolve(urlsplit(path).path))
    except Resolver404:
        return False


@pytest.fixture(scope="module")
def followed(walk: Walk) -> Followed:
    return Followed(walk)


def _links(page: str, text: str) -> Iterator[tuple[bool, str]]:
    """Whether it is a form's, and where each link of the page leads here."""
    found: dict[tuple[bool, str], str] = {}
    for kind, link in _LINK.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        if (path := _here(link, page)) is not None:
            alike = _VALUE.sub(r"\1", _RECORD.sub("", path)) if path.startswith("/admin/") else path
            found.setdefault((kind == "form", alike), path)
    return ((is_form, path) for (is_form, _), path in found.items())


@pytest.mark.parametrize("addresses", parts((page for page in pages() if not _LEFT_OUT.match(page.route)), most=3))
def test_links_of_pages(addresses: list[Address], walk: Walk, followed: Followed) -> None:
    found: dict[str, list[str]] = {}
    for address in addresses:
        for reader in _READERS:
            page = walk.path(address)
            answer = followed.at(page, reader)
            if answer.status == 200 and answer.media_type == "text/html":
                faults = _faults_of_page(followed, page, answer, reader)
                found |= {f"{page} as {reader.value}": faults} if faults else {}

    all_well(found)


@pytest.mark.parametrize("name", NAMES)
def test_links_of_documents(name: str, followed: Followed) -> None:
    page = f"/docs/{name}/"

    assert _faults_of_page(followed, page, followed.at(page, Caller.OWNER), Caller.OWNER) == []


def test_documents_that_lead_to_one_another_are_all_served() -> None:
    """But for those of operators, which lie with the source alone."""
    for name in NAMES:
        text = (ROOT / f"docs/{name}.md").read_text()
        linked = set(re.findall(r"\]\(([a-z-]+)\.md", text))
        assert linked <= {*NAMES, *_OF_OPERATORS}, name


_OF_OPERATORS = {"operating", "enterprise"}


def _faults_of_page(followed: Followed, page: str, answer: Answer, reader: Caller) -> list[str]:
    faults = []
    for is_form, link in _links(page, answer.body.decode()):
        if not is_form:
            faults += followed.faults(link, reader)
        elif not _is_there(link):
            faults.append(f"{link} takes no form")
    return faults


@pytest.mark.parametrize("script", sorted((ROOT / "static/js").rglob("*.js")), ids=lambda path: path.stem)
def test_addresses_in_scripts(script: Any) -> None:
    named = [re.sub(r"\$\{[^}]*\}", "1", found[1]) for found in _IN_SCRIPTS.findall(script.read_text())]

    assert [path for path in named if not _is_there(path.partition("#")[0])] == []


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
    asked = {"request": world.pending, "renewal": world.pending}
    return {"app": world.app, "token": {"app": world.app}, "application": application, **asked}


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
    assert {path for path in named if not _is_there(path)} == set()


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
        links = {_here(text, "/") for text in _texts(answer.json()) if text.startswith(settings.BASE_URL)} - {None}
        faults = []
        for link in sorted(str(link) for link in links - _NAMES):
            if address.method == "GET" and _opens(link):
                faults += followed.faults(link, Caller.OWNER)
            elif not _is_there(link):
                faults.append(f"{link} is nowhere")
        found |= {address.name: faults} if faults else {}

    all_well(found)


def _opens(link: str) -> bool:
    """Whether it is to be looked at: what a program posts to, or asks with a query of its own, is named alone."""
    if not _is_there(link):
        return True  # and is missed there
    at = urlsplit(link)
    registered = [one for one in ADDRESSES if one.route == plain_route(resolve(at.path).route)]
    return not registered or any(one.method == "GET" and (at.query or not one.query) for one in registered)


def _texts(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict | list):
        for part in told.values() if isinstance(told, dict) else told:
            yield from _texts(part)
