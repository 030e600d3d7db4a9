"""How an app's traffic is drawn on its overview."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from developers.request_log.figures import Slot, Traffic

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_WIDTH, _HEIGHT = 600, 120  # of the drawing, without its axes
_GAP = 0.2  # of a column


@dataclass(frozen=True)
class Column:
    """A slot as two bars, the failed part at the foot; places and lengths are units of the drawing."""

    slot: Slot
    x: float
    width: float
    y: float
    height: float
    failed_y: float
    failed_height: float


@dataclass(frozen=True)
class Span:
    """A span of time with its traffic; `unit` is `hours` or `days`."""

    title: "StrOrPromise"
    unit: str
    traffic: Traffic

    @property
    def most(self) -> int:
        """What the height of the drawing stands for."""
        return max(slot.calls for slot in self.traffic.slots) or 1

    @property
    def columns(self) -> list[Column]:
        step = _WIDTH / len(self.traffic.slots)
        drawn = []
        for number, slot in enumerate(self.traffic.slots):
            height, failed = (_HEIGHT * part / self.most for part in (slot.calls, slot.failed))
            x, width = step * (number + _GAP / 2), step * (1 - _GAP)
            drawn.append(Column(slot, x, width, _HEIGHT - height, height, _HEIGHT - failed, failed))
        return drawn

    @property
    def failed_share(self) -> int:
        """Per cent of the calls that were refused or failed."""
        return round(100 * self.traffic.failed / self.traffic.calls) if self.traffic.calls else 0
