"""The server's modules import in one direction, at every level, and stay short; docs/architecture.md draws them."""

from pathlib import Path
from statistics import median
from textwrap import dedent

import grimp
import pytest

from tests.architecture import graph
from tests.architecture.graph import ROOMS, Arrow, House, Kind, house

MEDIAN_FUNCTION = 6  # lines


def test_no_circle_between_modules() -> None:
    found = graph.module_circles(house())

    assert found == [], "\n\n".join("\n".join(circle) for circle in found)


def test_no_circle_between_what_stands_side_by_side() -> None:
    found = graph.folder_circles(house())

    assert found == {}, "\n\n".join("\n".join(circle) for circles in found.values() for circle in circles)


def test_every_import_that_import_linter_finds_is_an_arrow() -> None:
    """An independent reader of the same source; it does not look through faces, so what comes through one is ours."""
    other = grimp.build_graph(*ROOMS, cache_dir=None)
    ours = house().between()

    seen = {(one, two) for one in ours for two in other.find_modules_directly_imported_by(one) if two in ours}
    arrows = {(one, two) for one, targets in ours.items() for two in targets}
    through_faces = {(one, two) for one, two in arrows - seen if _faces_between(other, one, two)}
    assert seen - arrows == set()
    assert arrows - seen - through_faces == set()
    assert seen


def _faces_between(other: grimp.ImportGraph, one: str, two: str) -> bool:
    faces = house().faces
    return any(two in graph.hands_on(house(), face) for face in other.find_modules_directly_imported_by(one) & faces)


def test_the_document_draws_these_imports() -> None:
    found = graph.drawn(graph.DOCUMENT.read_text())

    assert found == graph.picture(house()), "out of date: run `python -m tests.architecture.graph`"


@pytest.mark.parametrize("room", ROOMS)
def test_functions_are_short(room: str) -> None:
    lengths = graph.function_lengths(house(), room)

    assert lengths
    assert median(lengths) <= MEDIAN_FUNCTION


# -- the reader itself


def built(root: Path, **files: str) -> House:
    """A house of one room `a`, whose files are named with `__` for each folder."""
    for name, text in files.items():
        path = root / "a" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        for folder in [path.parent, *path.parent.parents]:
            if folder.is_relative_to(root / "a"):
                (folder / "__init__.py").touch()
    return House(root, ["a"])


def test_imports_are_told_apart(tmp_path: Path) -> None:
    found = built(
        tmp_path,
        one="""
            from typing import TYPE_CHECKING
            from a import two
            if TYPE_CHECKING:
                from a.three import Name
            else:
                import a.four
            class Holder:
                async def method(self):
                    if self:
                        from .five import name
        """,
        two="", three="Name = 1", four="", five="name = 1",
    )  # fmt: skip

    assert found.arrows == [
        Arrow("a.one", "a.five", Kind.FUNCTION, 11),
        Arrow("a.one", "a.four", Kind.MODULE, 7),
        Arrow("a.one", "a.three", Kind.TYPES, 5),
        Arrow("a.one", "a.two", Kind.MODULE, 3),
    ]


def test_a_face_is_looked_through(tmp_path: Path) -> None:
    (tmp_path / "a" / "models").mkdir(parents=True)
    (tmp_path / "a" / "models" / "__init__.py").write_text(
        "from a.models.left import Left\nfrom a.models.right import Right as R\n\n__all__ = ['Left', 'R']\n"
    )
    found = built(
        tmp_path,
        models__left="class Left: ...",
        models__right="class Right: ...",
        by_name="from a.models import R",
        by_package="from a import models\nmodels.Left()",
        whole="import a.models",
    )

    assert "a.models" not in found.nodes
    assert [(arrow.source, arrow.target) for arrow in found.arrows] == [
        ("a.by_name", "a.models.right"),
        ("a.by_package", "a.models.left"),
        ("a.whole", "a.models.left"),
        ("a.whole", "a.models.right"),
    ]


def test_a_package_with_code_is_a_module(tmp_path: Path) -> None:
    (tmp_path / "a" / "inside").mkdir(parents=True)
    (tmp_path / "a" / "inside" / "__init__.py").write_text("from a.inside.part import value\n\nDOUBLE = value * 2\n")
    found = built(tmp_path, inside__part="value = 1", user="from a.inside import DOUBLE")

    assert found.between() == {"a.inside": {"a.inside.part"}, "a.inside.part": set(), "a.user": {"a.inside"}}


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("from a import one", "at the top"),
        ("def late():\n    from a import one", "in a function"),
        ("import typing\nif typing.TYPE_CHECKING:\n    from a import one", "for types only"),
    ],
)
def test_a_circle_of_modules_is_listed(where: str, kind: str, tmp_path: Path) -> None:
    found = built(tmp_path, one="import a.two", two="import a.three", three=where, four="import a.one")

    [[first, second, third]] = graph.module_circles(found)
    assert first == "a.one → a.two (line 1, at the top)"
    assert second == "a.two → a.three (line 1, at the top)"
    assert third == f"a.three → a.one (line {len(where.splitlines())}, {kind})"


def test_a_circle_of_folders_is_listed_where_no_module_is_in_one(tmp_path: Path) -> None:
    found = built(tmp_path, left__up="import a.right.up", left__down="", right__up="", right__down="import a.left.down")

    assert graph.module_circles(found) == []
    assert graph.folder_circles(found) == {
        "a": [
            [
                "a.left → a.right: a.left.up → a.right.up (line 1, at the top)",
                "a.right → a.left: a.right.down → a.left.down (line 1, at the top)",
            ]
        ]
    }


def test_two_circles_apart_are_two() -> None:
    assert graph.circles({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"e"}, "e": {"c"}, "f": {"f"}, "g": set()}) == [
        ["a", "b", "a"],
        ["c", "d", "e", "c"],
        ["f", "f"],
    ]


def test_arrows_that_follow_from_others_are_left_out() -> None:
    assert graph.reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
    assert graph.reduced({"a": {"b", "c"}, "b": {"a", "c"}, "c": set()}) == {
        "a": {"b", "c"},
        "b": {"a", "c"},
        "c": set(),
    }


def test_the_picture_shows_features_and_what_is_there_for_types(tmp_path: Path) -> None:
    found = built(
        tmp_path,
        upper__views="import a.lower.models",
        lower__models="",
        aside__tasks="def run():\n    from a.lower import models\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import a.upper.views",
        migrations__first="import a.lower.models",
        apps="import a.upper.views",
    )

    assert graph.picture(found).endswith(
        "Inside `a`:\n\n```mermaid\ngraph LR\n    aside -.-> upper\n    upper --> lower\n```"
    )


def test_the_picture_goes_between_its_markers(tmp_path: Path) -> None:
    of = built(tmp_path, one="")
    empty = f"before\n{graph.BEGIN}\n{graph.END}\nafter\n"

    once = graph.redrawn(empty, of)

    assert graph.drawn(once) == graph.picture(of)
    assert graph.redrawn(once, of) == once
    assert (once[:7], once[-7:]) == ("before\n", "\nafter\n")
    with pytest.raises(LookupError):
        graph.drawn("no markers")
