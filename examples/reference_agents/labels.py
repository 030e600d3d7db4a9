"""Which field a label names, by its content words, and sentences that name a field put as labelled lines (pure).

"Hot drink of choice", "Her usual hot drink" and "the hot drink she likes best" have the content words "hot drink".
"""

import re

from examples.reference_agents.fields import FIELDS
from examples.reference_agents.values import NO_NAME_OF_A_VALUE, lower, text

# words of a label that do not say which field it names
_FILLER = re.compile(
    r"preferred|favourite|favorite|main|primary|usual|current|currently|typical|annual|yearly|biggest|"
    r"highest|own|personal|general|her|his|my|their|the|a|an|of|choice|level|type|kind|sort|form|way|means|"
    r"number|amount|range|bracket|that|which|what|how|often|where|she|he|they|i|has|have|likes|like|loves|"
    r"love|prefers|prefer|uses|use|enjoys|enjoy|most|best|mainly|usually|mostly|in|on|for|to|as|with|per|"
    r"used|greatest|deepest|heart|s|is|are|does|do|at|right|now|next|thing|one|and|or|from|by|given|total|all|"
    r"awareness|consciousness|interest|interests|attitude|enthusiasm|affinity|habit|habits|daily|day|time|spent|spend|"
    r"spends|concern|care|new|present|obtained|held|everyday|regular|call|calls|years?|taste|attainment|background"
)
# field → other content words that name it, beside its labels
_SYNONYMS = {
    "age": "old",
    "gender": "gender identity, sex, identifies, gender identifies",
    "city": "residence, place residence, lives, place lives, city lives, town lives, based, place home, home city,"
    " hometown"
    ", location, city residence, place living",
    "marital_status": "marital, relationship status, relationship, civil status",
    "children_count": "children home, kids home, many children, many kids",
    "household_size": "people living household, people household, people home, persons household, household members"
    ", people living home, people under roof, people flat, size household, many people live home",
    "occupation": "living, work, line work, trade, employment, works, position, role, job title, career, employed",
    "education": "schooling, academic degree, educational, formal education, qualifications, completed"
    " education",
    "income_bracket": "pay, earnings, earns, wage, wages, gross income, income year, salary year, pay year",
    "home_ownership": "housing situation, owns rents, own rent, living situation, tenure, accommodation",
    "diet_preference": "eating habits, eats, eating, nutrition, dietary preference, dietary, food preference, food"
    " habits",
    "favorite_cuisine": "cooking, dishes, food eats out",
    "coffee_or_tea": "hot drink, beverage, hot beverage, morning drink, drink morning, drinks",
    "fitness_routine": "staying shape, keeping fit, stays fit, keeps fit, stays shape, physical activity, workout"
    " routine"
    ", exercise routine, training",
    "gym_membership": "member gym",
    "shopping_preference": "shops, shopping habit, shopping channel, buys things, place shop",
    "grocery_store_type": "grocery shopping, food shopping, buys groceries, buys food, food comes, groceries come",
    "fashion_style": "style dress, dressing, dress, dresses, clothes, clothing, outfit, look, wardrobe, dress"
    " sense",
    "transport": "transportation, commute, commuting, gets around, gets work, goes work, travels work, mode"
    " transport, vehicle",
    "sleep_chronotype": "sleep type, sleeping habits, sleep pattern, sleep habits, sleep rhythm, daily rhythm,"
    " early bird night owl",
    "eco_friendliness": "environmental, eco, green living",
    "tech_affinity": "tech",
    "favorite_social_platform": "platform, network, social media platform, social app, social channel, social media"
    " app, social media"
    " channel",
    "social_media_usage_time": "social media, hours social media, social media usage",
    "content_preference": "media, media content, media consumption, entertainment",
    "sports_interest": "sport follows, sport plays, sport practises, sport interests, sporting interest",
    "gaming_preference": "video games, game genre, games genre, games plays",
    "travel_frequency": "travelling, traveling, trips, travel habits, goes trips, goes away, frequency travel",
    "needs": "needed, required, necessities, requirements, lacks, missing",
    "wants": "wanted, shopping list, wants buy, wish list, looking buy",
    "desires": "longs, wishes life, dreams life, dream life, wish, long term wish, long term dream, heart desire",
}  # fmt: skip
_SAME_FIELD_ONLY_WHOLE = frozenset({"food", "home"})  # "favourite food" is a cuisine, "food" is not


def _content(label: str) -> frozenset[str]:
    """The words of a label that say what it names, in the singular."""
    words = re.findall(r"[a-z0-9]+", label.lower())
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in words if not _FILLER.fullmatch(word))


def labels_of(name: str) -> tuple[str, ...]:
    """Every way to write the label of a field, the longest first."""
    own = name.replace("_", " ")
    other = FIELDS[name].labels if name in FIELDS else ()
    spelt = {label for one in (own, *other) for label in (one, one.replace("favourite", "favorite"))}
    return tuple(sorted(spelt, key=len, reverse=True))


FIELD_OF = {label: name for name in FIELDS for label in labels_of(name)}
LABEL = "|".join(re.escape(label).replace(r"\ ", "[ _-]?") for label in sorted(FIELD_OF, key=len, reverse=True))
_FIELD_OF_CONTENT = {
    _content(label): name
    for name in FIELDS
    for label in (*labels_of(name), *_SYNONYMS.get(name, "").split(", "))
    if _content(label) and not _content(label) <= _SAME_FIELD_ONLY_WHOLE
}


