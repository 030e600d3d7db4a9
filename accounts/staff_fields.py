"""Form fields of the staff's pages: a list that is written one entry to a line, and a length of time in words."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.durations import duration

_UNITS = ((86400, _("days")), (3600, _("hours")), (60, _("minutes")), (1, _("seconds")))


class LinesField(forms.CharField):
    """A list of texts, one to a line; blank lines and blanks around an entry are left out."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", forms.Textarea(attrs={"rows": 8, "cols": 60, "spellcheck": "false"}))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # a list, as the column keeps it
        lines = value if isinstance(value, list) else str(value or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)

    def run_validators(self, value: Any) -> None:
        """Those of a text mean nothing to a list."""


class _AmountAndUnit(forms.MultiWidget):
    """A number, and what it counts."""

    def __init__(self) -> None:
        super().__init__(
            [
                forms.NumberInput(attrs={"min": 1, "aria-label": _("How many")}),
                forms.Select(choices=[(str(size), unit) for size, unit in _UNITS], attrs={"aria-label": _("Unit")}),
            ]
        )

    def decompress(self, value: Any) -> list[Any]:
        if not value:
            return [None, str(_UNITS[0][0])]
        size = next(size for size, _unit in _UNITS if int(value) % size == 0)
        return [int(value) // size, str(size)]


class DurationField(forms.MultiValueField):
    """A length of time between `shortest` and `longest` as a number and a unit; its value is in seconds."""

    widget = _AmountAndUnit

    def __init__(self, *, shortest: int, longest: int, **kwargs: Any) -> None:
        self.shortest, self.longest = shortest, longest
        fields = (
            forms.IntegerField(min_value=1),
            forms.TypedChoiceField(choices=[(str(size), unit) for size, unit in _UNITS], coerce=int),
        )
        super().__init__(fields, **kwargs)

    def compress(self, data_list: Sequence[Any]) -> int | None:
        if not data_list:
            return None
        seconds = int(data_list[0]) * int(data_list[1])
        if not self.shortest <= seconds <= self.longest:
            words = {"shortest": duration(self.shortest), "longest": duration(self.longest)}
            raise forms.ValidationError(gettext("Choose %(shortest)s to %(longest)s.") % words)
        return seconds
