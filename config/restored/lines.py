"""What a check says: one line for each thing that was looked at."""

from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    PASSES = "holds"
    FAILS = "FAILS"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Line:
    """`part` is what was looked at, in a word or two, and `said` what was found, with what to do where it fails."""

    mark: Mark
    part: str
    said: str

    def __str__(self) -> str:
        return f"{self.mark.value:<9} {self.part}: {self.said}"


def passes(part: str, said: str) -> Line:
    return Line(Mark.PASSES, part, said)


def fails(part: str, said: str) -> Line:
    return Line(Mark.FAILS, part, said)


def left_out(part: str, said: str) -> Line:
    """What cannot be looked at here, and why."""
    return Line(Mark.LEFT_OUT, part, said)
