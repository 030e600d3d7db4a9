"""Our modules survive the hashing of static names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMATS = sorted((ROOT / "bridge-js" / "src" / "formats").glob("*.js"))
MODULES = sorted((ROOT / "static" / "js").rglob("*.js")) + FORMATS
# what Django's manifest storage rewrites: `import {a, b} from "./…"` and `export {a} from "./…"`
LIST = re.compile(r"\b(?:import|export)\s*\{([^}]*)\}\s*from\b")


def names(text: str) -> list[str]:
    """The last name of every list that is imported or passed on."""
    return [found[1].replace(",", " ").split()[-1] for found in LIST.finditer(text) if found[1].strip(" ,\n")]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_no_list_ends_in_a_word_that_is_rewritten_twice(module: Path) -> None:
    """Django also takes `…Import } from "…"` for a statement of its own, and hashes the name a second time."""
    assert [name for name in names(module.read_text()) if name.endswith(("Export", "Import"))] == []


def test_a_list_that_would_be_rewritten_twice_is_found() -> None:
    text = """
        import { a,
          putExport,
        } from "./a.js";
        export { b as doImport } from "./b.js"; import { c } from "./c.js";
    """
    assert names(text) == ["putExport", "doImport", "c"]


@pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.name)
def test_what_node_and_pages_share_needs_neither(module: Path) -> None:
    """Every address in it lies beside it, or is the one file that each side has for itself."""
    text = module.read_text()

    named = re.findall(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']""", text)
    assert [name for name in named if not re.fullmatch(r"\./[a-z0-9]+\.js|\.\./jose\.js", name)] == []
    assert re.findall(r"\b(?:Buffer|process|document|window|indexedDB|localStorage|location)\b[.(]", text) == []


def test_there_are_modules() -> None:
    assert len(MODULES) > 20
