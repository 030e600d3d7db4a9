"""The clauses of a text that state something about the person (pure).

This is a heuristic, not a grammar. A clause that it cannot attribute is ignored, so that a profile never says the
opposite of the text. Questions, conditions and statements about other people are ignored as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from examples.reference_agents.patterns import (
    CLAUSE_BOUNDARY,
    FINITE_VERB,
    LINE_CONTINUATION,
    NAME_BEFORE_VERB,
    NON_STATEMENT,
    NOT_A_NAME,
    OTHER_PERSON,
    POLITE_REQUEST,
    QUALIFIER,
    QUESTION,
    REPORTING_VERB,
)

_MAX_SENTENCE_LENGTH = 1000  # characters; a longer sentence is ignored
_SENTENCE = re.compile(r"([^\n;.!?]+(?:[.!?](?=[\w@])[^\n;.!?]*)*)([.!?]*)")
_PRONOUN = re.compile(r"\b(?:(?P<she>she|her)|(?P<he>he|his|him)|(?P<they>they|their))\b", re.I)
_CONJUNCTION = re.compile(r"(?:and|or|but|while|because|though|although)\s+", re.I)


@dataclass(frozen=True)
class Clause:
    """A statement about the person. `takes_base_form`: its subject takes verbs without an s ("I like")."""

    text: str
    takes_base_form: bool

    def is_qualified_before(self, position: int) -> bool:
        """Whether an earlier word negates, qualifies or attributes to somebody else what stands at `position`."""
        matches = (QUALIFIER.search(self.text), OTHER_PERSON.search(self.text))
        return any(match and match.start() < position for match in matches)


@dataclass(frozen=True)
class _Topic:
    """Whom the text is about at one point.

    `names` and `pronoun` are the person's own; `others`: the pronouns that refer to somebody else at this point.
    """

    names: frozenset[str]
    pronoun: str
    is_person: bool = True
    takes_base_form: bool = False
    others: frozenset[str] = frozenset()

    def next_topic(self, head: str, earlier: str) -> "_Topic":
        """Whom the next clause is about. `head`: its text before the verb; `earlier`: the sentence up to the clause."""
        head = _CONJUNCTION.sub("", head.strip(), count=1).rsplit(":", 1)[-1].strip()
        first = re.split(r"['\u2019\s,]", head.lower(), maxsplit=1)[0]
        if relation := OTHER_PERSON.search(earlier if first == "who" else head):
            return self._somebody_else(*([relation.lastgroup] if relation.lastgroup else ("she", "he", "they")))
        if (named := NAME_BEFORE_VERB.search(head)) and not NOT_A_NAME.match(named[0]):
            if not self.names and REPORTING_VERB.search(head):
                return self._somebody_else("she", "he")
            return self._named_person(frozenset(named[0].lower().split()))
        match first:
            case "i":
                return self._the_person(takes_base_form=True)
            case "we" | "you" | "it" | "whose":
                return self._somebody_else("she", "he")
            case "she" | "he" | "they":
                if first == self.pronoun and first not in self.others:
                    return self._the_person(takes_base_form=first == "they")
                return self._somebody_else(first)
        return self

    def _the_person(self, *, takes_base_form: bool = False) -> "_Topic":
        return replace(self, is_person=True, takes_base_form=takes_base_form, others=frozenset())

    def _somebody_else(self, *pronouns: str) -> "_Topic":
        return replace(self, is_person=False, takes_base_form=False, others=self.others | {*pronouns})

    def _named_person(self, names: frozenset[str]) -> "_Topic":
        """Where the person's name is unknown, the first name in the text is taken for it."""
        if self.names and not any(_same_name(one, other) for one in names for other in self.names):
            return self._somebody_else("she", "he")
        return replace(self._the_person(), names=self.names or names)


def find_clauses(text: str, name: str = "") -> Iterator[Clause]:
    """The clauses of `text` about the person called `name`; empty where the name is unknown."""
    text = LINE_CONTINUATION.sub(r"\1 ", text)
    topic = _Topic(frozenset(name.lower().split()), _pronoun(text))
    for match in _SENTENCE.finditer(text):
        sentence = _statement(match)
        start = 0
        for end, following in _boundaries(sentence):
            clause = sentence[start:end]
            topic = topic.next_topic(_head(clause), sentence[:start])
            if topic.is_person:
                yield Clause(clause, topic.takes_base_form)
            start = following


def _statement(match: re.Match[str]) -> str:
    """The sentence without a polite request before it; empty where it states nothing."""
    sentence = " ".join(match[1].split())
    statement = POLITE_REQUEST.sub("", sentence, count=1)
    is_question = statement == sentence and ("?" in match[2] or QUESTION.match(sentence))
    if is_question or len(statement) > _MAX_SENTENCE_LENGTH or NON_STATEMENT.search(statement):
        return ""
    return statement


def _boundaries(sentence: str) -> Iterator[tuple[int, int]]:
    """The end of each clause, and where the next one starts; none where the sentence is empty."""
    if sentence:
        yield from (match.span() for match in CLAUSE_BOUNDARY.finditer(sentence))
        yield len(sentence), 0


def _head(clause: str) -> str:
    """The text before the verb. A clause without a verb may say whom the next one is about ("Tom, her son,")."""
    if verb := FINITE_VERB.search(clause):
        return clause[: verb.start()]
    relation = OTHER_PERSON.search(clause)
    return clause if relation and relation.lastgroup else ""


def _pronoun(text: str) -> str:
    """The person's pronoun: the first in the text, unless somebody else is mentioned before it."""
    found, other = _PRONOUN.search(text), OTHER_PERSON.search(text)
    if found is None or (other and (other.start() < found.start() or found.lastgroup == "they")):
        return ""
    return str(found.lastgroup)


def _same_name(one: str, other: str) -> bool:
    """Whether two words may be the same name: equal, or one is the beginning of the other."""
    return one == other or (min(len(one), len(other)) > 2 and (one.startswith(other) or other.startswith(one)))
