"""Pieces of which the sentence patterns of `fields` are made, and the closed lists of words in them (pure)."""

from examples.reference_agents.values import WORDS, one_of

COUNT = rf"(\d{{1,3}}|{'|'.join(WORDS)})"
PLACE = r"([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
OWN = r"(?:(?:an?|the|her|his|my|their) )?"
END = (
    r"(?= (?:in|at|for|and|who|but|by|to|on|from|with|since|because|these|this|now|nowadays|full|part|or|most|every"
    r"|while"
    r"|during|near|around|whenever|when|as|than)\b|[.,;\n]|$)"
)
# a word of a closed list is the whole value: "a tennis coach" plays no tennis, and "drives a tram driver mad" no tram
VALUE_END = (
    r"(?![\w-])(?! (?!(?:and|to|in|at|for|on|every|each|all|most|since|with|than|when|over|as|these|now"
    r"|twice|but|\d+|two|three|ten)\b)\w)"
)
LIKES_TO = r"(?:(?:likes?|loves?|enjoys?|prefers?) (?:to )?)?"  # what somebody likes to do they do
MONEY = r"(\d[\d.,]*\d(?: ?(?:-|\u2013|to|and) ?\d[\d.,]*\d)?(?: ?(?:EUR|USD|euros|dollars))?)"
DURATION = r"((?:\d+|an?|one|two|three|half an) (?:hours?|minutes?))"
STYLES = (
    "casual|classic|classical|elegant|sporty|minimalist|vintage|bohemian|formal|business|preppy|romantic|chic|punk|gothic"
    "|smart casual|streetwear|outdoor|practical|colourful|colorful|alternative|timeless|athletic"
)
CARE = (
    r"loves?|enjoys?|cares?|matters?|means|important|unimportant|interest|interested|enthusiastic|enthusiasm|enthusiast|keen"
    r"|passionate|passion|fascinated|indifferent|attention"
)
NOT_WHAT = r"(?<!what she )(?<!what he )(?<!what they )(?<!what i )"  # "orders what she needs online"
# "vegan or vegetarian" does not tell which of the two applies; "vegan food" is no diet
ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
FOOD_NOUNS = (
    "food|foods|dish|dishes|recipes?|restaurants?|cooking|cuisine|products?|brands?|cakes?|meals?|options?|shoes|leather"
    "|cosmetics|friendly"
)
SPORTS = (
    "tennis|table tennis|football|soccer|volleyball|basketball|handball|hockey|rugby|cricket|golf|chess|badminton"
    "|squash|baseball|darts"
)
EXERCISE = "running|jogging|swimming|cycling|climbing|rowing|hiking|dancing|skating|bouldering"
VEHICLES = "bicycle|bike|bus|train|car|tram|metro|subway|underground|scooter|motorbike|taxi|foot"
MEDIA = (
    "podcasts|documentaries|short videos|videos|novels|books|news|films|movies|series|music|audiobooks|blogs|magazines"
)
DEVICES = "smartphone|phone|laptop|tablet|desktop computer|desktop|computer"
HOW_OFTEN = one_of(
    never="never|not", rarely="rarely|seldom|hardly ever|hardly",
    sometimes="sometimes|occasionally|now and then|from time to time|now and again|every so often",
    often="(?<!so )often|a lot|frequently|regularly|constantly|all the time",
)  # fmt: skip
