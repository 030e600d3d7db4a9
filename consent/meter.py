"""What limits one call has met, for the headers of its answer."""

import dataclasses

from common.limits import Count


@dataclasses.dataclass
class Meter:
    """What limits one call has met, for the headers of its answer; `hint` is what the app says of its own caller."""

    hint: str = ""
    counts: dict[str, Count] = dataclasses.field(default_factory=dict)  # by the limit's name: the newest standing
    spent: bool = False  # whether the app's hourly budget was spent on this call

    def note(self, count: Count) -> None:
        self.counts[count.limit.name] = count
