"""The clauses of a text that state something about the person (pure).

This is a heuristic, not a grammar. A clause that it cannot attribute is ignored, so that a profile never says the
opposite of the text. Questions, conditions and statements about other people are ignored as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from examples.reference_agents.labels import FIELD_OF, in_plain_order

NEGATED_VERB = r"(?:\w+n['\u2019]t|(?:do|does|did|is|are|was|has|ca|wo)nt)"
# words after which the rest of the clause is not a fact about now: negated, past, possible or intended
QUALIFIER = re.compile(
    rf"\b(?:not|{NEGATED_VERB}|never|no|nor|neither|none|nobody|nothing|anything|without|cannot|all but|hardly|barely"
    r"|rarely|seldom|scarcely|(?:almost|nearly)(?! (?:all|every\w*|always|only|exclusively)\b)|instead|rather|than"
    r"|unlike(?:ly)?|refuses?|stop(?:s|ped)?|quit|was(?! awarded)|were|(?<!has )(?<!have )been"
    r"|used to|formerly|previously|once|until|would|could|should|might|maybe|perhaps|possibly|probably|allegedly"
    r"|wants? to|hopes|hoping|plans? to|wish(?:es)?|going to|intends?|dreams?|getting|consider\w*|pretends?"
    r"|seems?|supposedly|apparently|reportedly|rumou?r\w*|is said|g[ai]ves? up|given up|about to|has yet to|tr(?:y"
    r"|ies|ied)"
    r"|tempted|thinking of|undecided|cancel\w*|expired|lapsed|sold|tired of|years ago|in her youth|at \d\d (?:she|he"
    r"|they|i)|(?:people|those|anybody|anyone|some\w+) who)\b|\w['\u2019](?:d|ll)\b|\b(?-i:may"
    r"|will)\b",  # May and Will are names too
    re.I,
)
# a sentence with one of these states nothing: a condition, a denial of the whole sentence, a request to delete
NON_STATEMENT = re.compile(
    r"\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|in case|guess|ask|untrue|false|wrong|doubts?"
    r"|den(?:y|ies|ied)|remove|delete|forget|(?:some|people|they|others|many) (?:say|think|believe))\b"
    rf"|\b(?:not|{NEGATED_VERB}) (?:true|correct|right|the case|think|believe|know|say|mean)\b",
    re.I,
)
POLITE_REQUEST = re.compile(
    r"(?:please )?(?:can|could|would|will) you (?:please )?(?:add|build|change|create|make|note|record|save|set|update"
    r"|write)\b",
    re.I,
)
QUESTION = re.compile(
    r"\W*(?i:is|are|does|do|did|was|were|has|have|had|should|can|am) (?:(?i:she|he|they|i|it|you|her|his)\b|[A-Z])"
)
# a line that ends in one of these words continues in the next line, where it is no label's value
LINE_CONTINUATION = re.compile(
    rf"(?<![:=] )\b(she|he|they|i|not|{NEGATED_VERB}|never|no|longer|without|does|do|is|if|whether|unless|her|his"
    r"|their|my)[ \t]*\n\s*",
    re.I,
)

_AUXILIARY = (
    r"(?i:is|are|am|was|were|has|have|had|does|do|did|can|cannot|will|would|could|should|might"
    rf"|{NEGATED_VERB})\b"
)
_MAIN_VERB = (
    r"(?i:likes?|loves?|enjoys?|adores?|prefers?|dislikes?|hates?|avoids?|detests?|loathes?|lives|resides"
    r"|works|wants|needs"
    r"|owns|drives|buys|eats|drinks|plays|speaks|uses|wears|reads|watches|travels|studies|studied|moved|spends|cooks"
    r"|includes?|goes|takes|rents|shops|dreams|commutes|holds|earns|follows|identifies|gets|went|lost|became|stays"
    r"|stayed|pays|heads|makes|keeps|finds)\s*:?\s+(?=\S)"
)
_CONTRACTION = (
    r"(?i:(?:(?<=\bshe)|(?<=\bhe)|(?<=\bit)|(?<=\bwho))['\u2019]s|(?<=\bi)['\u2019]m|(?<=\bthey)['\u2019]re)\b"
)
_VERB = rf"(?:{_AUXILIARY}|{_MAIN_VERB})"
FINITE_VERB = re.compile(rf"\b{_VERB}|{_CONTRACTION}|(?i:(?<=\bshe )|(?<=\bhe ))\w+s\b")
_SUBJECT = (
    r"(?:(?i:she|he|they|i|we|you|it|who|(?:her|his|their|my|our|whose|the|an?|\w+['\u2019]s) \w+(?: \w+)?)\b"
    r"|[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,2})"
)
PREFERENCE_VERB = re.compile(
    r"\b(?P<verb>(?P<likes>likes?|liked|loves?|enjoys?|adores?|fond of|keen on|passionate about|enthusiastic about"
    r"|fan of|pleasure in|delights in|joy in|soft spot for|weakness for|love (?:for|of)|fondness for|passion for"
    r"|crazy about|mad about"
    r"|(?:cannot|can['\u2019]t) get enough of|appreciates|cherishes|treasures|lover of|partial to|taken with|has a"
    r" liking for)"
    r"|little patience for|no (?:patience|time|liking|love) (?:with|for)|(?:can|could) do without|put off by"
    r"|bothered by|irritated by|sick of|tired of|fed up with|resents|no fan of"
    r"|(?:not|\w+n['\u2019]t) (?:much of )?a (?:great |big )?fan of|dislike (?:of|for)|dislikes?|hates?|avoids?"
    r"|detests?|loathes?|despises?|aversion to|annoyed by|(?:cannot|can not|can['\u2019]t) (?:stand|bear))\b"
    r"(?P<label>\s*:)?\s+(?=\S)",
    re.I,
)
_ADVERB = r"(?i:also|still|really|now|currently|always|often|never|no longer|usually|mostly|only|not)"
# a clause ends at "but", and before words that have a verb of their own
CLAUSE_BOUNDARY = re.compile(
    r"(?<!(?i:anything))(?<!(?i:nothing))(?<!(?i:everything))(?<!(?i:none))(?<!(?i:all)),? (?i:but) "
    r"|(?:, ?(?i:and |or |while |though |although |because )?"
    r"| (?i:and|or|while|though|although|because) | (?=(?i:who)\b))"
    rf"(?=(?:{_SUBJECT} )?(?:{_ADVERB} )*{_VERB}|(?i:she|he|who)['\u2019]s\b|(?i:i['\u2019]m|they['\u2019]re)\b)"
)

# "who" after a comma or a name, or such a word, is the person; after "a widow" or "people" it is not
_WHO_IS_THE_PERSON = re.compile(
    r"(?:,|\b[A-Z][\w'\u2019-]*|\b(?:customer|user|client|person|member|guest|woman|man))\s*$"
)
# what two do together the person does
_WITH_A_PARTNER = re.compile(r"(?:she|he|i) and (?:her|his|my) (?:partner|husband|wife|girlfriend|boyfriend)$", re.I)
_MALE_RELATIONS = r"brothers?|fathers?|dads?|husband|sons?|uncles?|boyfriend|grandfathers?|nephews?"
_FEMALE_RELATIONS = r"sisters?|mothers?|mums?|moms?|wife|daughters?|aunts?|girlfriend|grandmothers?|nieces?"
_OTHER_RELATIONS = (
    r"friends?|partner|spouse|cousins?|colleagues?|boss|neighbou?rs?|flatmates?|roommates?|baby|parents?|grandparents?"
    r"|siblings?|relatives?|cats?|dogs?|ex|twins?|mates?|in-laws?|godparents?|landlord\w*|landlad\w+|classmates?"
    r"|coworkers?|co-workers?"
)
# a text may name these without telling of one: "Children: 2", "Job: teacher", "needs a dentist"
_ROLES = (
    r"child|children|kids?|family|tenants?|teachers?|doctors?|dentist|therapist|clients?|customers?|patients?|pupils?"
    r"|students?|guests?|manager|assistant|coach|trainer|team|office|company|employer"
)
# "a profile for my brother Tom" is about him; "a mother of two" is the person
OTHER_PERSON = re.compile(
    rf"(?<!\bfor my )(?<!\bof my )(?<!\babout my )\b"
    rf"(?:(?P<he>{_MALE_RELATIONS})|(?P<she>{_FEMALE_RELATIONS})|(?P<role>{_ROLES})|{_OTHER_RELATIONS})\b"
    r"(?! of\b)",
    re.I,
)
# the name directly before a verb: "Bob" in "Ana thinks Bob likes tea"
NAME_BEFORE_VERB = re.compile(r"(?<!\S)[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,3}$")
REPORTING_VERB = re.compile(r"\b(?:thinks|says|said|believes|knows|claims|told|wonders)\b", re.I)
NOT_A_NAME = re.compile(
    rf"(?:i|she|he|they|we|you|it|her|his|their|my|our|whose|customer|user|client|person|member|guest|the|an?|this"
    rf"|that|there|here|what|who|all|please"
    rf"|today|diet|status|name|profile|note|{_ADVERB})\b",
    re.I,
)

# "The people next door own a cat", "Everybody in her street is vegan": a subject of its own, of which nothing is taken
_OTHER_SUBJECT = re.compile(
    r"(?:and |or |but |while |because |though |although )?"
    r"(?:(?:people|everyone|everybody|someone|somebody|others|one|those who)\b"
    r"|(?:the|some|most|many|all|several|few|both|each|every|these|those|another|(?P<article>an?))"
    r" (?!of (?:all|her|his|my) |her |his |my )(?P<noun>[a-z-]+)"
    r"|(?:her|his|my|their|our) (?!(?:house|flat|apartment|place) (?:(?:is|lies) in|is (?:an?|rented|her|his|my)"
    r"|belongs)\b)(?:[a-z-]+ )?(?!of\b)(?P<own>[a-z-]+)(?= \w+s\b))",
    re.I,
)
_OWN_NOUN = re.compile(
    r"(?:home|household|groceries|pay|earnings|wages?|meals|taste|look|environment|clothes|wardrobe|name|dream|days?"
    r"|weeks?|mornings?"
    r"|evenings?|time|way|year|moment|life|device|drinks?|person|customer|user|client|member|guest)$",
    re.I,
)
_LABEL_WORDS = frozenset(word for label in FIELD_OF for word in label.split()) - {"people"}
_OF_THE_PERSON = re.compile(
    r"\b(?:is|are|has (?:long |always )?been) (?:her|his|my|where|what|how|the (?:\w+ ){1,4}?(?:she|he|i)\b)", re.I
)
_OWN_AT_START = re.compile(r"(?:her|his|my|their|our) ", re.I)
_OWN_PRONOUN = re.compile(r"\b(?:she|he|they|i)\b", re.I)

_MAX_SENTENCE_LENGTH = 1000  # characters; a longer sentence is ignored
_SENTENCE = re.compile(r"([^\n;.!?]+(?:[.!?](?=[\w@])[^\n;.!?]*)*)([.!?]*)")
_PRONOUN = re.compile(r"\b(?:(?P<she>she|her)|(?P<he>he|his|him)|(?P<they>they|their))\b", re.I)
_SUBJECT_OF = {"her": "she", "his": "he", "their": "they"}
_WOULD_RATHER = re.compile(
    r"\b(?:would|(?<=she)['\u2019]d|(?<=he)['\u2019]d)(?: (?:much )?rather\b|(?= (?:pick|choose) ))", re.I
)
_AND_WORKS = re.compile(r"\b(lives?) and works?(?= in\b)", re.I)
_CONJUNCTION = re.compile(r"^(?:and|or|but|while|because|though|although)\s+", re.I)


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

    def next_topic(self, clause: str, earlier: str) -> "_Topic":
        """Whom the next clause is about; `earlier`: the sentence up to the clause."""
        head = _CONJUNCTION.sub("", _head(clause).strip(), count=1).rsplit(":", 1)[-1].strip()
        first = re.split(r"['\u2019\s,]", head.lower(), maxsplit=1)[0]
        if _WITH_A_PARTNER.match(head):
            return self._the_person(takes_base_form=True)
        if relation := OTHER_PERSON.search(earlier if first == "who" else head):
            known = [pronoun for pronoun in ("she", "he") if relation[pronoun]]
            return self._somebody_else(*(known or ("she", "he", "they")))
        if first == "who" and not _WHO_IS_THE_PERSON.search(earlier):
            return self._somebody_else()
        if (
            (named := NAME_BEFORE_VERB.search(head))
            and not NOT_A_NAME.match(named[0])
            and not _is_thing(named[0], clause)
        ):
            if not self.names and REPORTING_VERB.search(head):
                return self._somebody_else("she", "he")
            return self._named_person(frozenset(named[0].lower().split()))
        match first:
            case "i":
                return self._the_person(takes_base_form=True)
            case "we" | "you" | "it":
                return replace(self, is_person=False)
            case "whose":
                return self._somebody_else("she", "he")
            case "her" | "his" | "their" if head.lower() != first:
                pronoun = _SUBJECT_OF[first]
                return self._the_person() if pronoun == self.pronoun and pronoun not in self.others else self
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
        start, has_other_subject = 0, False
        for end, following in _boundaries(sentence):
            clause = sentence[start:end]
            topic = topic.next_topic(clause, sentence[:start])
            has_other_subject = _has_other_subject(clause) or (
                has_other_subject and not _OWN_PRONOUN.search(_head(clause))
            )
            if topic.is_person and not has_other_subject:
                yield Clause(clause, topic.takes_base_form)
            start = following


def _has_other_subject(clause: str) -> bool:
    """Whether the clause starts with a subject that is neither the person nor something that a profile tells of."""
    match = _OTHER_SUBJECT.match(clause)
    if match is None or (not match["article"] and _OWN_PRONOUN.search(_head(clause) or clause)):
        return False
    if match["article"] and not FINITE_VERB.search(clause):
        return False
    noun = (match["noun"] or match["own"] or "").lower()
    return noun not in _LABEL_WORDS and not _OWN_NOUN.match(noun)


def _statement(match: re.Match[str]) -> str:
    """The sentence without a polite request before it; empty where it states nothing."""
    sentence = " ".join(match[1].split())
    statement = POLITE_REQUEST.sub("", sentence, count=1)
    is_question = statement == sentence and ("?" in match[2] or QUESTION.match(sentence))
    if is_question or len(statement) > _MAX_SENTENCE_LENGTH or NON_STATEMENT.search(statement):
        return ""
    return in_plain_order(_AND_WORKS.sub(r"\1", _WOULD_RATHER.sub("prefers to", statement)))


def _boundaries(sentence: str) -> Iterator[tuple[int, int]]:
    """The end of each clause, and where the next one starts; none where the sentence is empty."""
    if sentence:
        # "she and her husband have": the pronoun before "and" is no clause
        yield from (match.span() for match in CLAUSE_BOUNDARY.finditer(sentence) if match.start() > len("she"))
        yield len(sentence), 0


def _head(clause: str) -> str:
    """The text before the verb. A clause without a verb may say whom the next one is about ("Tom, her son,")."""
    if verb := FINITE_VERB.search(clause):
        return clause[: verb.start()]
    relation = OTHER_PERSON.search(clause)
    if relation is None or ":" in clause:
        return ""
    is_named = relation["he"] or relation["she"] or clause.endswith(relation[0]) or _OWN_AT_START.match(clause)
    return clause if is_named else ""


def _is_thing(name: str, clause: str) -> bool:
    """Whether the clause tells of what the person has or does: "Rome is her home", "Technology bores her"."""
    if name.lower() in _LABEL_WORDS:
        return True
    return _OF_THE_PERSON.search(clause) is not None and OTHER_PERSON.search(clause) is None


def _pronoun(text: str) -> str:
    """The person's pronoun: the first in the text, unless somebody else is mentioned before it."""
    found = _PRONOUN.search(text)
    other = next((match for match in OTHER_PERSON.finditer(text) if not match["role"]), None)
    if found is None or (other and (other.start() < found.start() or found.lastgroup == "they")):
        return ""
    return str(found.lastgroup)


def _same_name(one: str, other: str) -> bool:
    """Whether two words may be the same name: equal, or one is the beginning of the other."""
    return one == other or (min(len(one), len(other)) > 2 and (one.startswith(other) or other.startswith(one)))
