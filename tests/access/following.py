"""Where a page leads: what is at each of its links, signed in and out."""

import html
import re
from collections.abc import Iterator
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import transaction
from django.urls import Resolver404, resolve

from tests.access.invariants import in_short
from tests.access.sending import Answer
from tests.access.walk import Walk
from tests.addresses import Caller

_LINK = re.compile(r'<(\w+)\b[^>]*?\s(?:href|src|action)="([^"]*)"')
# where somebody goes on after the sign-in, which that page alone looks at
_ASKED_BACK = re.compile(r"(?<=^/accounts/login/)\?next=[^&]*$")
# staff's lists differ in what they are sorted by; of their records, and of the values of a filter, one stands for all
_RECORD, _VALUE = re.compile(r"(?<=/)[^/?]+(?=/change/)"), re.compile(r"(?<=[?&])(?!o=)(\w+)=[^&]*")


class Followed:
    """What is at each address; asked once by each reader, and undone. What the walk met already is not asked again."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._answers = walk.pages

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
            if (at := leads_to(answer.headers["Location"], at or "/")) is None:
                return
            at, anchor = at.partition("#")[0], ""
        if answer.status == 401 and reader is Caller.ANONYMOUS and answer.media_type == "application/problem+json":
            return  # a file for programs says so in their way
        if answer.status != 200:
            yield f"{link} is {in_short(answer)} to {reader.value}"
        elif anchor and reader is not Caller.ANONYMOUS and f'id="{anchor}"' not in answer.body.decode():
            yield f"{link} names no part of its page"


def leads_to(link: str, page: str) -> str | None:
    """Where a link of this page leads; None for one that leads elsewhere."""
    found = urlsplit(urljoin(f"{settings.BASE_URL}{page}", html.unescape(link)))
    is_here = f"{found.scheme}://{found.netloc}" == settings.BASE_URL
    return found._replace(scheme="", netloc="").geturl() or "/" if is_here else None


def is_there(path: str) -> bool:
    """Whether some view answers there."""
    try:
        return bool(resolve(urlsplit(path).path))
    except Resolver404:
        return False


def _links(page: str, text: str) -> Iterator[tuple[bool, str]]:
    """Whether it is a form's, and where each link of the page leads here."""
    found: dict[tuple[bool, str], str] = {}
    for kind, link in _LINK.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        if (path := leads_to(link, page)) is not None:
            alike = _VALUE.sub(r"\1", _RECORD.sub("", path)) if path.startswith("/admin/") else path
            found.setdefault((kind == "form", alike), path)
    return ((is_form, path) for (is_form, _), path in found.items())


def faults_of_page(followed: Followed, page: str, answer: Answer, reader: Caller) -> list[str]:
    """What is wrong with the links and forms of a page that this reader was answered."""
    faults = []
    for is_form, link in _links(page, answer.body.decode()):
        if not is_form:
            faults += followed.faults(link, reader)
        elif not is_there(link):
            faults.append(f"{link} takes no form")
    return faults
