"""The glossary: what it names is there, each word means one thing, and retired names are gone from the code."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.architecture.graph import ROOMS
from tests.architecture.naming import PACKAGES, ROOT, is_module
from tests.architecture.test_house import files, name

pytestmark = pytest.mark.own_process("git says which files there are")
DOCUMENT = ROOT / "docs" / "glossary.md"
_LINK = re.compile(r"\[`([\w.]+)`\]\(([\w./]+)\)")


def _rows() -> Iterator[list[str]]:
    """The cells of every row of the tables of terms."""
    heading, inside = "| term |", False
    for line in DOCUMENT.read_text().splitlines():
        inside = line.startswith("|") and (inside or line.startswith(heading))
        if inside and not line.startswith((heading, "|---")):
            yield [cell.strip() for cell in line.strip("|").split("|")]


TERMS = list(_rows())
# Names that the server's code no longer uses; one that ends in * means every name that begins so.
RETIRED = (
    "Unfit", "Offer", "PAPERS", "Paper", "MINDS", "veil", "veils", "Beside", "beside", "Told", "forsaken", "tend_*",
    "ShortLane", "LANE", "stepping", "guarding", "deciding", "chaining", "recovering", "protecting", "mailing",
    "tidying", "atrest", "_deed", "Overtaken",
)  # fmt: skip
NOT_USED = [(row[0], word) for row in TERMS for word in row[4].split(", ") if word]


def identifiers(source: str) -> set[str]:
    """Every name that a program gives or uses, its modules among them; no text and no comment."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.alias():
                found |= {*node.name.split("."), *([node.asname] if node.asname else [])}
            case ast.ImportFrom(module=str(module)):
                found |= set(module.split("."))
    return found


def is_retired(identifier: str, retired: str) -> bool:
    return identifier.startswith(retired[:-1]) if retired.endswith("*") else identifier == retired


def test_each_term_has_its_cells() -> None:
    assert len(TERMS) > 40
    assert all(len(row) == 5 and row[0] and row[1].endswith(".") and row[3] for row in TERMS)


def test_each_term_stands_once() -> None:
    times = Counter(row[0] for row in TERMS)

    assert {term for term, count in times.items() if count > 1} == set()


def test_no_term_is_to_be_avoided_for_itself() -> None:
    assert [(term, word) for term, word in NOT_USED if term == word] == []


def test_what_the_glossary_names_is_there() -> None:
    named = _LINK.findall(DOCUMENT.read_text())

    assert [dotted for dotted, _ in named if not is_module(dotted)] == []
    assert [(dotted, link) for dotted, link in named if not _is_of(dotted, link)] == []


def _is_of(dotted: str, link: str) -> bool:
    """Whether the link leads to the file that holds the name, or for a package to a file of it."""
    first, *rest = dotted.split(".")
    path, place = (DOCUMENT.parent / link).resolve(), PACKAGES[first]
    for part in rest:
        if (place / f"{part}.py").is_file():
            return path == place / f"{part}.py"
        place = place / part
    return path.parent == place


def test_no_identifier_of_the_server_is_retired() -> None:
    programs = [
        path for path in files(".py") if name(path).partition("/")[0] in ROOMS and "migrations" not in path.parts
    ]
    found = {name(path): _retired(path.stem, path.read_text()) for path in programs}

    assert {path: words for path, words in found.items() if words} == {}


def _retired(stem: str, source: str) -> list[str]:
    used = {stem, *identifiers(source)}
    return sorted(one for one in used if any(is_retired(one, word) for word in RETIRED))


@pytest.mark.parametrize(
    "source",
    ["class Told: ...", "import one.Told", "from Told import x", "from x import y as Told", "def f(Told): ...",
     "x.Told", "f(Told=1)", "Told = 1", "async def Told(): ..."],
)  # fmt: skip
def test_identifiers_are_found(source: str) -> None:
    assert "Told" in identifiers(source)


def test_prose_is_free() -> None:
    assert identifiers('"""Told."""\nx = "Told"  # Told') == {"x"}


def test_a_retired_beginning_means_all_names_with_it() -> None:
    assert is_retired("tend_institutions", "tend_*")
    assert not is_retired("attend_institutions", "tend_*")
    assert not is_retired("tend_institutions", "tend")
