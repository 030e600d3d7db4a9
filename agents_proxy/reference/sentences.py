"""The clauses in which a text states something of the person (pure).

This is no grammar. It errs on the side of silence: a clause that it cannot place says nothing, so that no profile says
the opposite of the text. Questions, conditions and what is said of other people state nothing of the person.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents_proxy.reference.words import (
    BREAK,
    FINITE,
    GOES_ON,
    IDLE,
    NAMED,
    NO_NAME,
    OTHERS,
    POLITE,
    QUESTION,
    REPORTED,
    VEIL,
)

_LONGEST = 1000  # characters of a sentence; what is longer is none
_SENTENCE = re.compile(r"([^\n;.!?]+(?:[.!?](?=[\w@])[^\n;.!?]*)*)([.!?]*)")
_PRONOUN = re.compile(r"\b(?:(?P<she>she|her)|(?P<he>he|his|him)|(?P<they>they|their))\b", re.I)
_JOINT = re.compile(r"(?:and|or|but|while|because|though|although)\s+", re.I)


@dataclass(frozen=True)
class Clause:
    """What is stated of the person. `plain`: the subject takes verbs without an s ("I like")."""

    text: str
    plain: bool

    def veiled(self, at: int) -> bool:
        """Whether a word before this place keeps what stands there from being a plain statement of the person."""
        return any(found and found.start() < at for found in (VEIL.search(self.text), OTHERS.search(self.text)))


@dataclass(frozen=True)
class _Talk:
    """Who is spoken of. `pronoun`: the person's; `others`: those of whoever else is spoken of just now."""

    names: frozenset[str]
    pronoun: str
    own: bool = True
    plain: bool = False
    others: frozenset[str] = frozenset()

    def turned(self, head: str, earlier: str) -> "_Talk":
        """Who the next clause is about. `head`: what stands before its verb; `earlier`: its sentence before it."""
        head = _JOINT.sub("", head.strip(), count=1).rsplit(":", 1)[-1].strip()
        first = re.split(r"['\u2019\s,]", head.lower(), maxsplit=1)[0]
        if relation := OTHERS.search(earlier if first == "who" else head):
            return self._away(*([relation.lastgroup] if relation.lastgroup else ("she", "he", "they")))
        if (named := NAMED.search(head)) and not NO_NAME.match(named[0]):
            hearsay = not self.names and REPORTED.search(head)
            return self._away("she", "he") if hearsay else self._named(frozenset(named[0].lower().split()))
        match first:
            case "i":
                return self._back(plain=True)
            case "we" | "you" | "it" | "whose":
                return self._away("she", "he")
            case "she" | "he" | "they":
                meant = first == self.pronoun and first not in self.others
                return self._back(plain=first == "they") if meant else self._away(first)
        return self

    def _back(self, *, plain: bool = False) -> "_Talk":
        return replace(self, own=True, plain=plain, others=frozenset())

    def _away(self, *pronouns: str) -> "_Talk":
        return replace(self, own=False, plain=False, others=self.others | {*pronouns})

    def _named(self, names: frozenset[str]) -> "_Talk":
        """The first name in a text that tells none is the person's."""
        if self.names and not any(_alike(one, other) for one in names for other in self.names):
            return self._away("she", "he")
        return replace(self._back(), names=self.names or names)


def clauses(text: str, name: str = "") -> Iterator[Clause]:
    """The clauses of `text` about the person, who has this name where it is known."""
    text = GOES_ON.sub(r"\1 ", text)
    talk = _Talk(frozenset(name.lower().split()), _pronoun(text))
    for sentence in _SENTENCE.finditer(text):
        said = " ".join(sentence[1].split())
        told = POLITE.sub("", said, count=1)
        asked = told == said and ("?" in sentence[2] or QUESTION.match(said))
        if asked or len(told) > _LONGEST or IDLE.search(told):
            continue
        start = 0
        for end, following in [*(found.span() for found in BREAK.finditer(told)), (len(told), 0)]:
            clause = told[start:end]
            talk = talk.turned(_head(clause), told[:start])
            if talk.own:
                yield Clause(clause, talk.plain)
            start = following


def _head(clause: str) -> str:
    """What stands before the verb. Without one, the words may name whom the next clause is about ("Tom, her son,")."""
    if verb := FINITE.search(clause):
        return clause[: verb.start()]
    relation = OTHERS.search(clause)
    return clause if relation and relation.lastgroup else ""


def _pronoun(text: str) -> str:
    """The person's: the first of the text, unless somebody else was mentioned before it."""
    found, other = _PRONOUN.search(text), OTHERS.search(text)
    if found is None or (other and (other.start() < found.start() or found.lastgroup == "they")):
        return ""
    return str(found.lastgroup)


def _alike(one: str, other: str) -> bool:
    """Whether two words may be one name: the same, or the beginning of it."""
    return one == other or (min(len(one), len(other)) > 2 and (one.startswith(other) or other.startswith(one)))
