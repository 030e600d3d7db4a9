"""What code a page would run in a browser, read from its HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_SCRIPT = re.compile(r"<script", re.IGNORECASE)
_DATA = re.compile(r"\A(?:application|text)/(?:ld\+)?json\Z")  # a script of this type is never run
_FRAMES = {"iframe": "src", "frame": "src", "embed": "src", "object": "data", "portal": "src"}


@dataclass(frozen=True)
class Loaded:
    """A script or style that a page loads, and the hashes that its tag asks for."""

    url: str
    integrity: str
    is_script: bool


@dataclass
class PageCode:
    """What of a page runs: what it loads, the SHA-256 sources of what stands in it, and what is never released."""

    loaded: list[Loaded] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def read_page(text: str) -> PageCode:
    """Everything in this HTML that a browser might run, and where its links lead.

    What a browser reads otherwise than this parser is not lost: a tag of a script that only one of the two sees is
    told as odd.
    """
    parser = _Reader()
    parser.feed(text)
    parser.close()
    if len(_SCRIPT.findall(text)) != parser.scripts:
        parser.code.odd.append("a script hidden in the markup")
    return parser.code


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.code = PageCode()
        self.scripts = 0
        self._text: list[str] | None = None  # of the inline script that is being read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}  # the first of two counts
        self.code.odd += list(_odd(tag, values))
        if tag == "script":
            self._script(values)
        elif tag == "link" and "stylesheet" in values.get("rel", "").lower().split():
            self.code.loaded.append(Loaded(values.get("href", ""), values.get("integrity", ""), False))
        elif tag == "a" and values.get("href"):
            self.code.links.append(values["href"])

    def _script(self, values: dict[str, str]) -> None:
        self.scripts += 1
        if "src" in values:
            self.code.loaded.append(Loaded(values["src"], values.get("integrity", ""), True))
        elif "href" in values or "xlink:href" in values:
            self.code.odd.append("a script inside of a picture")
        elif not _DATA.match(values.get("type", "").strip().lower()):
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._text is not None:
            digest = hashlib.sha256("".join(self._text).encode()).digest()
            self.code.inline.append(f"'sha256-{base64.b64encode(digest).decode()}'")
            self._text = None

    def close(self) -> None:
        super().close()
        if self._text is not None:
            self.code.odd.append("an inline script without an end")


def _odd(tag: str, values: dict[str, str]) -> Iterator[str]:
    if tag == "base":
        yield "a <base>, which moves every relative address"
    if tag in _FRAMES and values.get(_FRAMES[tag]):
        yield f"a <{tag}>, which shows another document"
    if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
        yield "a <meta> that leads elsewhere"
    for name, value in values.items():
        if name.startswith("on"):
            yield f"an inline handler, {name}"
        if re.sub(r"[\s\x00-\x20]", "", value).lower().startswith("javascript:"):
            yield f"a script as an address, in {name}"
        if name == "srcdoc":
            yield "a document inside of the page, srcdoc"
