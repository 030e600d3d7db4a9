"""Who imports whom among the server's packages, read from the source without running it.

Every import counts: at the top of a module, inside a function, and under TYPE_CHECKING. A module that only hands names
on (a package's `__init__` with imports and `__all__`) is a face: an import of one of its names is an import of the
module that defines the name, and the face itself is no node.

`python -m tests.architecture.graph` writes the picture into docs/architecture.md.
"""

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("config", "portal", "agents_proxy", "consent", "developers", "pkm", "accounts", "common")
DOCUMENT = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- imports: begin -->", "<!-- imports: end -->"
NO_FEATURES = {"migrations", "management", "templatetags"}  # folders whose names are Django's

Graph = Mapping[str, set[str]]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(StrEnum):
    """Where an import stands."""

    MODULE = "at the top"
    FUNCTION = "in a function"
    TYPES = "for types only"


class Import(NamedTuple):
    """One name that a module imports, as it is written: `from base import name as alias`, or `import base`."""

    base: str
    name: str
    alias: str
    kind: Kind
    line: int


class Arrow(NamedTuple):
    """One module imports another."""

    source: str
    target: str
    kind: Kind
    line: int

    def __str__(self) -> str:
        return f"{self.source} → {self.target} (line {self.line}, {self.kind})"


class Module:
    """One file of the tree."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.is_package = path.name == "__init__.py"
        self.text = path.read_text()
        self.tree = ast.parse(self.text)
        reader = _Reader(name if self.is_package else name.rpartition(".")[0])
        reader.visit(self.tree)
        self.imports = reader.found

    @property
    def is_face(self) -> bool:
        """Whether it only hands names on; a file that is no `__init__` says so by `__all__`."""
        body = [node for node in self.tree.body if not _is_docstring(node)]
        lists = [node for node in body if _is_all(node)]
        only = all(isinstance(node, ast.Import | ast.ImportFrom) or node in lists for node in body)
        return only and (self.is_package or bool(lists))

    @property
    def functions(self) -> Iterator[FunctionNode]:
        return (node for node in ast.walk(self.tree) if isinstance(node, FunctionNode))

    def attributes_of(self, alias: str) -> set[str]:
        """What is used of an imported package: `alias.name`."""
        return {
            node.attr
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == alias
        }


class _Reader(ast.NodeVisitor):
    """Every import of a module, with where it stands."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.kind = Kind.MODULE
        self.found: list[Import] = []

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        kind = Kind.TYPES if self.kind is Kind.TYPES else Kind.FUNCTION
        self._within(kind, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # the name is given by ast

    def visit_If(self, node: ast.If) -> None:
        typing = ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        self._within(Kind.TYPES if typing else self.kind, node.body)
        self._within(self.kind, node.orelse)

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self.found.append(Import(name.name, "", name.asname or "", self.kind, node.lineno))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1]
            base = ".".join([*above, base]).strip(".")
        for name in node.names:
            self.found.append(Import(base, name.name, name.asname or name.name, self.kind, node.lineno))

    def _within(self, kind: Kind, body: Iterable[ast.stmt]) -> None:
        before, self.kind = self.kind, kind
        for node in body:
            self.visit(node)
        self.kind = before


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]


