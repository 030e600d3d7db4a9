"""What a set of sentence forms is, and how a form is written out for a value (pure).

`{v}` is the value; a dict gives the words for each value that is not said by its name.
"""

from dataclasses import dataclass
from typing import Any

Form = str | dict[Any, str]


@dataclass(frozen=True)
class FormSet:
    """`traps`: sentences that state nothing of the person, and the values that must not be taken from them."""

    identity: str
    forms: dict[str, tuple[Form, ...]]
    traps: tuple[str, ...]


def written(form: Form, value: Any, name: str) -> str | None:
    """The sentence for a value; None where the form has no words for it."""
    if isinstance(form, dict):
        return form.get(value)
    said = " and ".join(value) if isinstance(value, list) else str(value)
    article = "an" if said[:1].lower() in "aeiou" else "a"
    text = form.replace("{a v}", f"{article} {said}").replace("a {v}", f"{article} {{v}}")
    return text.replace("{v}", said).replace("{name}", name)
