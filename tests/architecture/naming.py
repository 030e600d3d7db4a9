"""What prose may name: the files of the tree, and the modules, classes and functions of the Python in it."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

from tests.architecture.graph import ROOMS
from tests.architecture.test_house import ROOT, files, text_of

PACKAGES = {room: ROOT / room for room in (*ROOMS, "bench", "deploy", "examples", "tests")}
PACKAGES["consent_bridge"] = ROOT / "bridge" / "consent_bridge"
# names on the wire that look like modules: event types, the widest scope, the ids of Django's checks
WIRE = re.compile(r"consent\.(?:[a-z]+ed|test)|pkm\.read|config\.E\d{3}")
PRODUCTS = {"Node.js"}
GENERATED = ("var/", ".venv/", "bridge/build/", "node_modules/")  # made by programs, not kept by git
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_BEFORE = r"(?<![\w/.…>}*:-])"
_ENDINGS = "py|js|mjs|md|html|css|sql|conf|service"
_PATH = re.compile(rf"{_BEFORE}(?:\.{{1,2}}/)*[\w.*-]+(?:/[\w.*-]+)*\.(?:{_ENDINGS})\b(?![\w(/.-]*\w)")
_FOLDER = re.compile(rf"{_BEFORE}[\w.-]+(?:/[\w.-]+)*/(?![\w*.…<\x7b-])")
_DOTTED = re.compile(rf"(?<![\w/.@-])(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+(?![\w.*/-]*[\w*/])")
_COMMENT = re.compile(r"^\s*(?:#|//|/?\*|\{#|--|<!--)\s?(.*)$", re.MULTILINE)


@cache
def paths() -> frozenset[str]:
    """Every file and folder that git knows, folders without a slash at the end."""
    known = [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in files()]
    return frozenset(str(one) for path in known for one in (path, *path.parents) if str(one) != ".")


def is_path(text: str, *, where: Path) -> bool:
    """Whether a file or folder has this name: from the top, from where it is said, or by its last parts."""
    if text.startswith(GENERATED) or text in PRODUCTS:
        return True
    wanted = text.rstrip("/").removeprefix("./")
    if where.is_relative_to(ROOT / "static"):  # pages have bridge-js/src/formats as js/formats
        wanted = wanted.removeprefix("../") if wanted.startswith("../formats/") else wanted
    if (ROOT / wanted).exists() or (where.parent / wanted).exists():
        return True
    return wanted in _tails() or ("*" in wanted and any(fnmatch(tail, wanted) for tail in _tails()))


@cache
def _tails() -> frozenset[str]:
    """Every path, and what is left of it without its first folders."""
    return frozenset("/".join(parts[at:]) for path in paths() if (parts := path.split("/")) for at in range(len(parts)))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def is_module(dotted: str) -> bool:
    """Whether a dotted name is a module, or something that one of them has at its top or in a class there."""
    if WIRE.fullmatch(dotted):
        return True
    first, *rest = dotted.split(".")
    place = PACKAGES.get(first)
    if place is None or not place.is_dir():
        return False
    while rest and (place / rest[0]).is_dir():
        place = place / rest.pop(0)
    if rest and (place / f"{rest[0]}.py").is_file():
        return _has(_tree(place / f"{rest[0]}.py"), rest[1:])
    initial = place / "__init__.py"
    return not rest or (initial.is_file() and _has(_tree(initial), rest))


def _has(node: ast.Module | ast.ClassDef, parts: list[str]) -> bool:
    if not parts:
        return True
    found = [one for one in node.body for defined in _defined(one) if defined == parts[0]]
    inner = [one for one in found if isinstance(one, ast.ClassDef)]
    return bool(found) and (len(parts) == 1 or any(_has(one, parts[1:]) for one in inner))


def _defined(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=known)):
            yield known
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name for alias in node.names)
        case ast.If():
            yield from (known for one in (*node.body, *node.orelse) for known in _defined(one))


def prose_of(path: Path) -> str:
    """What a file says to its reader: a document without its programs, a program's docstrings and comments."""
    text = text_of(path)
    if path.suffix == ".md":
        return _FENCE.sub("", text)
    if path.suffix == ".py":
        return "\n".join([*_docstrings(_tree(path)), *_comments(text)])
    return "\n".join(_COMMENT.findall(text))


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def _comments(text: str) -> Iterator[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return (token.string for token in tokens if token.type == tokenize.COMMENT)


def unknown_names(path: Path) -> list[str]:
    """The paths and modules that a file's prose names and that are not there."""
    if not _unknown(text_of(path), where=path):  # to read its prose apart takes longer
        return []
    return sorted(_unknown(prose_of(path), where=path))


def _unknown(text: str, *, where: Path) -> set[str]:
    found = {path for path in _PATH.findall(text) if not is_path(path, where=where)}
    for span in _SPAN.findall(text):
        found |= {path for path in _FOLDER.findall(span) if _is_ours(path) and not is_path(path, where=where)}
        found |= {dotted for dotted in _DOTTED.findall(span) if not is_module(dotted)}
    return found


def _is_ours(folder: str) -> bool:
    return (ROOT / folder.partition("/")[0]).is_dir()


def broken_links(path: Path) -> list[str]:
    """The links of a document that lead to no file."""
    links = [link for link in _LINK.findall(_FENCE.sub("", text_of(path))) if "://" not in link]
    return sorted({link for link in links if not (path.parent / link).exists()})
