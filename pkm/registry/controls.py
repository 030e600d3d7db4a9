"""How a value is entered and shown (pure). What is marked with `_` is kept in English and translated on a page."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class PromptField:
    """That agents are asked for a value, and what the page of an analysis calls it.

    An empty `label` is the label of the value itself. `spelling` is the member's name in the prompt where that is not
    the value's own name, `bounds` what the prompt says of a number, and `aliases` are other names by which agents
    answer; spelling a name in camelCase or with blanks makes it no other name.
    """

    label: str = ""
    spelling: str = ""
    bounds: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Control:
    """`kind` is text, number, yesno, choice (of `options`, value and label), list, or group (of `parts`).

    A text may have options, too: how these words are shown, where somebody wrote them.
    """

    kind: str = "text"
    options: tuple[tuple[str, str], ...] = ()
    parts: tuple["Part", ...] = ()
    autocomplete: str = "off"


TEXT = Control()


@dataclass(frozen=True)
class Part:
    """One value of a group."""

    name: str
    label: str
    control: Control = TEXT
    prompt: PromptField = PromptField()


def spelled(names: str) -> tuple[str, ...]:
    """Names with blanks between them."""
    return tuple(names.split())


def choice(*options: tuple[str, str]) -> Control:
    """One of these values; each has a label."""
    return Control("choice", options=options)


# typed as one likes; agents and files give these words as they stand here
IN_OWN_WORDS = Control(options=(("female", _("Female")), ("male", _("Male")), ("diverse", _("Diverse"))))
NUMBER = Control("number")
LIST = Control("list")
YES_OR_NO = Control("yesno")
HOW_MUCH = choice(("low", _("Low")), ("medium", _("Medium")), ("high", _("High")))
INTENT = Control(
    "group",
    parts=(
        Part("category", _("What for"), prompt=PromptField(_("Category"))),
        Part("budget", _("Budget")),
        Part(
            "time_window",
            _("When"),
            prompt=PromptField(spelling="timeWindow", aliases=("time_frame", "window", "time")),
        ),
        Part("confidence", _("How sure, from 0 to 1"), NUMBER, PromptField(_("Confidence"), bounds="from 0 to 1")),
    ),
)
BRAND_CHOICE = Control(
    "group",
    parts=(
        Part("category_focus", _("Categories"), LIST),
        Part("price_sensitivity", _("How much the price matters")),
        Part("channel", _("Where you buy"), prompt=PromptField(_("Where they buy"))),
    ),
)
