"""The one table of what is read out of text: field → labels, sentence patterns, form of the value (pure).

A pattern that ends in a value has one group; one with a fixed value has none. What a normaliser does not know is None
and is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examples.reference_agents.values import (
    WORDS,
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

_COUNT = rf"(\d{{1,3}}|{'|'.join(WORDS)})"
_PLACE = r"([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
_OWN = r"(?:(?:an?|the|her|his|my|their) )?"
_END = (
    r"(?= (?:in|at|for|and|who|but|by|to|on|from|with|since|because|these|this|now|nowadays|full|part|or|most|every"
    r"|while"
    r"|during|near|around|whenever|when|as|than)\b|[.,;\n]|$)"
)
# a word of a closed list is the whole value: "a tennis coach" plays no tennis, and "drives a tram driver mad" no tram
_VALUE_END = (
    r"(?![\w-])(?! (?!(?:and|to|in|at|for|on|every|each|all|most|since|with|than|when|over|as|these|now|rather|is|are"
    r"|by|before|after|because|while|among|instead|first|more|better|if|who|that|whenever|wherever|almost|nearly"
    r"|always|usually|mostly|regularly|often|a|closely|twice|but|\d+|two|three|ten)\b)\w)"
)
_BETWEEN = r"(?: (?!(?:or|but|who|not|no|whose|instead|than|against|groceries)\b)[\w',-]+?){0,%d}?,? "
_LIKES_TO = r"(?:(?:likes?|loves?|enjoys?|prefers?) (?:to )?)?"  # what somebody likes to do they do
_MONEY = r"(\d[\d.,]*\d(?: ?(?:-|\u2013|to|and) ?\d[\d.,]*\d)?(?: ?(?:EUR|USD|euros|dollars))?)"
_DURATION = r"((?:\d+|an?|one|two|three|half an) (?:hours?|minutes?))"
_STYLES = (
    "casual|classic|classical|elegant|sporty|minimalist|vintage|bohemian|formal|business|preppy|romantic|chic|punk"
    "|gothic"
    "|smart casual|streetwear|outdoor|practical|colourful|colorful|alternative|timeless|athletic"
)
_CARE = (
    r"loves?|enjoys?|cares?|matters?|means|important|unimportant|interest|interested|enthusiastic|enthusiasm"
    r"|enthusiast|keen"
    r"|passionate|passion|fascinated|indifferent|excited|committed|devoted|concern|concerned|thought|attention|care"
    r"|priority|heart|little|first"
)
_NOT_WHAT = r"(?<!what she )(?<!what he )(?<!what they )(?<!what i )"  # "orders what she needs online"
# "vegan or vegetarian" does not tell which of the two applies; "vegan food" is no diet
_ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
_FOOD_NOUNS = (
    "food|foods|dish|dishes|recipes?|restaurants?|cooking|cuisine|products?|brands?|cakes?|meals?|options?|shoes"
    "|leather"
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
_GENRES = (
    "puzzle|strategy|board|card|role-playing|adventure|racing|simulation|sports|action|party|word|shooter|computer"
    "|online|mobile|console"
)
_TRADES = (
    r"engineer|designer|manager|teacher|architect|analyst|writer|nurse|doctor|dentist|therapist|physiotherapist"
    r"|pharmacist"
    r"|carpenter|electrician|plumber|baker|cook|chef|lawyer|accountant|librarian|illustrator|journalist|bookbinder"
    r"|buyer"
    r"|developer|programmer|consultant|mechanic|gardener|farmer|waiter|waitress|hairdresser|photographer|musician"
    r"|scientist|researcher|lecturer|professor|translator|editor|secretary|salesperson|cashier|pilot|surgeon|vet"
    r"|psychologist|builder|painter|tailor|butcher|florist|bookkeeper|clerk|paramedic|midwife|social worker"
)
_OFTEN = (
    "never|rarely|seldom|hardly ever|hardly|sometimes|occasionally|often|frequently|regularly|constantly|all the time"
    "|now and then|now and again|from time to time|every so often|once in a while"
)
_DEGREE_WORDS = r"(?:master|bachelor)['\u2019]?s degree|doctorate|phd|apprenticeship|high[- ]school diploma|diploma"
_STORE = r"(?:[a-z'-]+ ){0,2}(?:market|supermarket|store|shop|discounter|grocer|greengrocer|co-op|hypermarket)s?"
_DEVICES = "smartphone|phone|laptop|tablet|desktop computer|desktop|computer"


def _near(cues: str, words: str, between: int = 4) -> dict[str, Any]:
    """Patterns for a word of a closed list some words after one of the cues."""
    return {rf"\b(?:{cues})\b{_BETWEEN % between}(?:(?:an?|the|her|his|my|their) )?({words}){_VALUE_END}": None}


def _before(words: str, cues: str, between: int = 3) -> dict[str, Any]:
    """Patterns for a word of a closed list some words before one of the cues."""
    return {rf"\b({words}){_BETWEEN % between}(?:{cues})\b": None}


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


_SHOPPING = one_of(
    online="online|internet|web",
    in_store=r"in[ _-]?(?:an? |real |physical |local |actual ){0,2}(?:stores?|shops?|person)",
    both="both",
)
_HOW_OFTEN = one_of(
    never="never|not", rarely="rarely|seldom|hardly ever|hardly",
    sometimes="sometimes|occasionally|now and then|from time to time|now and again|every so often|once in a while",
    often="(?<!so )(?<!how )often|a lot|frequently|regularly|constantly|all the time",
)  # fmt: skip

FIELDS: dict[str, Field] = {
    "age": Field(
        number,
        (),
        {
            r"\b(\d{1,3})[ -]years?[ -]old\b": None,
            r"\baged? (?:of )?(\d{1,3})\b": None,
            r"\bturned (\d{1,3})\b": None,
            r"\b(\d{1,3}) years of age\b": None,
            r"\b(?-i:[A-Z]\w+) is (\d{1,3})(?= and\b|,|$)": None,
            r"^at (\d{1,3}),? (?:she|he|i) (?:is|am|feels?|lives?|has|enjoys?|still)\b": None,
            r"^(?-i:[A-Z][\w'-]+(?: [A-Z][\w'-]+)*), (\d{1,3}),": None,
            r"\bage of (\d{1,3})\b": None,
            r"\b(\d{1,3})(?:st|nd|rd|th) birthday\b": None,
            r"\b(?:she|he|i) (?:is|am) (?:now |already )?(\d{1,3})(?= and\b|,|$)": None,
        },
    ),
    "gender": Field(
        lower,
        (),
        {
            r"\bidentif(?:y|ies) as (?:an? )?([a-z-]+)": None,
            r"\b(?:is|am) (female|male|non-binary)(?! \w)": None,
            r"\b(?:describes?|sees?|considers?) (?:her|him|my|them)(?:self|selves) (?:as|to be) (female|male"
            r"|non-binary)\b": None,
        },
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
            rf"\b(?:lives?|living|has lived|have lived|based|resides?|resident|settled|settled down|home is"
            rf"|flat is|house is|apartment is|moved|home|flat|apartment|roots|life|living)(?: (?:now|today|right"
            rf"|permanently"
            rf"|and works?|currently|happily|alone|here)){{0,2}} (?:in|to|of)(?: the (?:centre|center|middle|heart"
            rf"|city|town) of)? {_PLACE}\b(?!,? and (?:then|later)\b)": None,
            rf"\b(?:calls?|made) {_PLACE} (?:her |his |my |their )?home\b": None,
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
            r"^(?:she|he|i) and (?:her|his|my) (?:partner|girlfriend|boyfriend) (?:live|share|have"
            r" lived)\b": "partnered",
            r"^(?:she|he|i) and (?:her|his|my) (?:husband|wife) (?:are|have been) (?:\w+ )?(married)\b": None,
            _ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"): None,
            r"\b(?:is|am|'s|'m|became|as) an? (widow|widower)\b": None,
            r"\b(?:is|am|'s|'m) (?:currently |now |still )?(single)\b(?! (?!and\b|at\b|by\b|again\b|these\b|for\b"
            r"|with\b)\w)": None,
            r"\b(?:lives?|living|home|flat|house|relationship|everyday life) (?:together )?with (?:an?|her|his|my"
            r"|their) (?:partner"
            r"|girlfriend|boyfriend)\b": "partnered",
        },
    ),
    "household_size": Field(
        number,
        ("people in the household",),
        {
            rf"\b{_COUNT} (?:people|persons|members) (?:\w+ ){{0,2}}(?:in|share|under) (?:her|his|my|their|the|one)"
            rf" (?:household|home|flat|roof)": None,
            rf"\b{_COUNT} of (?:them|us) (?:\w+ )?(?:at home|in (?:the|her|his|my|their|one)|living|live|share"
            rf"|under)\b": None,
            r"\b(?:lives?|living) (?:all |completely |entirely )?(?:alone|by (?:her|him|my)self|on (?:her|his|my)"
            r" own)\b": 1,
            rf"\b(?:shares?|sharing) (?:her|his|my|their|an?|the) (?:\w+ )?(?:home|flat|house|apartment|household)"
            rf" with"
            rf" ((?:{'|'.join(WORDS)}|\d+) (?:others?|other people|more people))\b": None,
            rf"\b(?:family|household) of {_COUNT}\b": None,
            rf"(?<!shares her )\bhousehold (?:\w+ ){{0,4}}?{_COUNT}\b(?! (?:\w+ )?(?:others?|more|cats?|dogs?"
            rf"|years?)\b)": None,
        },
    ),
    "children_count": Field(
        number,
        ("children", "kids", "number of children"),
        {
            rf"\b(?:has|have|got|with|raises?|raising|brings? up|bringing up|and) {_COUNT}(?: \w+)? (?:children"
            rf"|child|kids?)\b": None,
            r"\b(?:has|have) (?:a|one) (?:son|daughter) and (?:a|one) (?:son|daughter)\b": 2,
            r"\b(?:has|have) (a|one) (?:child|kid|son|daughter)\b(?! and)": None,
            rf"\b(?:has|have|got|raises?|raising) {_COUNT} (?:sons|daughters)\b(?! and)": None,
            r"\b(?:never had|without|does not have|has not got) (?:any )?(?:children|kids)\b": 0,
            rf"\b(?:after|for) (?:her|his|my|their) {_COUNT} (?:children|kids)\b": None,
            rf"^{_COUNT} (?:children|kids) (?:live|are growing up|grow up)\b": None,
            r"\b(?:does not|doesn't|do not|don't) have (?:any )?(?:children|kids)\b": 0,
            rf"^{_COUNT} (?:children|child|kids?)\b": None,
            rf"\b(?:mother|father|mum|mom|dad|parent) of {_COUNT}\b": None,
            rf"\b(?:her|his|my|their) {_COUNT} (?:\w+ )?(?:children|kids)\b": None,
            rf"^there (?:is|are) {_COUNT} (?:children|child)(?= in (?:the|her|his|my|their) (?:family|home|house)"
            rf"|$)": None,
            r"\bchildless\b": 0,
        },
    ),
    "occupation": Field(
        lower,
        ("job", "profession"),
        {
            rf"\b(?:works?|worked|working|employed|living|career|job|money|practises|practices)(?: [\w-]+){{0,2}}? as"
            rf" (?:an? )?([a-z][a-z -]{{2,40}}?){_END}": None,
            r"\b(?:is|am|'s|'m) an? ([a-z][a-z -]{2,40}?) by (?:profession|trade|training|occupation)": None,
            rf"\bby (?:profession|trade|training|occupation),? (?:she|he|i|they) (?:is|am|are) an? ([a-z][a-z -]{{2"
            rf",40}}?){_END}": None,
            rf"\b(?:is|am|'s|'m|been) an? (?:trained |qualified |professional )?((?!former|retired|aspiring|future"
            rf"|would|ex-|trained|failed|good|great|bad)(?:[a-z-]+ )?(?:{_TRADES})){_END}": None,
        },
    ),
    "education": Field(
        lower,
        ("degree", "qualification", "highest degree", "highest qualification"),
        {
            **_near(
                "has|have|holds?|hold|graduated|finished|completed|earned|obtained|got|gained|received|awarded"
                "|granted"
                "|did|took|left|came|ended",
                _DEGREE_WORDS + "(?: in [a-z]+(?: (?:and )?[a-z]+)?)?",
                5,
            ),
            r"(?<!for )(?<!on )(?<!towards )(?<!doing )(?<!started )(?<!out of )(?<!begun )\b(?:an? |her |his |my "
            r"|the )"
            r"((?:(?:master|bachelor)['\u2019]?s degree|doctorate|phd|apprenticeship|high[- ]school diploma|diploma)"
            r"(?: in [a-z]+(?: (?:and )?[a-z]+)?)?)(?= (?:in|at|from|to|behind|and|after|as|since|with)\b|[.,;]"
            r"|$)": None,
        },
    ),
    "income_bracket": Field(
        bracket,
        ("income", "salary", "income range", "yearly income"),
        {
            rf"\b(?:earns?|earning|makes|(?:takes|brings) home|income|salary|pay|wages?|earnings|receives|job pays"
            rf"|pays (?:her|him|me|them)|paid)(?! \w+"
            rf" (?:a|per) (?:month|week))"
            rf"(?: \w+){{0,5}}? {_MONEY}(?! ?(?:a|per|an|each|every) (?:month|week|day|hour))": None,
        },
    ),
    "home_ownership": Field(
        one_of(own="own|owns|owner|owned|bought", rent="rent|rents|rented|renting|tenant", other="other"),
        ("home", "housing"),
        {
            rf"\b(owns?|rents?|renting|bought) (?!out\b){_OWN}(?:\w+ )?(?:home|house|flat|apartment|place)\b": None,
            r"\b(?:home|house|flat)[ -]?(owner)\b": None,
            r"\b(?:is|am|as) a (tenant)\b": None,
            r"\b(?:home|house|flat|apartment|place)(?: (?:she|he|i|they) lives? in)? is (?:an? )?(rented|(?:her|his"
            r"|my) own\b)": None,
            r"\b(?:home|house|flat|apartment)(?: (?:she|he|i|they) lives? in)? belongs to (?:her|him|me"
            r"|them)\b": "own",
            r"\b(?:pays?|paying) (?:the |her |his |my |a )?(?:\w+ )?rent\b": "rent",
            r"\b(?:pays?|paying)(?: off)? (?:the|her|his|my|a) mortgage\b": "own",
            r"\bowner of (?:her|his|my|the|an?) (?:own )?(?:home|house|flat|apartment)\b": "own",
            r"\bin an? (rented) (?:home|house|flat|apartment)\b": None,
            r"\blives? in (?:her|his|my|their) (own) (?:home|house|flat|apartment)\b": None,
        },
    ),
    "city_tier": Field(lower, ("size of the city",), {}),
    "diet_preference": Field(
        lower,
        ("diet",),
        {
            _ONE_OF.format("vegan|vegetarian|pescatarian|flexitarian|halal|kosher", _FOOD_NOUNS)
            + rf"(?: diet\b|{_VALUE_END})": None,
            r"\b(?:went|turned|became|gone|eats|cooks|lives) (?:strictly |fully |completely )?(vegan|vegetarian"
            r"|pescatarian|flexitarian)"
            r"(?= (?:years|some|many|\w+ years?) ago\b|$)": None,
        },
    ),
    "favorite_cuisine": Field(
        text,
        ("favourite cuisine", "cuisine", "favourite food"),
        {
            r"\b(?:prefers?|loves?|likes?|enjoys?) ([A-Z][a-z]+) cuisine": None,
            r"\b(?:prefers?|loves?|likes?|enjoys?) ([A-Z][a-z]+) (?:food|dishes) (?:best|most)\b": None,
            r"\b(?:[Nn]othing beats|goes? for|prefers?|craves?|chooses|picks|orders|cooks|eats)(?: mostly| mainly|"
            r" usually)?"
            r" ([A-Z][a-z]+) (?:food|cuisine|cooking|dishes|meals)\b": None,
            r"\b(?:likes?|loves?|enjoys?) ([A-Z][a-z]+) (?:food|cuisine|cooking|dishes) (?:more|above"
            r"|better)\b": None,
            r"\bcould eat ([A-Z][a-z]+)(?: food)? every day\b": None,
            r"^([A-Z][a-z]+) (?:cuisine|food|cooking) is (?:her|his|my|their) favou?rite\b": None,
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
            rf"(coffee and tea|tea and coffee|coffee|tea){_VALUE_END}": None,
            r"\b(coffee|tea) (?:drinker|person|lover)\b": None,
            **_near(
                "drinks?|prefers?|chooses?|reaches for|goes for|opts for|runs on|starts? (?:the|her|his|my) (?:day"
                "|morning) with"
                "|cannot do without",
                "coffee|tea",
                2,
            ),
            **_before("coffee|tea", "(?:is|over|rather than) (?:her|his|my) (?:drink|choice)|over (?:coffee|tea)", 1),
            r"\b(?:likes?|loves?) (coffee|tea) better than\b": None,
        },
    ),
    "fitness_routine": Field(
        whole,
        ("fitness", "exercise", "workout"),
        {
            rf"\b(?:likes? to go )?((?:{_EXERCISE}) (?:once|twice|(?:\w+ times)|every|each)(?: (?:a|per))?"
            rf" [a-z]+)\b": None,
            rf"\b(?:keeps?|stays?) fit (?:by|with) ((?:{_EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            rf"\b(?:goes|go) ((?:{_EXERCISE})(?: (?!and\b|but\b|or\b)[\w-]+){{0,5}})": None,
            r"\b(?:does|do|practises?) (yoga|pilates|gymnastics)\b": None,
        },
    ),
    "gym_membership": Field(
        yes_or_no,
        ("gym", "gym member"),
        {
            r"\b(?:member (?:of|at|in)|belongs? to|goes to|joined|signed up (?:with|at|to)|registered (?:with|at|in)"
            r"|works? out (?:at|in)|trains? (?:at|in)|pays? for)"
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
            **_near(
                rf"{_LIKES_TO}(?:shops?|shopping|buys?|buying|orders?|ordering|purchases)",
                r"online|(?:on|over) the (?:internet|web)"
                r"|in (?:an? |real |physical |local |actual ){0,2}(?:stores?|shops?|person)",
                6,
            ),
        },
    ),
    "grocery_store_type": Field(
        lower,
        ("groceries", "grocery store", "kind of grocery store"),
        {
            rf"\b(?:food shopping|groceries|food|grocery shopping)\b(?:,? [a-z]+){{0,4}}? (?:at|from|in|to)"
            rf" {_OWN}({_STORE}){_VALUE_END}": None,
            rf"\bgroceries\b(?:,? [a-z]+){{0,4}}? (?:at|from|in|to) {_OWN}([a-z][a-z' -]{{2,40}}?){_END}": None,
        },
    ),
    "fashion_style": Field(
        lower,
        ("style", "fashion", "clothing style"),
        {
            **_near("dress(?:es)?|clothes|clothing|outfits?|wardrobe|wears?|style", _STYLES, 4),
            rf"\b({_STYLES}) (?:style|clothes|clothing|outfits?|fashion|wardrobe|look)\b": None,
            rf"\b{_LIKES_TO}(?:dress(?:es)?|clothes|clothing|outfits?|wardrobe|style)\b(?:,? [a-z]+){{0,3}}?"
            rf" ({_STYLES})\b": None,
        },
    ),
    "transport": Field(
        one_of(**{name: name for name in _VEHICLES.split("|")}),
        ("getting around", "means of transport"),
        {
            rf"\b(?:travels?|travelling|commutes?|commuting|goes|go|gets?|comes?|moves)(?: (?!by\b)\w+){{0,3}} by"
            rf" ({_VEHICLES}){_VALUE_END}": None,
            rf"\b(?:reaches|arrives|covers|makes)(?: (?!by\b)[\w']+){{0,4}} by ({_VEHICLES}){_VALUE_END}": None,
            rf"\b(?:takes?|rides?|drives?|relies on|catches|uses?) {_OWN}({_VEHICLES}){_VALUE_END}": None,
        },
    ),
    "sleep_chronotype": Field(
        one_of(early="early|morning", late="late|night|evening", between="between"),
        ("chronotype", "sleep"),
        {
            r"\b((?:early|late) (?:bird|riser)|(?:morning|night|evening) (?:person|owl)|(?:gets? up|rises?"
            r"|wakes?(?: up)?"
            r"|is up|stays? up|(?:goes|go) to (?:bed|sleep)|falls asleep)(?: (?:very|quite|rather|always|too))?"
            r" (?:early"
            r"|late))\b": None,
            r"\bup with the (?:lark|sun)\b|\bup (?:before|at) (?:dawn|sunrise)\b": "early",
            r"\b((?:best|works best|comes alive|fresh|awake|active|productive)(?: \w+){0,2} (?:early|late|at night"
            r"|in the (?:morning|evening)))\b": None,
        },
    ),
    "eco_friendliness": Field(
        degree,
        ("eco-friendliness", "environment", "sustainability"),
        {
            rf"\b((?:\w+ )?(?:{_CARE})\b(?: \w+){{0,3}}? (?:environment|sustainability|sustainable|sustainably"
            rf"|climate|planet))\b": None,
            rf"\b((?:environment|sustainability|sustainably|climate|planet)(?: \w+){{0,3}}? (?:{_CARE}))\b": None,
            r"\bas (?:green|sustainably) as (?:possible|(?:she|he|i) can)\b": "high",
            r"\b(?:environment|sustainability|climate|green issues|environmental issues)\b(?: \w+){0,3}? (?:leaves?"
            r" (?:her|him|me|them) cold|does not interest)": "low",
            r"\b(eco-friendly|environmentally (?:aware|conscious|friendly))\b": None,
        },
        denied={"high": "low"},
    ),
    "tech_affinity": Field(
        degree,
        ("interest in technology", "technology"),
        {
            rf"\b((?:\w+ )?(?:{_CARE})\b(?: \w+){{0,3}}? (?:technology|technical things|gadgets))\b": None,
            rf"\b((?:technology|technical things|gadgets)(?: \w+){{0,3}}? (?:{_CARE}))\b": None,
            r"\b(?:technology|gadgets)\b(?: \w+){0,3}? leaves? (?:her|him|me|them) cold\b": "low",
            r"\bfirst to (?:\w+ ){1,4}(?:technology|gadgets?|devices?)\b": "high",
            r"\b(?:technology|gadgets) (?:is|are) (?:\w+ )?(?:her|his|my) thing\b": "high",
            r"\btech(?:nology)?[ -](?:enthusiast|fan|savvy|lover)\b": "high",
            r"\bgadget (?:lover|fan|enthusiast)\b": "high",
        },
        denied={"high": "low"},
    ),
    "primary_device": Field(
        one_of(**{name.replace(" ", "_"): name for name in ("smartphone", "laptop", "tablet", "desktop")}),
        ("main device", "device"),
        {
            rf"\b(?:mostly|mainly|usually|primarily|nearly everything|almost everything|everything)"
            rf"(?: (?:works|uses?|is|on|with|done)){{0,3}} {_OWN}({_DEVICES}){_VALUE_END}": None,
            **_near(
                "device|everything|goes online (?:with|on)|relies on|reaches for|works (?:mainly|mostly) on",
                _DEVICES,
                3,
            ),
            rf"\b(?:her|his|my|the) ({_DEVICES}) is the (?:device|one) (?:that )?(?:she|he|i|they) uses? (?:the"
            rf" )?most\b": None,
            rf"\buses {_OWN}({_DEVICES}) (?:most|for (?:nearly |almost )?everything)\b": None,
        },
    ),
    "favorite_social_platform": Field(
        text,
        ("favourite social platform", "social platform", "social network"),
        {
            r"\b(?:active|most (?:of (?:her|his|my) )?time(?: online)?|social time|social life|posts?) (?:mostly "
            r"|mainly )?(?:on|through) ([A-Z]\w+)": None,
            r"\bsocial (?:platforms?|networks?|media|apps?|channels?),? ([A-Z]\w+) (?:is|comes|suits)\b": None,
            r"\b(?:prefers?|uses?|likes?|chooses?) ([A-Z]\w+) (?:to|over|more than|rather than|above) (?:all |any "
            r"|the |every )*(?:other )?social"
            r" (?:platforms?|networks?|media)\b": None,
            r"\bsocial (?:platforms?|networks?|media),? (?:she|he|I|they) (?:prefers?|likes?|uses?)"
            r" (?:to use )?([A-Z]\w+)": None,
        },
        case_sensitive=True,
    ),
    "social_media_usage_time": Field(
        a_day,
        ("time on social media", "social media time"),
        {
            rf"\b{_DURATION} (?:(?:a|per|each|every) day|daily)(?: \w+){{0,4}}? social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {_DURATION} (?:of (?:her|his|my|their|the|each|every)"
            rf" day|daily)": None,
            rf"\b{_DURATION} (?:\w+ )?on social media (?:(?:a|per|each|every) day|daily)": None,
            rf"\b{_DURATION} of (?:her|his|my|their|each|every) day (?:\w+ ){{0,3}}social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {_DURATION} (?:(?:a|per|each|every) day|daily)": None,
            rf"\b(?:(?:each|every) day|daily),?(?: \w+){{1,3}}? {_DURATION}(?: \w+)? on social media\b": None,
        },
    ),
    "content_preference": Field(
        lower,
        ("preferred content", "content", "favourite content"),
        {
            rf"\b(?:mostly|mainly|usually|prefers?|prefers to|often|rather)(?: (?:enjoys?|watch(?:es)?|reads?"
            rf"|consumes?"
            rf"|listens? to|or)){{1,4}} ({_CONTENT}){_VALUE_END}": None,
            **_near(
                "media|content|evenings?|spends?|relaxes|unwinds|happiest|watches|reads|listens to|consumes|follows"
                "|prefers",
                _CONTENT,
                4,
            ),
            rf"\b({_CONTENT}) (?:appeal to|are what|suit|entertain) (?:her|him|me|them|she|he|i|they)\b": None,
            rf"\b(?:watches|reads|consumes|listens to) or (?:watches|reads|listens to)"
            rf" ({_CONTENT}){_VALUE_END}": None,
        },
    ),
    "sports_interest": Field(
        lower,
        ("sport", "sports", "favourite sport"),
        {
            rf"\b{_LIKES_TO}(?:plays?|played|playing|follows?|following|interest(?:ed)? in|fan of|watches|trains in"
            rf"|into|practises)"
            rf" ({_SPORTS}){_VALUE_END}": None,
            rf"\b({_SPORTS}) (?:player|fan)\b": None,
            **_near("sports?|follows|matches", _SPORTS, 3),
        },
    ),
    "gaming_preference": Field(
        lower,
        ("games", "favourite games", "gaming"),
        {
            rf"\b{_LIKES_TO}play(?:s|ing)? ((?:(?!video|computer|many|some|no|her|his|the)[a-z-]+ )games)\b": None,
            **_near(
                "plays?|playing|gamer|games|gaming|into|goes for|likes? playing|give her|give him",
                rf"(?:{_GENRES}) games",
                3,
            ),
            r"\b(?:gamer|games|gaming),? (?:she|he|i|they) (?:prefers?|chooses?|likes?|plays?)"
            r" ((?:[a-z-]+ )?games)\b": None,
        },
    ),
    "travel_frequency": Field(
        _HOW_OFTEN,
        ("travel", "travels"),
        {
            rf"\b((?:{_OFTEN}) (?:she |he |i |they |goes |go )?travel(?:s|ling)?)\b(?! (?:by|to|with)\b)": None,
            r"\btravels? (?:very |quite )?(often|a lot|rarely|seldom|sometimes|occasionally|frequently|regularly"
            r"|now and then"
            r"|from time to time|all the time)\b": None,
            rf"\b({_OFTEN})(?: \w+){{0,3}}? (?:(?:on|takes?) (?:a )?(?:trips?|journeys?)|travelling)\b": None,
            rf"\b(?:(?:on|takes?) (?:a )?(?:trips?|journeys?)|travelling) (?:very |quite )?({_OFTEN})\b": None,
            r"\b(?:does not|doesn't|do not|don't) travel(?: at all)?$": "never",
        },
    ),
    "needs": Field(
        items,
        ("need",),
        {
            rf"{_NOT_WHAT}\bneeds? (?!to\b|is\b|of\b|for\b)(.+)": None,
            r"\b(?:needs? is|(?:in|has) (?:\w+ )?need of|requires|lacks|is short of|could (?:do with|use)|has to"
            r" get|is missing) (.+)": None,
        },
    ),
    "wants": Field(
        items,
        ("want",),
        {
            rf"{_NOT_WHAT}\bwants? (?:to (?:buy|get|have|own) )?(?!to\b|is\b)(.+)": None,
            r"\b(?:wants? is|looking for|looking to (?:buy|get)|is after|hoping for|hopes for|saving up for|has"
            r" (?:her|his) eye on"
            r"|in the market for|shopping for|shopping list is|shopping list are|set on|keen to (?:buy|get))"
            r" (.+)": None,
        },
    ),
    "desires": Field(
        items,
        ("desire", "dream", "dreams", "wishes"),
        {
            r"\b(?:(?:dreams?|dreamed|dreamt|dreaming) (?:of|about)|(?:longs?|yearns?|wishes|longing|yearning"
            r"|wishing) for"
            r"|fantasi[sz]es about|has (?:her|his) heart set on)"
            r" (.+)": None
        },
    ),
    "intent_24h": Field(intent, ("within 24 hours", "next 24 hours", "24h", "plans for the next day"), {}),
    "intent_48h": Field(intent, ("within 48 hours", "next 48 hours", "48h", "plans for two days"), {}),
    "intent_72h": Field(intent, ("within 72 hours", "next 72 hours", "72h", "plans for three days"), {}),
    "brand_affinities": Field(items, ("favourite brands", "brands"), {}),
}
LISTS = ("needs", "wants", "desires", "likes", "dislikes", "brand_affinities")
