"""Pieces of which the sentence patterns of `fields` are made, and the closed lists of words in them (pure)."""

from typing import Any

from examples.reference_agents.values import WORDS, one_of

COUNT = rf"(\d{{1,3}}|{'|'.join(WORDS)})"
PLACE = r"([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
OWN = r"(?:(?:an?|the|her|his|my|their) )?"
END = (
    r"(?= (?:in|at|for|and|who|but|by|to|on|from|with|since|because|these|this|now|nowadays|full|part|or|most|every"
    r"|while|during|near|around|whenever|when|as|than)\b|[.,;\n]|$)"
)
# a word of a closed list is the whole value: "a tennis coach" plays no tennis, and "drives a tram driver mad" no tram
VALUE_END = (
    r"(?![\w-])(?! (?!(?:and|to|in|at|for|on|every|each|all|most|since|with|than|when|over|as|these|now|rather|is|are"
    r"|by|before|after|because|while|among|instead|first|more|better|if|who|that|whenever|wherever|almost|nearly"
    r"|always|usually|mostly|regularly|often|a|closely|twice|but|\d+|two|three|ten)\b)\w)"
)
BETWEEN = (
    r",?(?: (?!(?:or|but|who|not|no|whose|instead|than|against|groceries|sons?|daughters?|brothers?|sisters?|husband"
    r"|wife|children|friends?)\b)[\w',-]+?){0,%d}?,? "
)
LIKES_TO = r"(?:(?:likes?|loves?|enjoys?|prefers?) (?:to )?)?"  # what somebody likes to do they do
MONEY = r"(\d[\d.,]*\d(?: ?(?:-|\u2013|to|and) ?\d[\d.,]*\d)?(?: ?(?:EUR|USD|euros|dollars))?)"
A_DAY = r"(?: (?:of )?(?:an?|per|each|every|her|his|my|their|the) day| daily)\b"
DURATION = r"((?:\d+|an?|one|two|three|half an) (?:hours?|minutes?))"
STYLES = (
    "casual|classic|classical|elegant|sporty|minimalist|vintage|bohemian|formal|business|preppy|romantic|chic|punk"
    "|gothic|smart casual|streetwear|outdoor|practical|colourful|colorful|alternative|timeless|athletic"
)
CARE = (
    r"loves?|enjoys?|cares?|matters?|means|important|unimportant|interest|interested|enthusiastic|enthusiasm|enthusiast"
    r"|fan|savvy|lover|keen|passionate|passion|fascinated|indifferent|excited|committed|devoted|concern|concerned"
    r"|thought|attention|priority|heart|little|first|comfortable|cold"
)
NOT_WHAT = r"(?<!what she )(?<!what he )(?<!what they )(?<!what i )"  # "orders what she needs online"
# "vegan or vegetarian" does not tell which of the two applies; "vegan food" is no diet
ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
FOOD_NOUNS = (
    "food|foods|dish|dishes|recipes?|restaurants?|cooking|cuisine|products?|brands?|cakes?|meals?|options?|shoes"
    "|leather|cosmetics|friendly"
)
SPORTS = (
    "tennis|table tennis|football|soccer|volleyball|basketball|handball|hockey|rugby|cricket|golf|chess|badminton"
    "|squash|baseball|darts"
)
EXERCISE = "running|jogging|swimming|cycling|climbing|rowing|hiking|dancing|skating|bouldering"
VEHICLES = "bicycle|bike|bus|train|car|tram|metro|subway|underground|scooter|motorbike|taxi|foot"
CONTENT = (
    "podcasts|documentaries|short videos|videos|novels|books|news|films|movies|series|music|audiobooks|blogs|magazines"
)
GENRES = (
    "puzzle|strategy|board|card|role-playing|adventure|racing|simulation|sports|action|party|word|shooter|computer"
    "|online|mobile|console"
)
TRADES = (
    r"engineer|designer|manager|teacher|architect|analyst|writer|nurse|doctor|dentist|therapist|physiotherapist"
    r"|pharmacist"
    r"|carpenter|electrician|plumber|baker|cook|chef|lawyer|accountant|librarian|illustrator|journalist|bookbinder"
    r"|buyer|developer|programmer|consultant|mechanic|gardener|farmer|waiter|waitress|hairdresser|photographer|musician"
    r"|scientist|researcher|lecturer|professor|translator|editor|secretary|salesperson|cashier|pilot|surgeon|vet"
    r"|psychologist|builder|painter|tailor|butcher|florist|bookkeeper|clerk|paramedic|midwife|social worker"
)
OFTEN = (
    "never|rarely|seldom|hardly ever|hardly|sometimes|occasionally|often|frequently|regularly|constantly|all the time"
    "|now and then|now and again|from time to time|every so often|once in a while"
)
DEGREE_WORDS = r"(?:master|bachelor)['\u2019]?s degree|doctorate|phd|apprenticeship|high[- ]school diploma|diploma"
STORE = r"(?:[a-z'-]+ ){0,2}(?:market|supermarket|store|shop|discounter|grocer|greengrocer|co-op|hypermarket)s?"
DEVICES = "smartphone|phone|laptop|tablet|desktop computer|desktop|computer"
SHOPPING = one_of(
    online="online|internet|web",
    in_store=r"in[ _-]?(?:an? |real |physical |local |actual ){0,2}(?:stores?|shops?|person)",
    both="both",
)
TRIPS = r"(?:(?:on|takes?|makes?) (?:an? )?(?:trips?|journeys?)|travelling)"
HOW_OFTEN = one_of(
    never="never|not", rarely="rarely|seldom|hardly ever|hardly",
    sometimes="sometimes|occasionally|now and then|from time to time|now and again|every so often|once in a while",
    often="(?<!so )(?<!how )often|a lot|frequently|regularly|constantly|all the time",
)  # fmt: skip


def near(cues: str, words: str, between: int = 4) -> dict[str, Any]:
    """Patterns for a word of a closed list some words after one of the cues."""
    return {rf"\b(?:{cues})\b{BETWEEN % between}{OWN}({words}){VALUE_END}": None}


def cared_for(things: str) -> dict[str, Any]:
    """Patterns for how much somebody cares for one of the things."""
    return {
        rf"\b((?:\w+ )?(?:{CARE})\b(?: \w+){{0,5}}? (?:{things}))\b": None,
        rf"\b((?:{things})(?: \w+){{0,3}}? (?:{CARE})(?: (?:very )?(?:little|nothing|a lot|much))?)\b": None,
    }
