"""One row of the registry against the starter list (pure): what to write, what to remember, what to report.

Three versions are compared, as in a merge: the row, the list, and what was written when the list was last brought here.

- A value that is as it was last written is the list's, and follows it. Any other is the staff's, and is kept.
- Attributes are compared one by one. What is new in the list is added, also where staff changed the rest; what staff
  left out or added stays so.
- Nothing is taken away: people may keep such data and apps may have it. What has left the list is reported, for staff
  to withdraw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["added", "changed", "kept", "gone"]


@dataclass(frozen=True)
class Line:
    """One line of the diff; `key` is a domain's key or a scope."""

    kind: Kind
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind:<8} {self.key}: {self.text}"


@dataclass
class Comparison:
    """`write` are the row's fields to change, `remember` is what is then known to be written by the list."""

    write: dict[str, Any] = field(default_factory=dict)
    remember: dict[str, Any] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


def compare(
    key: str, *, row: Mapping[str, Any], written: Mapping[str, Any], wanted: Mapping[str, Any], fields: Sequence[str]
) -> Comparison:
    """What brings the `fields` of this row to the list. `written` is empty for a row that staff made first."""
    found = Comparison()
    for name in fields:
        if name == "attributes":
            _compare_attributes(key, row[name], written.get(name, []), wanted[name], found)
        elif row[name] == wanted[name]:
            found.remember[name] = wanted[name]
        elif name in written and row[name] == written[name]:
            found.write[name] = found.remember[name] = wanted[name]
            found.lines.append(Line("changed", key, f"{name}: {row[name]!r} becomes {wanted[name]!r}"))
        else:
            found.remember |= {name: written[name]} if name in written else {}
            found.lines.append(Line("kept", key, f"{name}: staff have {row[name]!r}, the list has {wanted[name]!r}"))
    return found


def _compare_attributes(key: str, now: list[str], then: list[str], new: list[str], found: Comparison) -> None:
    added = [path for path in new if path not in then]
    gone = [path for path in then if path not in new]
    untouched = now == then
    # in the list's order where nothing else is in the row; at the end, where staff or the past have their own
    result = new if untouched and not gone else [*now, *(path for path in added if path not in now)]
    found.remember["attributes"] = result if untouched else [*then, *added]
    if result != now:
        found.write["attributes"] = result
        found.write["segment_ids"] = segments_of(result)
    differences: tuple[tuple[Kind, str, list[str]], ...] = (
        ("changed", "attributes gain", [path for path in result if path not in now]),
        ("kept", "attributes that staff left out", [path for path in new if path not in result]),
        ("kept", "attributes that staff added", [path for path in result if path not in (*new, *then)]),
        ("gone", "attributes that are no longer in the list", [path for path in gone if path in result]),
    )
    found.lines += [Line(kind, key, f"{text}: {', '.join(paths)}") for kind, text, paths in differences if paths]
    if result != now and sorted(result) == sorted(now):
        found.lines.append(Line("changed", key, "attributes: in the list's order"))


def segments_of(paths: Sequence[str]) -> list[str]:
    """The segments of these attributes, in their order."""
    return list(dict.fromkeys(path.rpartition(".")[0] for path in paths))
