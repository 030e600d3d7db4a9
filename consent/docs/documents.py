"""The documents of `docs/` that are for readers of the service, as pages; those for its operators are not."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse
from django.utils.translation import get_language

if TYPE_CHECKING:
    from consent.docs.markdown import Written

FOLDER = settings.ROOT / "docs"
# in the order in which they are read
NAMES = ("quick-start", "integrating", "sandbox", "lifecycle", "mcp", "agents", "messaging", "financial")


@dataclass(frozen=True)
class Document:
    """One document: its file's name without the ending, its address, and what is in it."""

    name: str
    address: str
    written: "Written"


def every_document() -> list[Document]:
    """All of them, in the reader's language where words are ours."""
    return list(_documents(get_language() or settings.LANGUAGE_CODE).values())


def find_document(name: str) -> Document | None:
    """None where there is no such document, or it is not for readers; a name is looked up and never opened."""
    return _documents(get_language() or settings.LANGUAGE_CODE).get(name)


@cache
def _documents(language: str) -> Mapping[str, Document]:
    """They change with the code alone, so that a process writes each once in each language."""
    from consent.docs.markdown import write  # the first reader of a document brings the parser

    addresses = {name: reverse("document", args=[name]) for name in NAMES}
    return {
        name: Document(name, addresses[name], write((FOLDER / f"{name}.md").read_text(encoding="utf-8"), addresses))
        for name in NAMES
    }
