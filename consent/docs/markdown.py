"""Markdown as HTML for the documents: headings with anchors, code with a copy button, links that lead somewhere."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

from django.template.loader import render_to_string
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

_EXAMPLE = "<!-- example of a request -->"  # which the person sees; shown on the site alone
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_MOVE = re.compile(r"^ +(?P<source>\S+) --> (?P<target>\S+?)(?:: (?P<when>.*))?$", re.MULTILINE)
_DOCUMENT = re.compile(r"(?P<name>[a-z-]+)\.md(?P<anchor>#.*)?\Z")
_START_OR_END = "[*]"
_LANGUAGES = {"sh": "Shell", "python": "Python", "js": "JavaScript", "json": "JSON", "http": "HTTP", "text": "Text"}


@dataclass(frozen=True)
class Heading:
    """A heading of the second level, for the navigation."""

    anchor: str
    title: str


@dataclass(frozen=True)
class Written:
    """A document as HTML. `title` is its first heading, which `html` does not repeat."""

    title: str
    lead: str
    headings: tuple[Heading, ...]
    html: str

    @property
    def first_sentence(self) -> str:
        """Of the lead."""
        return re.split(r"(?<=[.!?])\s", self.lead, maxsplit=1)[0]


class _Renderer(RendererHTML):
    """What commonmark's renderer writes, but for what pages of ours have: wraps, anchors and copy buttons."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        kind, _, name = token.info.strip().partition(" ")
        if kind == "mermaid":
            return _moves(token.content)
        if kind == "example":
            return render_to_string("components/example_request.html")
        env["snippets"] = env.get("snippets", 0) + 1
        label = name if "." in name else _LANGUAGES.get(kind, kind)
        context = {"label": label, "anchor": f"snippet-{env['snippets']}", "code": token.content}
        return render_to_string("docs/snippet.html", context)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f'<code translate="no">{escape(tokens[idx].content)}</code>'

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<div class="table-wrap" tabindex="0"><table class="table">'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>"


def write(text: str, addresses: Mapping[str, str]) -> Written:
    """`text` as HTML. `addresses`: document → its address here; what is linked and is not among them becomes words."""
    tokens = _parser().parse(_COMMENT.sub("", text.replace(_EXAMPLE, "```example\n```")))
    title, lead, body = _head(tokens)
    headings = _anchored(body)
    for token in body:
        _mend_links(token, addresses)
    html = _Renderer().render(body, _parser().options, {})
    return Written(title, lead, tuple(headings), html)


@cache
def _parser() -> MarkdownIt:
    """commonmark with tables. HTML in a document is text, and an address is http, https or here."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _head(tokens: list[Token]) -> tuple[str, str, list[Token]]:
    """The first heading's words, those of the paragraph after it, and everything behind the heading."""
    title = _words(tokens[1])
    lead = _words(tokens[4]) if len(tokens) > 4 and tokens[3].type == "paragraph_open" else ""
    return title, lead, tokens[3:]


def _anchored(tokens: list[Token]) -> list[Heading]:
    """Give every heading its anchor, as GitHub names it; those of the second level."""
    found, seen = [], dict[str, int]()
    for opening, content in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        title = _words(content)
        slug = slugify(title)
        seen[slug] = seen.get(slug, -1) + 1
        anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
        opening.attrSet("id", anchor)
        if opening.tag == "h2":
            found.append(Heading(anchor, title))
    return found


def _words(inline: Token) -> str:
    return "".join(
        " " if part.type == "softbreak" else part.content
        for part in inline.children or []
        if part.type in ("text", "code_inline", "softbreak")
    )


def _mend_links(block: Token, addresses: Mapping[str, str]) -> None:
    """Documents lead to their pages; what is not served here, such as a file of the source, is its words alone."""
    closing = False
    for token in block.children or []:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), addresses)
            closing = address is None
            if address is None:
                token.type, token.tag, token.attrs = "html_inline", "", {}
                token.content = ""
            else:
                token.attrSet("href", address)
        elif token.type == "link_close" and closing:
            token.type, token.content, closing = "html_inline", "", False


def _address(href: str, addresses: Mapping[str, str]) -> str | None:
    if found := _DOCUMENT.match(href):
        base = addresses.get(found["name"])
        return base and base + (found["anchor"] or "")
    is_here = href.startswith(("#", "/")) and not href.startswith("//")
    return href if is_here or href.startswith(("https://", "mailto:", "tel:")) else None


def _moves(diagram: str) -> str:
    """A drawing of states, as the table that it is made of."""
    moves = [
        (found["source"], found["target"], found["when"] or "")
        for found in _MOVE.finditer(diagram)
        if _START_OR_END not in (found["source"], found["target"])
    ]
    return render_to_string("docs/moves.html", {"moves": moves})