class House:
    """The modules of some packages, and the arrows between them."""

    def __init__(self, root: Path, packages: Iterable[str]) -> None:
        paths = sorted(path for package in packages for path in (root / package).rglob("*.py"))
        named = {_dotted(path.relative_to(root)): path for path in paths if "migrations" not in path.parts}
        self.modules = {name: Module(name, path) for name, path in named.items()}
        self.faces = {name for name, module in self.modules.items() if module.is_face}
        self.nodes = sorted(self.modules.keys() - self.faces)
        self.arrows = sorted({arrow for name in self.nodes for arrow in self._arrows(self.modules[name])})

    def _arrows(self, module: Module) -> Iterator[Arrow]:
        for found in module.imports:
            for target in self._targets(module, found):
                if target != module.name:
                    yield Arrow(module.name, target, found.kind, found.line)

    def _targets(self, module: Module, found: Import) -> set[str]:
        """The modules that one import means, looked up through faces."""
        whole = f"{found.base}.{found.name}" if found.name else found.base
        if whole not in self.modules:
            return self._definers(found.base, found.name)
        if whole not in self.faces:
            return {whole}
        names = module.attributes_of(found.alias) or {"*"}
        return {target for name in names for target in self._definers(whole, name)}

    def _definers(self, base: str, name: str) -> set[str]:
        """The module that defines `name` of `base`; all that a face hands on where that cannot be told."""
        if base not in self.modules:
            return set()
        if base not in self.faces:
            return {base}
        face = self.modules[base]
        handed = [one for one in face.imports if one.alias == name] or (face.imports if name == "*" else [])
        return {target for one in handed for target in self._targets(face, one)}

    def between(self, arrows: Iterable[Arrow] | None = None) -> dict[str, set[str]]:
        """Module → the modules that it imports."""
        graph: dict[str, set[str]] = {name: set() for name in self.nodes}
        for arrow in self.arrows if arrows is None else arrows:
            graph[arrow.source].add(arrow.target)
        return graph

    def siblings(self, package: str = "") -> dict[tuple[str, str], list[Arrow]]:
        """The arrows between what stands side by side in a package, a folder as one node; the rooms for ""."""
        found: dict[tuple[str, str], list[Arrow]] = {}
        for arrow in self.arrows:
            pair = _child(package, arrow.source), _child(package, arrow.target)
            if all(pair) and pair[0] != pair[1]:
                found.setdefault(pair, []).append(arrow)
        return found

    def packages(self) -> list[str]:
        """Everything that has something in it, "" for the rooms themselves."""
        return sorted({"", *(name.rpartition(".")[0] for name in self.modules)})

    def features(self, room: str) -> list[str]:
        """A room's folders that are its own subjects."""
        inside = {_child(room, name) for name in self.nodes if name.count(".") > room.count(".") + 1}
        return sorted(name for name in inside if name and name.rpartition(".")[2] not in NO_FEATURES)


def hands_on(of: House, face: str) -> set[str]:
    """The modules whose names a face hands on."""
    return of._definers(face, "*")


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _child(package: str, name: str) -> str:
    """What stands directly in `package` and holds the module `name`, or is it; "" where it is elsewhere."""
    inside = f"{package}." if package else ""
    return inside + name.removeprefix(inside).partition(".")[0] if name.startswith(inside) and name != inside else ""


@cache
def house() -> House:
    """The server's own."""
    return House(ROOT, ROOMS)


# -- circles


