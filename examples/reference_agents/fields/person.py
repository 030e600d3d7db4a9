"""What is read out of text about the person and their home (pure)."""

from examples.reference_agents import patterns as p
from examples.reference_agents.fields.field import Field
from examples.reference_agents.values import bracket, lower, number, one_of, text

PERSON: dict[str, Field] = {
    "age": Field(
        number,
        (),
        {
            r"\b(\d{1,3})[ -]years?[ -]old\b": None,
            r"\baged? (?:of )?(\d{1,3})\b": None,
            r"\bturned (\d{1,3})\b": None,
            r"\b(\d{1,3}) years of age\b": None,
            r"^(?-i:[A-Z][\w'-]+(?: [A-Z][\w'-]+)*), (\d{1,3}),": None,
            r"\b(?:she|he|i|(?-i:[A-Z]\w+)) (?:is|am) (?:\w+ )?(\d{1,3})(?= and\b|,|$)": None,
        },
    ),
    "gender": Field(
        lower,
        (),
        {
            r"\b(?:is|am|as) (female|male|non-binary)(?! \w)": None,
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
            rf"|city|town) of)? {p.PLACE}\b(?!,? and (?:then|later)\b)": None,
            rf"\b(?:calls?|made) {p.PLACE} (?:her |his |my |their )?home\b": None,
            rf"^{p.PLACE} (?:is|has (?:long |always )?been) (?:her|his|my) home\b": None,
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
            p.ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"): None,
            r"\b(?:is|am|'s|'m|became|as) an? (widow|widower)\b": None,
            r"\b(?:is|am|'s|'m) (?:currently |now |still )?(single)\b(?! (?!and\b|at\b|by\b|again\b|these\b|for\b"
            r"|with\b)\w)": None,
            r"\b(?:(?:lives?|living|home|flat|house|relationship|everyday life) (?:together )?with|has)"
            r" (?:an?|her|his|my|their) (?:partner|girlfriend|boyfriend)\b": "partnered",
        },
    ),
    "household_size": Field(
        number,
        ("people in the household",),
        {
            rf"\b{p.COUNT} (?:people|persons|members) (?:\w+ ){{0,2}}(?:in|share|under) (?:her|his|my|their|the|one)"
            rf" (?:household|home|flat|roof)": None,
            rf"\b{p.COUNT} of (?:them|us) (?:\w+ )?(?:at home|in (?:the|her|his|my|their|one)|living|live|share"
            rf"|under)\b": None,
            r"\b(?:lives?|living) (?:all |completely |entirely )?(?:alone|by (?:her|him|my)self|on (?:her|his|my)"
            r" own)\b": 1,
            rf"(?<!shares her )\bhousehold (?:\w+ ){{0,4}}?{p.COUNT}\b(?! (?:\w+ )?(?:others?|more|cats?|dogs?"
            rf"|years?)\b)": None,
        },
    ),
    "children_count": Field(
        number,
        ("children", "kids", "number of children"),
        {
            rf"\b(?:has|have|got|with|total of|raises?|raising|brings? up|bringing up"
            rf"|and) {p.COUNT}(?: \w+)? (?:children"
            rf"|child|kids?)\b": None,
            r"\b(?:has|have) (?:a|one) (?:son|daughter) and (?:a|one) (?:son|daughter)\b": 2,
            r"\b(?:has|have) (a|one) (?:single |only )?(?:child|kid|son|daughter)\b(?! and)": None,
            r"\b(?:without|(?:does|do)(?: not|n't) have|has not got) (?:any )?(?:children|kids)\b": 0,
            rf"\b(?:mother|father|mum|mom|dad|parent) of {p.COUNT}(?: child(?:ren)?| kids?)?\b": None,
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
            rf"\b(?:is|am|'s|'m|been) an? (?:trained |qualified |professional )?((?!former|retired|aspiring|future"
            rf"|would|ex-|trained|failed|good|great|bad)(?:[a-z-]+ )?(?:{p.TRADES})){p.END}": None,
        },
    ),
    "education": Field(
        lower,
        ("degree", "qualification", "highest degree", "highest qualification"),
        {
            **p.near(
                "has|have|holds?|hold|graduated|finished|completed|earned|obtained|got|gained|received|awarded|granted"
                "|did|took|left|came|ended",
                p.DEGREE_WORDS + "(?: in [a-z]+(?: (?:and )?[a-z]+)?)?",
                5,
            ),
        },
    ),
    "income_bracket": Field(
        bracket,
        ("income", "salary", "income range", "yearly income"),
        {
            rf"\b(?:earns?|earning|makes|(?:takes|brings) home|income|salary|pay|wages?|earnings|receives|job pays"
            rf"|pays (?:her|him|me|them)|paid)(?! \w+ (?:a|per) (?:month|week))"
            rf"(?: \w+){{0,5}}? {p.MONEY}(?! ?(?:a|per|an|each|every) (?:month|week|day|hour))": None,
        },
    ),
    "home_ownership": Field(
        one_of(own="own|owns|(?:home)?owner|owned|bought", rent="rent|rents|rented|renting|tenant", other="other"),
        ("home", "housing"),
        {
            rf"\b(owns?|rents?|renting|bought) (?!out\b){p.OWN}(?:\w+ )?(?:home|house|flat|apartment|place)\b"
            r"(?! boat)": None,
            r"\b(?:is|am|as) (?:an?|the) (tenant|(?:home|house|flat)[ -]?owner|owner of (?:her|his|my|the) (?:home"
            r"|house"
            r"|flat|apartment))\b": None,
            r"\b(?:home|house|flat|apartment|place)(?: (?:she|he|i|they) lives? in)? is (?:an? )?(rented|(?:her|his"
            r"|my) own\b)": None,
            r"\b(?:home|house|flat|apartment)(?: (?:she|he|i|they) lives? in)? belongs to (?:her|him|me"
            r"|them)\b": "own",
            r"\b(?:pays?|paying) (?:the |her |his |my |a )?(?:\w+ )?rent\b": "rent",
            r"\bin (?:an? )?(rented) (?:home|house|flat|apartment|accommodation)\b": None,
        },
    ),
    "city_tier": Field(lower, ("size of the city",), {}),
}
