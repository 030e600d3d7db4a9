"""What a check says: one line for each thing that was looked at."""

from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    PASSES = "holds"
    FAILS = "FAILS"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Line:
    """`part` is what was looked at, in a word or two, and `text` what was found, with what to do where it fails."""

    mark: Mark
    part: str
    text: str

    def __str__(self) -> str:
        return f"{self.mark.value:<9} {self.part}: {self.text}"


def passes(part: str, text: str) -> Line:
    return Line(Mark.PASSES, part, text)


def fails(part: str, text: str) -> Line:
    return Line(Mark.FAILS, part, text)


def left_out(part: str, text: str) -> Line:
    """What cannot be looked at here, and why."""
    return Line(Mark.LEFT_OUT, part, text)
