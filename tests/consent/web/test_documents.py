"""The documents as pages: which there are, where their links lead, and what cannot get out through them."""

import re

import pytest
from django.test import Client

from consent.docs.markdown import write
from consent.docs.pages import NAMES, every_document

ADDRESSES = {"integrating": "/docs/integrating/"}


def html(text: str) -> str:
    return write(f"# Title\n\n{text}", ADDRESSES).html


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_a_page_open_to_all(name: str, db: None) -> None:
    answer = Client().get(f"/docs/{name}/")
    text = answer.content.decode()

    assert answer.status_code == 200
    assert text.count("<h1") == 1
    assert 'aria-current="page"' in text
    assert "style=" not in text
    assert "<!--" not in text[text.index("<article") : text.index("</article")]


def test_the_list_names_every_document(db: None) -> None:
    text = Client().get("/docs/").content.decode()

    for document in every_document():
        assert f'href="{document.address}"' in text
    for other in ("/api/docs/", "/docs/errors", "/docs/security/"):
        assert f'href="{other}"' in text


def test_a_document_shows_an_example_of_a_request_in_the_readers_language(db: None) -> None:
    text = Client(headers={"Accept-Language": "de"}).get("/docs/quick-start/").content.decode()

    example = text[text.index("<article") : text.index("</article")].partition('<figure class="example"')[2]
    assert ' lang="de"' in example.partition(">")[0]
    assert "von 4 Werten gingen für 30 Tage an Plate &amp; Table" in example
    assert re.search(r"/css/example[^\"]*\.css", text)


OTHER_NAMES = ["nothing", "operating", "architecture", "adr", "Integrating", "integrating.md"]
TRAVERSALS = ["..", "..%2Fsettings", "%2e%2e%2foperating", "a\0"]


@pytest.mark.parametrize("name", [*OTHER_NAMES, *TRAVERSALS])
def test_another_name_is_404(name: str, db: None) -> None:
    assert Client().get(f"/docs/{name}/").status_code == 404


def test_links_between_documents_lead_to_a_page_and_a_heading(db: None) -> None:
    anchors = {d.address: set(re.findall(r'id="([^"]+)"', d.written.html)) for d in every_document()}

    for document in every_document():
        for address, anchor in re.findall(r'href="(/docs/[a-z-]+/|)(?:#([^"]+))?"', document.written.html):
            if anchor:
                assert anchor in anchors[address or document.address], (document.name, address, anchor)
            elif address:
                assert address in anchors, (document.name, address)


def test_html_of_a_document_is_text() -> None:
    assert "<script" not in html("<script>alert(1)</script>\n\na <b onclick=x>b</b>")
    assert 'href="javascript' not in html("[a](javascript:alert(1))")


def test_links_that_lead_nowhere_here_are_words() -> None:
    assert html("[a](integrating.md#be-told)") == '<p><a href="/docs/integrating/#be-told">a</a></p>\n'
    for away in ("../consent/states.py", "operating.md", "http://plain.example", "//evil.example", "data:text/html,a"):
        assert "href" not in html(f"[words]({away})"), away
    assert 'href="https://example.org"' in html("[a](https://example.org)")


def test_headings_that_read_alike_have_anchors_of_their_own() -> None:
    assert re.findall(r'id="([^"]+)"', html("## Be told: a\n\n## Be told: a")) == ["be-told-a", "be-told-a-1"]


def test_a_drawing_of_states_is_a_table() -> None:
    drawn = html("```mermaid\nstateDiagram-v2\n    [*] --> a\n    a --> b: the <i>end</i>\n    b --> [*]\n```")

    assert re.findall(r"<td[^>]*>(.*?)</td>", drawn) == [
        "<code>a</code>",
        "<code>b</code>",
        "the &lt;i&gt;end&lt;/i&gt;",
    ]


@pytest.mark.parametrize(("info", "label"), [("sh ask.sh", "ask.sh"), ("json request", "JSON"), ("js", "JavaScript")])
def test_code_is_titled_by_its_file_or_its_language(info: str, label: str) -> None:
    assert f"<span>{label}</span>" in html(f"```{info}\n1\n```")


def test_a_lead_is_listed_by_its_first_sentence() -> None:
    assert write("# T\n\nFor all:\nat 1.5 and `a.b`. More.", ADDRESSES).first_sentence == "For all: at 1.5 and a.b."
