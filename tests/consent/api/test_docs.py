"""The documentation pages agree with the code, and hold nothing that the content policy would refuse."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from common.problems import every_problem
from consent.api.openapi import document
from consent.docs import pages as docs_pages
from consent.docs import snippets
from consent.docs.advice import ADVICE

PAGES = ["/api/docs/", "/docs/errors", "/docs/security/"]


class Page(HTMLParser):
    """What a page holds: identifiers, links, and whatever a strict policy would refuse."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.refused: list[str] = []
        self.headings: list[int] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" and "href" in named else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        inline = tag == "style" or (tag == "script" and "src" not in named and named.get("type") != "application/json")
        if inline or "style" in named or any(name.startswith("on") for name in named):
            self.refused.append(f"<{tag} {named}>")


def page(path: str) -> Page:
    answer = Client().get(path)
    assert answer.status_code == 200
    return Page(answer.content.decode())


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_open_to_all_and_clean_of_inline_code(path: str, db: None) -> None:
    shown = page(path)

    assert shown.refused == []
    assert len(shown.ids) == len(set(shown.ids))
    assert shown.headings.count(1) == 1
    assert all(lower <= upper + 1 for upper, lower in zip(shown.headings, shown.headings[1:], strict=False))


@pytest.mark.parametrize("path", PAGES)
def test_names_in_running_text_are_code(path: str, db: None) -> None:
    html = Client().get(path).content.decode()
    text = re.sub(r"<(pre|code|script)[ >].*?</\1>", "", html, flags=re.DOTALL)

    assert [text[at.start() - 60 : at.end() + 40] for at in re.finditer("`", text)] == []


def test_links_between_the_pages_lead_somewhere(db: None) -> None:
    shown = {path: page(path) for path in PAGES}

    for path, here in shown.items():
        for link in here.links:
            target, _, anchor = link.partition("#")
            if anchor and (target or path) in shown:
                assert anchor in shown[target or path].ids, f"{path} → {link}"


def test_every_code_is_explained_once_with_what_to_do(db: None) -> None:
    codes = {problem.code for problem in every_problem()}

    assert codes <= set(page("/docs/errors").ids)
    assert set(ADVICE) == codes
    for refusal in docs_pages.refusals():
        assert refusal.meaning
        assert refusal.advice
        assert refusal.status >= 400


def test_the_api_page_shows_every_operation(db: None) -> None:
    operations = [operation["operationId"] for item in document()["paths"].values() for operation in item.values()]

    assert set(operations) <= set(page("/api/docs/").ids)
    assert len(operations) == len(set(operations))


def test_python_snippets_are_python() -> None:
    for group in docs_pages.operations().values():
        for operation in group:
            compile(operation.python, operation.anchor, "exec")
            if operation.path.startswith("/api/a2a/"):
                shared = operation.path.startswith(("/api/a2a/analyses", "/api/a2a/destinations"))
                shared = shared and operation.anchor != "correctAnalysis"
                # the others need a person's session
                called = shared or operation.anchor in ("callAgent", "getSubject", "sendMessage")
                assert ("A2A-Consent: $AGENT_CONSENT_TOKEN" in operation.curl) is bool(operation.curl) is called
                continue
            assert operation.curl.startswith("curl -sS")
            is_open = operation.path.startswith("/.well-known") or operation.path == "/api/v1/leaked-tokens"
            assert ("Authorization" in operation.curl) is (not is_open)


def test_a_literal_is_pythons_not_jsons() -> None:
    literal = snippets._python_literal({"a": True, "b": None, "c": False, "d": "true: null"})

    assert eval(literal) == {"a": True, "b": None, "c": False, "d": "true: null"}