def field_of(label: str) -> str | None:
    """The field that a label names, however it is spelt."""
    spelt = re.sub(r"[ _-]+", " ", label.strip().lower()).replace("eco friendliness", "eco-friendliness")
    return FIELD_OF.get(spelt) or FIELD_OF.get(spelt.replace(" ", "")) or _FIELD_OF_CONTENT.get(_content(spelt))


_LEAD = r"(?:(?:these|most) (?:days|evenings|mornings|weekends),? |(?:nowadays|currently|right now|at the moment),? )?"
_HER = r"(?:she|he|they|i)"
_OWN_OF = {"she": "her", "he": "his", "they": "their", "i": "my"}
_NAMES_A_FIELD = (
    rf"(?:(?:her|his|my|their) |the |what (?={_HER}\b)|where (?={_HER}\b)|how (?=.*\b{_HER}\b))"
    r"[\w' -]{2,60}?"
)
_LINE = re.compile(r"^[\s*-]*([A-Z][\w'/ -]{1,60}?)(?:\s*[:=]\s*| [-\u2013] )(.+)$")
_LABEL_FIRST = re.compile(rf"^(?:and )?{_LEAD}({_NAMES_A_FIELD}),? (?:is|are) (.+)$", re.I)
_LABEL_LAST = re.compile(rf"^(?:and )?{_LEAD}(.{{2,60}}?) (?:is|are) ({_NAMES_A_FIELD})$", re.I)
_WHAT = (
    rf"(?:among )?(?:what|something|(?:the (?:\w+ ){{0,2}})?things?(?: that)?) ({_HER} [a-z ]{{3,40}}?)"
    r"(?: (?:most|best|right now|now|at the moment|more than anything|in life|of all|above all))*"
)
_WHAT_FIRST = re.compile(rf"^(?!.*\bleast\b)(?:and )?{_LEAD}{_WHAT}(?:,? (?:is|are)|:) (.+)$", re.I)
_WHAT_LAST = re.compile(rf"^(?:and )?{_LEAD}(.{{2,60}}?) (?:is|are) {_WHAT}$", re.I)
_AMONG = re.compile(
    rf"^(?:of|among|when it comes to|as for|as to|in terms of|regarding)(?: all)?(?: the| her| his| my)? ([a-z"
    rf" -]{{3,30}}?),?"
    rf" (?:(?:{_HER} (?:likes?|prefers?|goes for|uses?|enjoys?|chooses?|loves?|is|am|identifies as)(?: strictly)?"
    r"|(?:her|his|my) (?:taste|preference|choice|favou?rite) is) (.+?)"
    rf"|(\S+) is (?:(?:the one|what) {_HER} \w+|(?:her|his|my) (?:\w+ )?(?:favou?rite|choice)))"
    r"(?: the)?(?: best| most)?$",
    re.I,
)
# what a thing does to the person → what the person does
_DONE_BY_A_THING = {
    re.compile(
        r"^([\w ]{3,50}?) (?:makes? (?:her|him) happy|(?:gives?|brings?) (?:her|him) (?:great )?(?:joy|pleasure))$"
    ): "likes",
    re.compile(
        r"^([\w ]{3,50}?) (?:gets? on (?:her|his) nerves|(?:annoys?|bores?|irritates?|bothers?) (?:her|him)"
        r"|drives? (?:her|him) (?:mad|crazy)|puts? (?:her|him) off)$"
    ): "dislikes",
}


def in_plain_order(sentence: str) -> str:
    """ "Rome is where she lives" as "her city is Rome", "what she needs most is a coat" as "she needs a coat"."""
    if (match := _LINE.match(sentence)) and (name := field_of(match[1])):
        return f"{name}: {match[2]}"
    for pattern, label, value in ((_LABEL_FIRST, 1, 2), (_LABEL_LAST, 2, 1)):
        match = pattern.match(sentence)
        if match and (name := field_of(match[label])) and _is_named(name, match[value]) and _owner(match[label]):
            return f"{_owner(match[label])} {name} is {match[value]}"
    if (match := _AMONG.match(sentence)) and (name := field_of(match[1])):
        said = str(match[2] or match[3])
        if _is_named(name, said):
            return f"{_owner(sentence)} {name} is {said}"
    for pattern, verb in _DONE_BY_A_THING.items():
        if match := pattern.match(sentence):
            subject = "she" if re.search(r"\bher\b", sentence) else "he"
            return f"{subject} {verb} {match[1][0].lower()}{match[1][1:]}"
    if match := _WHAT_FIRST.match(sentence):
        return f"{match[1]} {match[2]}"
    if match := _WHAT_LAST.match(sentence):
        return f"{match[2]} {match[1]}"
    return sentence


def _is_named(name: str, value: str) -> bool:
    """Whether the words may be a value of the field; "in Rome" is none of a home."""
    return FIELDS[name].normalise(value) is not None and (
        FIELDS[name].normalise not in (text, lower) or not NO_NAME_OF_A_VALUE.match(value)
    )


def _owner(label: str) -> str:
    """ "her" for "her usual drink" and for "the drink she likes best"; empty for "the drink"."""
    found = re.search(r"\b(?:(she|he|they|i)|(her|his|their|my))\b", label, re.I)
    return "" if found is None else found[2] or _OWN_OF[found[1].lower()]
