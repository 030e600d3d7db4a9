"""The one table of what is read out of text: field → labels, sentence patterns, form of the value (pure).

A pattern that ends in a value has one group; one with a fixed value has none. What a normaliser does not know is None
and is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examples.reference_agents.values import (
    WORDS,
    Normalise,
    a_day,
    bracket,
    intent,
    items,
    lower,
    number,
    one_of,
    text,
    yes_or_no,
)

_COUNT = rf"(\d{{1,3}}|{'|'.join(WORDS)})"
_PLACE = r"([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
_OWN = r"(?:(?:an?|the|her|his|my|their) )?"
_END = r"(?= (?:in|at|for|and|who|but|by|to)\b|[.,;\n]|$)"
_NOT_WHAT = r"(?<!what she )(?<!what he )(?<!what they )(?<!what i )"  # "orders what she needs online"
# "vegan or vegetarian" does not tell which of the two applies; "vegan food" is no diet
_ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
_FOOD_NOUNS = (
    "food|foods|dish|dishes|recipes?|restaurants?|cooking|cuisine|products?|brands?|cakes?|meals?|options?|shoes|leather"
    "|cosmetics|friendly"
)
_SPORTS = (
    "tennis|table tennis|football|soccer|volleyball|basketball|handball|hockey|rugby|cricket|golf|chess|badminton"
    "|squash|baseball|darts"
)
_EXERCISE = "running|jogging|swimming|cycling|climbing|rowing|hiking|dancing|skating|bouldering"
_VEHICLES = "bicycle|bike|bus|train|car|tram|metro|subway|underground|scooter|motorbike|taxi|foot"
_CONTENT = (
    "podcasts|documentaries|short videos|videos|novels|books|news|films|movies|series|music|audiobooks|blogs|magazines"
)
_DEVICES = "smartphone|phone|laptop|tablet|desktop computer|desktop|computer"


@dataclass(frozen=True)
class Field:
    """`labels`: other names beside the field's own. `said`: pattern → fixed value, None for that of its group.

    `denied` is the value of a fixed value that is negated ("no gym membership"), None where denying states nothing.
    """

    normalise: Normalise
    labels: tuple[str, ...] = ()
    said: Mapping[str, Any] | None = None
    denied: Mapping[Any, Any] | None = None
    case_sensitive: bool = False


_HOW_MUCH = one_of(high="high|very|strong|a lot", medium="medium|moderate|somewhat", low="low|little|hardly|none")
_SHOPPING = one_of(online="online", in_store=r"in[ _-]?(?:a )?(?:stores?|shops?|person)", both="both")
_HOW_OFTEN = one_of(
    never="never", rarely="rarely|seldom|hardly ever",
    sometimes="sometimes|occasionally|now and then|from time to time",
    often="often|a lot|frequently|regularly",
)  # fmt: skip

FIELDS: dict[str, Field] = {
    "age": Field(
        number,
        (),
        {r"\b(\d{1,3})[ -]years?[ -]old\b": None, r"\baged? (?:of )?(\d{1,3})\b": None, r"\bturned (\d{1,3})\b": None},
    ),
    "gender": Field(lower, (), {r"\bidentif(?:y|ies) as (?:an? )?([a-z-]+)": None}),
    "address": Field(
        text,
        ("street", "street and number"),
        {r"\b(?:lives?|resides?) at ((?:[A-Z][\w.'-]* )+\d+\w?|\d+(?: [A-Z][\w.'-]*)+)": None},
        case_sensitive=True,
    ),
    "city": Field(
        text,
        ("town", "home town"),
        {
            rf"\b(?:lives?|living|has lived|have lived|based|resides?|home is|flat is|house is|moved) (?:in"
            rf"|to) {_PLACE}": None,
            rf"\bcalls? {_PLACE} home\b": None,
        },
        case_sensitive=True,
    ),
    "state": Field(text, ("region", "province", "state or region"), {}),
    "postal_code": Field(text, ("postcode", "zip", "zip code", "post code"), {}),
    "country": Field(text, (), {}),
    "marital_status": Field(
        one_of(
            married="married",
            divorced="divorced",
            widowed="widowed|widow|widower",
            single="single|unmarried",
            partnered="partnered|living with a partner",
        ),
        ("family status",),
        {
            _ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"): None,
            r"\b(?:is|am|'s|'m) an? (widow|widower)\b": None,
            r"\b(?:is|am|'s|'m) (?:currently |now |still )?(single)\b(?! \w)": None,
            r"\b(?:lives?|living|home|flat|house) (?:together )?with (?:an?|her|his|my|their) (?:partner"
            r"|girlfriend|boyfriend)\b": "partnered",
        },
    ),
    "household_size": Field(
        number,
        ("people in the household",),
        {
            rf"\b{_COUNT} (?:people|persons|members) (?:live |are |living )?in (?:her|his|my|their"
            rf"|the) household": None,
            rf"\bhousehold (?:of|has|with|consists of|comprises|includes) {_COUNT}": None,
        },
    ),
    "children_count": Field(
        number,
        ("children", "kids", "number of children"),
        {
            rf"\b(?:has|have|got|with|raises?|raising|brings? up|bringing up|and) {_COUNT}(?: \w+)? (?:children"
            rf"|child|kids?)\b": None,
            r"\b(?:has|have) (a) (?:child|kid|son|daughter)\b": None,
            r"\b(?:does not|doesn't|do not|don't) have (?:any )?(?:children|kids)\b": 0,
            rf"^{_COUNT} (?:children|child|kids?)\b": None,
            rf"\b(?:mother|father|mum|mom|dad|parent) of {_COUNT}\b": None,
            r"\bchildless\b": 0,
        },
    ),
    "occupation": Field(
        lower,
        ("job", "profession"),
        {
            rf"\bworks? as (?:an? )?([a-z][a-z -]{{2,40}}?){_END}": None,
            r"\b(?:is|am|'s|'m) an? ([a-z][a-z -]{2,40}?) by (?:profession|trade|training)": None,
            rf"\b(?:employed|living|career|working|job) as (?:an? )?([a-z][a-z -]{{2,40}}?){_END}": None,
        },
    ),
    "education": Field(
        lower,
        ("degree", "qualification", "highest degree", "highest qualification"),
        {
            r"\b(?:has|have|holds?|earned|completed|finished|graduated with|got) (?:an? |her |his |my )?"
            r"((?:(?:master|bachelor)['\u2019]?s degree|doctorate|phd|apprenticeship|high[- ]school diploma|diploma)"
            r"(?: in [a-z]+(?: [a-z]+)?)?)\b": None
        },
    ),
    "income_bracket": Field(
        bracket,
        ("income", "salary", "income range", "yearly income"),
        {
            r"\bearns? (?:between |about |around )?(\d[\d.,]*(?: ?(?:-|\u2013|to|and) ?\d[\d.,]*)?(?: ?(?:EUR|USD"
            r"|euros|dollars))?)": None
        },
    ),
    "home_ownership": Field(
        one_of(own="own|owns|owner|owned|bought", rent="rent|rents|rented|renting|tenant", other="other"),
        ("home", "housing"),
        {
            rf"\b(owns?|rents?) {_OWN}(?:own )?(?:home|house|flat|apartment|place)\b": None,
            r"\b(?:home|house|flat)[ -]?(owner)\b": None,
            r"\bis a (tenant)\b": None,
            r"\bin an? (rented) (?:home|house|flat|apartment)\b": None,
        },
    ),
    "city_tier": Field(lower, ("size of the city",), {}),
    "diet_preference": Field(
        lower, ("diet",), {_ONE_OF.format("vegan|vegetarian|pescatarian|flexitarian|halal|kosher", _FOOD_NOUNS): None}
    ),
    "favorite_cuisine": Field(
        text,
        ("favourite cuisine", "cuisine", "favourite food"),
        {r"\b(?:prefers?|loves?|likes?) ([A-Z][a-z]+) cuisine": None},
        case_sensitive=True,
    ),
    "coffee_or_tea": Field(
        one_of(
            both="both|coffee and tea|tea and coffee",
            coffee="coffee(?! and tea)",
            tea="(?<!and )tea(?! and)",
            neither="neither",
        ),
        ("drink",),
        {
            r"\b(?:prefers?|drinks?) (coffee and tea|tea and coffee|coffee|tea)\b": None,
            r"\b(coffee|tea) (?:drinker|person)\b": None,
            r"\b(?:likes?|loves?) (coffee|tea) better than\b": None,
        },
    ),
    "fitness_routine": Field(
        lower,
        ("fitness", "exercise", "workout"),
        {
            rf"\b(?:keeps?|stays?) fit (?:by|with) ((?:{_EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            rf"\b(?:goes|go) ((?:{_EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            r"\b(?:does|do|practises?) (yoga|pilates|gymnastics)\b": None,
        },
    ),
    "gym_membership": Field(
        yes_or_no,
        ("gym", "gym member"),
        {
            r"\b(?:member of|belongs? to|goes to) (?:an?|the|her|his|my) gym\b": True,
            r"\bgym (?:membership|member)\b": True,
        },
        denied={True: False},
    ),
    "shopping_preference": Field(
        _SHOPPING,
        ("shopping",),
        {
            r"\b(?:shops?|shopping|buys? \w+) (?:mostly |mainly |usually |only )?(online|in (?:a )?(?:stores?"
            r"|shops?|person))\b": None
        },
    ),
    "grocery_store_type": Field(
        lower,
        ("groceries", "grocery store", "kind of grocery store"),
        {
            rf"\bfor groceries (?:she|he|i|they) (?:goes|go) to {_OWN}([a-z][a-z' -]{{2,40}}?){_END}": None,
            rf"\bgroceries (?:\w+ )?(?:at|from|in) {_OWN}([a-z][a-z' -]{{2,40}}?){_END}": None,
        },
    ),
    "fashion_style": Field(
        lower,
        ("style", "fashion", "clothing style"),
        {r"\bdress(?:es)? (?:in )?(?:an? )?([a-z-]+)(?: style)?\b": None, r"\ban? ([a-z-]+) style\b": None},
    ),
    "transport": Field(
        one_of(**{name: name for name in _VEHICLES.split("|")}),
        ("getting around", "means of transport"),
        {
            rf"\b(?:travels?|commutes?|goes|go|gets?)(?: (?!by\b)\w+){{0,3}} by ({_VEHICLES})\b": None,
            rf"\b(?:takes?|rides?) {_OWN}({_VEHICLES})\b": None,
        },
    ),
    "sleep_chronotype": Field(
        one_of(early="early|morning", late="late|night|evening", between="between"),
        ("chronotype", "sleep"),
        {
            r"\b(early (?:bird|riser)|morning person|night owl|late riser|evening person|(?:gets? up|rises?"
            r"|wakes? up) early|(?:stays? up|goes to bed|go to bed) late)\b": None
        },
    ),
    "eco_friendliness": Field(
        _HOW_MUCH,
        ("eco-friendliness", "environment", "sustainability"),
        {
            r"\benvironment is (?:very |really )?important to (?:her|him|me|them)\b": "high",
            r"\benvironment is (?:not (?:very |really )?important|unimportant) to (?:her|him|me|them)\b": "low",
            r"\b(?:eco-friendly|environmentally (?:aware|conscious|friendly))\b": "high",
            r"\bcares? (a lot|little) (?:about|for) the environment\b": None,
        },
        denied={"high": "low"},
    ),
    "tech_affinity": Field(
        _HOW_MUCH,
        ("interest in technology", "technology"),
        {
            r"\b(?:loves?|enjoys?) (?:new )?technology\b": "high",
            r"\b(little|high) interest in (?:new )?technology\b": None,
            r"\b(?:interested in (?:new )?technology|tech(?:nology)? (?:enthusiast|fan))\b": "high",
        },
        denied={"high": "low"},
    ),
    "primary_device": Field(
        one_of(**{name.replace(" ", "_"): name for name in ("smartphone", "laptop", "tablet", "desktop")}),
        ("main device", "device"),
        {rf"\b(?:mostly|mainly|usually) uses? {_OWN}({_DEVICES})\b": None},
    ),
    "favorite_social_platform": Field(
        text,
        ("favourite social platform", "social platform", "social network"),
        {
            r"\bactive on ([A-Z]\w+)": None,
            r"\bsocial (?:platforms?|networks?|media),? (?:she|he|I|they) prefers? ([A-Z]\w+)": None,
        },
        case_sensitive=True,
    ),
    "social_media_usage_time": Field(
        a_day,
        ("time on social media", "social media time"),
        {
            r"\bspends? (?:about |around )?((?:\d+|an?|one|two|three|half an) (?:hours?|minutes?)) (?:a|per|each"
            r"|every) day on social media": None,
            r"\bsocial media (?:for )?(?:about )?((?:\d+|an?|one|two|three|half an) (?:hours?|minutes?)) (?:a|per"
            r"|each|every) day": None,
        },
    ),
    "content_preference": Field(
        lower,
        ("preferred content", "content", "favourite content"),
        {rf"\b(?:mostly|mainly|usually) (?:enjoys?|watch(?:es)?|reads?|listens? to) ({_CONTENT})\b": None},
    ),
    "sports_interest": Field(
        lower, ("sport", "sports", "favourite sport"), {rf"\b(?:plays?|follows?|interested in) ({_SPORTS})\b": None}
    ),
    "gaming_preference": Field(
        lower,
        ("games", "favourite games", "gaming"),
        {
            r"\bplays? ((?:[a-z-]+ )?games)\b": None,
            r"\b(?:gamer|games),? (?:she|he|i|they) prefers? ((?:[a-z-]+ )?games)\b": None,
        },
    ),
    "travel_frequency": Field(
        _HOW_OFTEN,
        ("travel", "travels"),
        {
            r"\b(never|rarely|seldom|hardly ever|sometimes|occasionally|often|frequently) (?:she |he |i |they )?"
            r"travels?\b(?! (?:by|to)\b)": None,
            r"\btravels? (?:very )?(often|a lot|rarely|seldom|sometimes|occasionally|frequently|now and then)\b": None,
            r"\b(?:does not|doesn't|do not|don't) travel\b(?! (?:by|to)\b)": "never",
        },
    ),
    "needs": Field(
        items,
        ("need",),
        {rf"{_NOT_WHAT}\bneeds? (?!to\b|is\b|of\b)(.+)": None, r"\b(?:needs? is|in need of) (.+)": None},
    ),
    "wants": Field(
        items,
        ("want",),
        {
            rf"{_NOT_WHAT}\bwants? (?:to (?:buy|get|have|own) )?(?!to\b|is\b)(.+)": None,
            r"\b(?:wants? is|looking for) (.+)": None,
        },
    ),
    "desires": Field(
        items,
        ("desire", "dream", "dreams", "wishes"),
        {r"\b(?:(?:dreams?|dreamed|dreamt|dreaming) (?:of|about)|longs? for) (.+)": None},
    ),
    "intent_24h": Field(intent, ("within 24 hours", "next 24 hours", "24h", "plans for the next day"), {}),
    "intent_48h": Field(intent, ("within 48 hours", "next 48 hours", "48h", "plans for two days"), {}),
    "intent_72h": Field(intent, ("within 72 hours", "next 72 hours", "72h", "plans for three days"), {}),
    "brand_affinities": Field(items, ("favourite brands", "brands"), {}),
}
LISTS = ("needs", "wants", "desires", "likes", "dislikes", "brand_affinities")


def labels_of(name: str) -> tuple[str, ...]:
    """Every way to write the label of a field, the longest first."""
    own = name.replace("_", " ")
    other = FIELDS[name].labels if name in FIELDS else ()
    spelt = {label for one in (own, *other) for label in (one, one.replace("favourite", "favorite"))}
    return tuple(sorted(spelt, key=len, reverse=True))


FIELD_OF = {label: name for name in FIELDS for label in labels_of(name)}
LABEL = "|".join(re.escape(label).replace(r"\ ", "[ _-]?") for label in sorted(FIELD_OF, key=len, reverse=True))


def field_of(label: str) -> str | None:
    """The field that a label names, however it is spelt."""
    spelt = re.sub(r"[ _-]+", " ", label.strip().lower()).replace("eco friendliness", "eco-friendliness")
    return FIELD_OF.get(spelt) or FIELD_OF.get(spelt.replace(" ", ""))
