"""The languages: `locale/` follows the source, and what is compiled follows `locale/`."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from deploy.local.place import PYTHON, ROOT

DOMAINS = ("django", "djangojs")
# folders of the tree that show nothing on a page of the service
APART = {"var", "tests", "bench", "bridge", "bridge-js", "examples", "deploy", "docs"}
# a date that changes with every look would be the only thing that most changes change
_DATE = re.compile(r'^"POT-Creation-Date:.*\n', re.MULTILINE)


class Failed(Exception):
    """One of gettext's tools, or Django's use of them, refused; the text is what it said."""


def complaints(env: Mapping[str, str]) -> str:
    """What is wrong with any catalogue, measured by the source as it is; nothing in the tree is written."""
    try:
        with _gathered(env) as copy:
            return "".join(line for path in _catalogues(copy) for line in _complaints(path))
    except Failed as refused:
        return str(refused)


def renew(env: Mapping[str, str]) -> None:
    """Take what the source has new into `locale/`, where it waits to be translated, and compile all of it."""
    with _gathered(env) as copy:
        for catalogue in _catalogues(copy):
            kept = ROOT / catalogue.relative_to(copy)
            kept.write_bytes(catalogue.read_bytes())
            _output("msgfmt", "--check-format", "--output-file", str(kept.with_suffix(".mo")), str(kept))


@contextmanager
def _gathered(env: Mapping[str, str]) -> Iterator[Path]:
    """A copy of the source whose catalogues hold the strings that the source has, without places and dates."""
    if not shutil.which("xgettext"):
        raise Failed("This needs the tools of GNU gettext (xgettext, msgfmt) on the path.\n")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "source"
        shutil.copytree(ROOT, copy, ignore=_left_out)
        for domain in DOMAINS:
            command = [str(PYTHON), "manage.py", "makemessages", "--all", "--domain", domain]
            _output(*command, "--no-location", "--no-wrap", cwd=copy, env=env)
        for catalogue in _catalogues(copy):
            catalogue.write_text(_DATE.sub("", catalogue.read_text(encoding="utf-8")), encoding="utf-8")
        yield copy


def _left_out(folder: str, names: list[str]) -> set[str]:
    hidden = {name for name in names if name.startswith(".") or name == "__pycache__"}
    return hidden | (APART.intersection(names) if Path(folder) == ROOT else set())


def _catalogues(root: Path) -> list[Path]:
    return sorted((root / "locale").glob("*/LC_MESSAGES/*.po"))


def _complaints(gathered: Path) -> Iterator[str]:
    """About one catalogue, into which the source's strings were just taken."""
    name = gathered.relative_to(gathered.parents[3])
    for what, options in {
        "not translated": ("--untranslated", "--no-obsolete"),
        "only guessed (fuzzy)": ("--only-fuzzy", "--no-obsolete"),
        "no longer in the source": ("--only-obsolete",),
    }.items():
        if found := _output("msgattrib", "--no-wrap", *options, str(gathered)):
            yield f"{name}: {what}; `./run messages` shows where.\n{found}"
    if not _is_compiled(ROOT / name):
        yield f"{name}: the compiled catalogue beside it is another; `./run messages` compiles.\n"


def _is_compiled(catalogue: Path) -> bool:
    """Whether the catalogue's .mo says what it says; the bytes may differ with the version of msgfmt."""
    kept = catalogue.with_suffix(".mo")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / kept.name
        _output("msgfmt", "--check-format", "--output-file", str(made), str(catalogue))
        return kept.is_file() and _output("msgunfmt", str(kept)) == _output("msgunfmt", str(made))


def _output(*command: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(done.stdout + done.stderr)
    return done.stdout
