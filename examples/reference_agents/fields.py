"""The one table of what is read out of text: field → labels, sentence patterns, form of the value (pure).

A pattern that ends in a value has one group; one with a fixed value has none. What a normaliser does not know is None
and is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examples.reference_agents import patterns as p
from examples.reference_agents.values import (
    Normalise,
    a_day,
    bracket,
    degree,
    intent,
    items,
    lower,
    number,
    one_of,
    text,
    whole,
    yes_or_no,
)


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


_SHOPPING = one_of(online="online", in_store=r"in[ _-]?(?:a )?(?:stores?|shops?|person)", both="both")

FIELDS: dict[str, Field] = {
    "age": Field(
        number,
        (),
        {
            r"\b(\d{1,3})[ -]years?[ -]old\b": None,
            r"\baged? (?:of )?(\d{1,3})\b": None,
            r"\bturned (\d{1,3})\b": None,
            r"\b(\d{1,3}) years of age\b": None,
            r"\b(?:she|he|i) (?:is|am) (?:now |already )?(\d{1,3})(?= and\b|,|$)": None,
        },
    ),
    "gender": Field(
        lower,
        (),
        {r"\bidentif(?:y|ies) as (?:an? )?([a-z-]+)": None, r"\b(?:is|am) (female|male|non-binary)(?! \w)": None},
    ),
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
            rf"\b(?:lives?|living|has lived|have lived|based|resides?|resident|settled|home is|flat is|house is"
            rf"|moved|home) (?:in"
            rf"|to|of) {p.PLACE}\b(?!,? and (?:then|later)\b)": None,
            rf"\b(?:calls?|made) {p.PLACE} (?:her |his |my |their )?home\b": None,
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
            p.ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"): None,
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
            rf"\b{p.COUNT} (?:people|persons|members) (?:\w+ ){{0,2}}(?:in|share|under) (?:her|his|my|their|the|one)"
            rf" (?:household|home|flat|roof)": None,
            rf"(?<!shares her )\bhousehold (?:\w+ ){{0,3}}?{p.COUNT}\b(?! (?:\w+ )?(?:others?|more|cats?|dogs?"
            rf"|years?)\b)": None,
        },
    ),
    "children_count": Field(
        number,
        ("children", "kids", "number of children"),
        {
            rf"\b(?:has|have|got|with|raises?|raising|brings? up|bringing up|and) {p.COUNT}(?: \w+)? (?:children"
            rf"|child|kids?)\b": None,
            r"\b(?:has|have) (a) (?:child|kid|son|daughter)\b": None,
            r"\b(?:does not|doesn't|do not|don't) have (?:any )?(?:children|kids)\b": 0,
            rf"^{p.COUNT} (?:children|child|kids?)\b": None,
            rf"\b(?:mother|father|mum|mom|dad|parent) of {p.COUNT}\b": None,
            rf"\b(?:her|his|my|their) {p.COUNT} (?:\w+ )?(?:children|kids)\b": None,
            rf"^there (?:is|are) {p.COUNT} (?:children|child)(?= in (?:the|her|his|my|their) (?:family|home|house)"
            rf"|$)": None,
            r"\bchildless\b": 0,
        },
    ),
    "occupation": Field(
        lower,
        ("job", "profession"),
        {
            rf"\b(?:works?|worked|working|employed|living|career|job|money|practises|practices)(?: [\w-]+){{0,2}}? as"
            rf" (?:an? )?([a-z][a-z -]{{2,40}}?){p.END}": None,
            r"\b(?:is|am|'s|'m) an? ([a-z][a-z -]{2,40}?) by (?:profession|trade|training|occupation)": None,
        },
    ),
    "education": Field(
        lower,
        ("degree", "qualification", "highest degree", "highest qualification"),
        {
            r"(?<!for )(?<!on )(?<!towards )(?<!doing )(?<!started )(?<!begun )\b(?:an? |her |his |my |the )"
            r"((?:(?:master|bachelor)['\u2019]?s degree|doctorate|phd|apprenticeship|high[- ]school diploma|diploma)"
            r"(?: in [a-z]+(?: (?:and )?[a-z]+)?)?)(?= (?:in|at|from|to|behind|and|after|as|since|with)\b|[.,;]"
            r"|$)": None
        },
    ),
    "income_bracket": Field(
        bracket,
        ("income", "salary", "income range", "yearly income"),
        {
            rf"\b(?:earns?|earning|makes|(?:takes|brings) home|income|salary|pays (?:her|him|me|them)|paid)(?! \w+"
            rf" (?:a|per) (?:month|week))"
            rf"(?: \w+){{0,4}}? {p.MONEY}(?! ?(?:a|per|an|each|every) (?:month|week|day|hour))": None,
        },
    ),
    "home_ownership": Field(
        one_of(own="own|owns|owner|owned|bought", rent="rent|rents|rented|renting|tenant", other="other"),
        ("home", "housing"),
        {
            rf"\b(owns?|rents?|renting|bought) (?!out\b){p.OWN}(?:\w+ )?(?:home|house|flat|apartment|place)\b": None,
            r"\b(?:home|house|flat)[ -]?(owner)\b": None,
            r"\bis a (tenant)\b": None,
            r"\bin an? (rented) (?:home|house|flat|apartment)\b": None,
            r"\blives? in (?:her|his|my|their) (own) (?:home|house|flat|apartment)\b": None,
        },
    ),
    "city_tier": Field(lower, ("size of the city",), {}),
    "diet_preference": Field(
        lower,
        ("diet",),
        {
            p.ONE_OF.format("vegan|vegetarian|pescatarian|flexitarian|halal|kosher", p.FOOD_NOUNS)
            + rf"(?: diet\b|{p.VALUE_END})": None
        },
    ),
    "favorite_cuisine": Field(
        text,
        ("favourite cuisine", "cuisine", "favourite food"),
        {
            r"\b(?:prefers?|loves?|likes?|enjoys?) ([A-Z][a-z]+) cuisine": None,
            r"\b(?:prefers?|loves?|likes?|enjoys?) ([A-Z][a-z]+) (?:food|dishes) (?:best|most)\b": None,
            r"^([A-Z][a-z]+) (?:cuisine|food) is (?:her|his|my|their) favou?rite\b": None,
        },
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
            r"\b(?:prefers?|drinks?|drinking|chooses?|orders?|cups? of)(?: \w+)? "
            rf"(coffee and tea|tea and coffee|coffee|tea){p.VALUE_END}": None,
            r"\b(coffee|tea) (?:drinker|person)\b": None,
            r"\b(?:likes?|loves?) (coffee|tea) better than\b": None,
        },
    ),
    "fitness_routine": Field(
        whole,
        ("fitness", "exercise", "workout"),
        {
            rf"\b((?:{p.EXERCISE}) (?:once|twice|(?:\w+ times)|every|each)(?: (?:a|per))? [a-z]+)\b": None,
            rf"\b(?:keeps?|stays?) fit (?:by|with) ((?:{p.EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            rf"\b(?:goes|go) ((?:{p.EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            r"\b(?:does|do|practises?) (yoga|pilates|gymnastics)\b": None,
        },
    ),
    "gym_membership": Field(
        yes_or_no,
        ("gym", "gym member"),
        {
            r"\b(?:member (?:of|at|in)|belongs? to|goes to|joined|signed up (?:with|at|to)|registered (?:with|at|in))"
            r" (?:an?|the|her|his|my|any) (?:local )?gym\b": True,
            r"\b(?:gym|fitness studio) (?:membership|member)\b": True,
            r"\bmembership (?:of|at|in|with) (?:an?|the|any) gym\b": True,
        },
        denied={True: False},
    ),
    "shopping_preference": Field(
        _SHOPPING,
        ("shopping",),
        {
            rf"\b{p.LIKES_TO}(?:shops?|shopping|buys?|buying|orders?|ordering|purchases)(?:"
            rf" (?!groceries\b)[\w-]+){{0,4}}? "
            r"(online|in (?:a )?(?:stores?|shops?|person))\b": None
        },
    ),
    "grocery_store_type": Field(
        lower,
        ("groceries", "grocery store", "kind of grocery store"),
        {
            rf"\bgroceries\b(?:,? [a-z]+){{0,4}}? (?:at|from|in|to) {p.OWN}([a-z][a-z' -]{{2,40}}?){p.END}": None,
        },
    ),
    "fashion_style": Field(
        lower,
        ("style", "fashion", "clothing style"),
        {
            rf"\b({p.STYLES}) (?:style|clothes|clothing|outfits?|fashion|wardrobe|look)\b": None,
            rf"\b{p.LIKES_TO}(?:dress(?:es)?|clothes|clothing|outfits?|wardrobe|style)\b(?:,? [a-z]+){{0,3}}?"
            rf" ({p.STYLES})\b": None,
        },
    ),
    "transport": Field(
        one_of(**{name: name for name in p.VEHICLES.split("|")}),
        ("getting around", "means of transport"),
        {
            rf"\b(?:travels?|travelling|commutes?|commuting|goes|go|gets?|comes?|moves)(?: (?!by\b)\w+){{0,3}} by"
            rf" ({p.VEHICLES}){p.VALUE_END}": None,
            rf"\b(?:takes?|rides?|drives?|relies on|catches) {p.OWN}({p.VEHICLES}){p.VALUE_END}": None,
        },
    ),
    "sleep_chronotype": Field(
        one_of(early="early|morning", late="late|night|evening", between="between"),
        ("chronotype", "sleep"),
        {
            r"\b((?:early|late) (?:bird|riser)|(?:morning|night|evening) (?:person|owl)|(?:gets? up|rises?"
            r"|wakes?(?: up)?"
            r"|is up|stays? up|(?:goes|go) to (?:bed|sleep)|falls asleep)(?: (?:very|quite|rather|always))? (?:early"
            r"|late))\b": None
        },
    ),
    "eco_friendliness": Field(
        degree,
        ("eco-friendliness", "environment", "sustainability"),
        {
            rf"\b((?:\w+ )?(?:{p.CARE})\b(?: \w+){{0,3}}? (?:environment|sustainability))\b": None,
            rf"\b((?:environment|sustainability)(?: \w+){{0,3}}? (?:{p.CARE}))\b": None,
            r"\b(eco-friendly|environmentally (?:aware|conscious|friendly))\b": None,
        },
        denied={"high": "low"},
    ),
    "tech_affinity": Field(
        degree,
        ("interest in technology", "technology"),
        {
            rf"\b((?:\w+ )?(?:{p.CARE})\b(?: \w+){{0,3}}? (?:technology|technical things|gadgets))\b": None,
            rf"\b((?:technology|technical things|gadgets)(?: \w+){{0,3}}? (?:{p.CARE}))\b": None,
            r"\b(tech(?:nology)? (?:enthusiast|fan))\b": "high",
        },
        denied={"high": "low"},
    ),
    "primary_device": Field(
        one_of(**{name.replace(" ", "_"): name for name in ("smartphone", "laptop", "tablet", "desktop")}),
        ("main device", "device"),
        {
            rf"\b(?:mostly|mainly|usually|primarily|nearly everything|almost everything|everything)"
            rf"(?: (?:works|uses?|is|on|with|done)){{0,3}} {p.OWN}({p.DEVICES}){p.VALUE_END}": None,
            rf"\buses {p.OWN}({p.DEVICES}) (?:most|for (?:nearly |almost )?everything)\b": None,
        },
    ),
    "favorite_social_platform": Field(
        text,
        ("favourite social platform", "social platform", "social network"),
        {
            r"\b(?:active|social time|social life|posts?) (?:mostly |mainly )?(?:on|through) ([A-Z]\w+)": None,
            r"\bsocial (?:platforms?|networks?|media),? (?:she|he|I|they) (?:prefers?|likes?|uses?)"
            r" (?:to use )?([A-Z]\w+)": None,
        },
        case_sensitive=True,
    ),
    "social_media_usage_time": Field(
        a_day,
        ("time on social media", "social media time"),
        {
            rf"\b{p.DURATION} (?:(?:a|per|each|every) day|daily)(?: \w+){{0,4}}? social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {p.DURATION} (?:(?:a|per|each|every) day|daily)": None,
            rf"\b(?:(?:each|every) day|daily),?(?: \w+){{1,3}}? {p.DURATION}(?: \w+)? on social media\b": None,
        },
    ),
    "content_preference": Field(
        lower,
        ("preferred content", "content", "favourite content"),
        {
            rf"\b(?:mostly|mainly|usually|prefers?|prefers to|often|rather)(?: (?:enjoys?|watch(?:es)?|reads?|consumes?"
            rf"|listens? to|or)){{1,4}} ({p.MEDIA}){p.VALUE_END}": None,
            rf"\b(?:watches|reads|consumes|listens to) or (?:watches|reads|listens to) ({p.MEDIA}){p.VALUE_END}": None,
        },
    ),
    "sports_interest": Field(
        lower,
        ("sport", "sports", "favourite sport"),
        {
            rf"\b{p.LIKES_TO}(?:plays?|played|playing|follows?|following|interest(?:ed)? in|fan of|watches)"
            rf" ({p.SPORTS}){p.VALUE_END}": None
        },
    ),
    "gaming_preference": Field(
        lower,
        ("games", "favourite games", "gaming"),
        {
            rf"\b{p.LIKES_TO}play(?:s|ing)? ((?:(?!video|computer|many|some|no|her|his|the)[a-z-]+ )games)\b": None,
            r"\b(?:gamer|games|gaming),? (?:she|he|i|they) (?:prefers?|chooses?|likes?|plays?)"
            r" ((?:[a-z-]+ )?games)\b": None,
        },
    ),
    "travel_frequency": Field(
        p.HOW_OFTEN,
        ("travel", "travels"),
        {
            r"\b((?:never|rarely|seldom|hardly ever|hardly|sometimes|occasionally|often|frequently|regularly"
            r"|constantly)"
            r" (?:she |he |i |they |goes |go )?travel(?:s|ling)?)\b(?! (?:by|to|with)\b)": None,
            r"\btravels? (?:very |quite )?(often|a lot|rarely|seldom|sometimes|occasionally|frequently|regularly"
            r"|now and then"
            r"|from time to time|all the time)\b": None,
            r"\b(?:does not|doesn't|do not|don't) travel(?: at all)?$": "never",
        },
    ),
    "needs": Field(
        items,
        ("need",),
        {
            rf"{p.NOT_WHAT}\bneeds? (?!to\b|is\b|of\b|for\b)(.+)": None,
            r"\b(?:needs? is|(?:in|has) (?:\w+ )?need of) (.+)": None,
        },
    ),
    "wants": Field(
        items,
        ("want",),
        {
            rf"{p.NOT_WHAT}\bwants? (?:to (?:buy|get|have|own) )?(?!to\b|is\b)(.+)": None,
            r"\b(?:wants? is|looking for|is after|hoping for|hopes for) (.+)": None,
        },
    ),
    "desires": Field(
        items,
        ("desire", "dream", "dreams", "wishes"),
        {
            r"\b(?:(?:dreams?|dreamed|dreamt|dreaming) (?:of|about)|(?:longs?|yearns?|wishes|longing|yearning) for)"
            r" (.+)": None
        },
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
