"""What documents, docstrings and comments name is there: paths, modules, and the targets of links."""

from pathlib import Path

import pytest

from tests.architecture.naming import ROOT, broken_links, is_module, unknown_names
from tests.architecture.test_house import files, name

# a list of changes tells of files that are gone since
pytestmark = pytest.mark.own_process("git says which files there are")
DOCUMENTS = [path for path in files(".md") if name(path) != "CHANGELOG.md"]
PROGRAMS = files(".py", ".js", ".mjs", ".html", ".css", ".sql", ".conf", ".service", ".toml", ".example")


def test_documents_name_what_is_there() -> None:
    assert {name(path): found for path in DOCUMENTS if (found := unknown_names(path))} == {}


def test_docstrings_and_comments_name_what_is_there() -> None:
    assert {name(path): found for path in PROGRAMS if (found := unknown_names(path))} == {}


def test_links_lead_somewhere() -> None:
    assert {name(path): found for path in files(".md") if (found := broken_links(path))} == {}


@pytest.mark.parametrize(
    ("suffix", "prose", "unknown"),
    [
        (".md", "As `config/gone.py` says.", ["config/gone.py"]),
        (".md", "As config/gone.py says, or gone.md.", ["config/gone.py", "gone.md"]),
        (".md", "See `config/settings.py`, `settings.py`, `docs/adr/0001*.md` and `static/js/`.", []),
        (".md", "See `static/gone/` but not `tasks/send` or `application/json`.", ["static/gone/"]),
        (".md", "`config.gone`, `config.env.gone`, `config.env.flag`, `accounts.models.User.public_id`.",
         ["config.env.gone", "config.gone"]),
        (".md", "A webhook is `consent.revoked`, a scope `pkm.read`.", []),
        (".md", "A page: https://example.org/gone.html\n```\nand gone.py in a program\n```\n", []),
        (".py", '"""As config/gone.py says."""\n# and `common.gone`\nPATH = "config/elsewhere.py"\n',
         ["common.gone", "config/gone.py"]),
        (".example", "# as docs/gone.md says\nPATH=docs/elsewhere.md\n", ["docs/gone.md"]),
    ],
)  # fmt: skip
def test_unknown_names_are_found(suffix: str, prose: str, unknown: list[str], tmp_path: Path) -> None:
    path = tmp_path / f"said{suffix}"
    path.write_text(prose)

    assert unknown_names(path) == unknown


def test_broken_links_are_found(tmp_path: Path) -> None:
    path = tmp_path / "said.md"
    path.write_text(f"[one](said.md#part), [two](gone.md), [three]({ROOT}/README.md), [four](https://example.org/gone)")

    assert broken_links(path) == ["gone.md"]


@pytest.mark.parametrize(
    "dotted", ["config", "config.env", "config.env.flag", "deploy.group.Group.run", "tests.visitor"]
)
def test_modules_are_known(dotted: str) -> None:
    assert is_module(dotted)


@pytest.mark.parametrize("dotted", ["gone", "config.gone", "config.env.flag.gone", "deploy.group.Group.gone"])
def test_what_is_no_module_is_not(dotted: str) -> None:
    assert not is_module(dotted)