def circles(graph: Graph) -> list[list[str]]:
    """A shortest circle for each knot of nodes that reach each other, from its first name round to it again."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return _knotted(graph)
    return []


def _knotted(graph: Graph) -> list[list[str]]:
    reach = {node: _reached(graph, node) for node in graph}
    knots = {
        frozenset({other for other in reach[node] if node in reach[other]}) for node in graph if node in reach[node]
    }
    return sorted(min((_way(graph, node, node) for node in sorted(knot)), key=len) for knot in knots)


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = deque(graph[start])
    while waiting:
        node = waiting.popleft()
        if node not in seen:
            seen.add(node)
            waiting.extend(graph.get(node, ()))
    return seen


def _way(graph: Graph, start: str, end: str) -> list[str]:
    """The shortest way, both ends included; the first by name of those as short."""
    waiting, seen = deque([[start]]), set[str]()
    while waiting:
        way = waiting.popleft()
        for node in sorted(graph.get(way[-1], ())):
            if node == end:
                return [*way, node]
            if node not in seen:
                seen.add(node)
                waiting.append([*way, node])
    return []


def module_circles(of: House) -> list[list[str]]:
    """Each circle as its arrows, in words."""
    first = {(arrow.source, arrow.target): arrow for arrow in reversed(of.arrows)}
    return [[str(first[pair]) for pair in pairwise(way)] for way in circles(of.between())]


def folder_circles(of: House) -> dict[str, list[list[str]]]:
    """Package → its circles between what stands side by side in it; for each step, the arrows that make it."""
    found = {package: _sibling_circles(of.siblings(package)) for package in of.packages()}
    return {package: ways for package, ways in found.items() if ways}


def _sibling_circles(arrows: Mapping[tuple[str, str], list[Arrow]]) -> list[list[str]]:
    return [
        [f"{one} → {two}: {'; '.join(map(str, arrows[one, two]))}" for one, two in pairwise(way)]
        for way in circles(_graph(arrows))
    ]


def _graph(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for one, two in pairs:
        graph.setdefault(one, set()).add(two)
        graph.setdefault(two, set())
    return graph


# -- lengths


def function_lengths(of: House, room: str) -> list[int]:
    """Lines from `def` to the last one, of every function in a room."""
    inside = [module for name, module in of.modules.items() if f"{name}.".startswith(f"{room}.")]
    return [(node.end_lineno or node.lineno) - node.lineno + 1 for module in inside for node in module.functions]


# -- the picture


def picture(of: House) -> str:
    """What stands between the markers: the rooms, then each room whose features import one another."""
    rooms = sorted({_child("", name) for name in of.nodes})
    parts = ["### What imports what", _CAPTION, _diagram(rooms, of.siblings())]
    for room in rooms:
        features = of.features(room)
        if any(set(pair) <= set(features) for pair in of.siblings(room)):
            parts += [f"Inside `{room}`:", _diagram(features, of.siblings(room))]
    return "\n\n".join(parts)


_CAPTION = """Drawn from the source by `python -m tests.architecture.graph`. An arrow points to what is imported; one
that follows from others is left out; a dotted one is there for types only."""


def _diagram(nodes: list[str], arrows: Mapping[tuple[str, str], list[Arrow]]) -> str:
    drawn = {pair: found for pair, found in arrows.items() if set(pair) <= set(nodes)}
    kept = reduced(_graph(drawn))
    alone = [node for node in nodes if not any(node in pair for pair in drawn)]
    lines = [f"    {_label(node)}" for node in alone]
    for one, two in sorted(pair for pair in drawn if pair[1] in kept[pair[0]]):
        dotted = {arrow.kind for arrow in drawn[one, two]} == {Kind.TYPES}
        lines.append(f"    {_label(one)} {'-.->' if dotted else '-->'} {_label(two)}")
    return "\n".join(["```mermaid", "graph LR", *lines, "```"])


def _label(node: str) -> str:
    return node.rpartition(".")[2]


def reduced(graph: Graph) -> dict[str, set[str]]:
    """Without the arrows that follow from others; a graph with a circle is left as it is."""
    if circles(graph):
        return {node: set(targets) for node, targets in graph.items()}
    beyond = {node: _reached(graph, node) for node in graph}
    return {
        node: {target for target in targets if not any(target in beyond[other] for other in targets)}
        for node, targets in graph.items()
    }


def drawn(document: str) -> str:
    """The picture that a document holds between the markers."""
    return _split(document)[1].strip()


def redrawn(document: str, of: House) -> str:
    """The document with the picture of now."""
    before, _, after = _split(document)
    return f"{before}{BEGIN}\n\n{picture(of)}\n\n{END}{after}"


def _split(document: str) -> tuple[str, str, str]:
    before, begun, rest = document.partition(BEGIN)
    text, ended, after = rest.partition(END)
    if not begun or not ended:
        raise LookupError(f"the document holds no {BEGIN} … {END}")
    return before, text, after


if __name__ == "__main__":
    DOCUMENT.write_text(redrawn(DOCUMENT.read_text(), house()))
