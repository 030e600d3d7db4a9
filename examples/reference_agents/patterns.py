"""Regular expressions for parts of English sentences: verbs, negations, other people (pure)."""

import re

NEGATED_VERB = r"(?:\w+n['\u2019]t|(?:do|does|did|is|are|was|has|ca|wo)nt)"
# words after which the rest of the clause is not a fact about now: negated, past, possible or intended
QUALIFIER = re.compile(
    rf"\b(?:not|{NEGATED_VERB}|never|no|nor|neither|none|nobody|nothing|anything|without|cannot|all but|hardly|barely"
    r"|rarely|seldom|scarcely|almost|nearly|instead|rather|than|unlike(?:ly)?|refuses?|stop(?:s|ped)?|quit|was|were|been"
    r"|used to|formerly|previously|once|until|would|could|should|might|maybe|perhaps|possibly|probably|allegedly"
    r"|wants? to|hopes|hoping|plans? to|wish(?:es)?|going to|intends?|dreams?|getting|considers?|considering|pretends?"
    r"|seems?)\b|\w['\u2019](?:d|ll)\b|\b(?-i:may|will)\b",  # May and Will are names too
    re.I,
)
# a sentence with one of these states nothing: a condition, a denial of the whole sentence, a request to delete
NON_STATEMENT = re.compile(
    r"\b(?:if|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|in case|guess|ask|untrue|false|wrong|doubts?"
    r"|den(?:y|ies|ied)|remove|delete|forget)\b"
    rf"|\b(?:not|{NEGATED_VERB}) (?:true|correct|right|the case|think|believe|know|say|mean)\b",
    re.I,
)
POLITE_REQUEST = re.compile(
    r"(?:please )?(?:can|could|would|will) you (?:please )?(?:add|build|change|create|make|note|record|save|set|update"
    r"|write)\b",
    re.I,
)
QUESTION = re.compile(r"\W*(?i:is|are|does|do|did|was|has|have|can|am) (?:(?i:she|he|they|i|it|you|her|his)\b|[A-Z])")
# a line that ends in one of these words continues in the next line
LINE_CONTINUATION = re.compile(
    rf"\b(she|he|they|i|not|{NEGATED_VERB}|never|no|longer|without|does|do|is|if|whether|unless|her|his|their|my)"
    r"[ \t]*\n\s*",
    re.I,
)

_AUXILIARY = (
    r"(?i:is|are|am|was|were|has|have|had|does|do|did|can|cannot|will|would|could|should|might"
    rf"|{NEGATED_VERB})\b"
)
_MAIN_VERB = (
    r"(?i:likes?|loves?|enjoys?|adores?|prefers?|dislikes?|hates?|avoids?|detests?|loathes?|lives|resides|works|wants|needs"
    r"|owns|drives|buys|eats|drinks|plays|speaks|uses|wears|reads|watches|travels|studies|studied|moved|spends|cooks"
    r"|includes?)\s*:?\s+(?=\S)"
)
_CONTRACTION = (
    r"(?i:(?:(?<=\bshe)|(?<=\bhe)|(?<=\bit)|(?<=\bwho))['\u2019]s|(?<=\bi)['\u2019]m|(?<=\bthey)['\u2019]re)\b"
)
_VERB = rf"(?:{_AUXILIARY}|{_MAIN_VERB})"
FINITE_VERB = re.compile(rf"\b{_VERB}|{_CONTRACTION}")
_SUBJECT = (
    r"(?:(?i:she|he|they|i|we|you|it|who|(?:her|his|their|my|our|whose|the|an?|\w+['\u2019]s) \w+(?: \w+)?)\b"
    r"|[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,2})"
)
PREFERENCE_VERB = re.compile(
    r"\b(?P<verb>(?P<likes>likes?|loves?|enjoys?|fond of)|dislikes?|hates?|avoids?)\b(?P<label>\s*:)?\s+(?=\S)", re.I
)
_ADVERB = r"(?i:also|still|really|now|currently|always|often|never|no longer|usually|mostly|only|not)"
# a clause ends at "but", and before words that have a verb of their own
CLAUSE_BOUNDARY = re.compile(
    r"(?<!(?i:anything))(?<!(?i:nothing))(?<!(?i:everything))(?<!(?i:none))(?<!(?i:all)),? (?i:but) "
    r"|(?:, ?(?i:and |or |while |though |although |because )?"
    r"| (?i:and|or|while|though|although|because) | (?=(?i:who)\b))"
    rf"(?=(?:{_SUBJECT} )?(?:{_ADVERB} )*{_VERB}|(?i:she|he|who)['\u2019]s\b|(?i:i['\u2019]m|they['\u2019]re)\b)"
)

_MALE_RELATIONS = r"brothers?|fathers?|dads?|husband|sons?|uncles?|boyfriend|grandfathers?|nephews?"
_FEMALE_RELATIONS = r"sisters?|mothers?|mums?|moms?|wife|daughters?|aunts?|girlfriend|grandmothers?|nieces?"
_OTHER_RELATIONS = (
    r"friends?|partner|spouse|cousins?|colleagues?|boss|neighbou?rs?|flatmates?|roommates?|baby|child|children|kids?"
    r"|parents?|grandparents?|siblings?|relatives?|cats?|dogs?"
)
# "a profile for my brother Tom" is about him; "a mother of two" is the person
OTHER_PERSON = re.compile(
    rf"(?<!\bfor my )(?<!\bof my )(?<!\babout my )\b"
    rf"(?:(?P<he>{_MALE_RELATIONS})|(?P<she>{_FEMALE_RELATIONS})|{_OTHER_RELATIONS})\b(?! of\b)",
    re.I,
)
# the name directly before a verb: "Bob" in "Ana thinks Bob likes tea"
NAME_BEFORE_VERB = re.compile(r"(?<!\S)[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,3}$")
REPORTING_VERB = re.compile(r"\b(?:thinks|says|said|believes|knows|claims|told|wonders)\b", re.I)
NOT_A_NAME = re.compile(
    rf"(?:i|she|he|they|we|you|it|whose|customer|user|client|person|member|guest|the|an?|this|that|there|here|what|who|all|please"
    rf"|today|diet|status|name|profile|note|{_ADVERB})\b",
    re.I,
)
