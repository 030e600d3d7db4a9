"""What is read out of text about technology, media, sports, games and travel (pure)."""

from examples.reference_agents import patterns as p
from examples.reference_agents.fields.field import Field
from examples.reference_agents.values import a_day, degree, lower, one_of, text

LEISURE: dict[str, Field] = {
    "tech_affinity": Field(
        degree,
        ("interest in technology", "technology"),
        {
            rf"\b((?:\w+ )?(?:{p.CARE})\b(?: \w+){{0,3}}? (?:technology|technical things|gadgets))\b": None,
            rf"\b((?:technology|technical things|gadgets)(?: \w+){{0,3}}? (?:{p.CARE}))\b": None,
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
            rf"(?: (?:works|uses?|is|on|with|done)){{0,3}} {p.OWN}({p.DEVICES}){p.VALUE_END}": None,
            **p.near(
                "device|everything|goes online (?:with|on)|relies on|reaches for|works (?:mainly|mostly) on",
                p.DEVICES,
                3,
            ),
            rf"\b(?:her|his|my|the) ({p.DEVICES}) is the (?:device|one) (?:that )?(?:she|he|i|they) uses? (?:the"
            rf" )?most\b": None,
            rf"\buses {p.OWN}({p.DEVICES}) (?:most|for (?:nearly |almost )?everything)\b": None,
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
            rf"\b{p.DURATION} (?:(?:a|per|each|every) day|daily)(?: \w+){{0,4}}? social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {p.DURATION} (?:of (?:her|his|my|their|the|each|every)"
            rf" day|daily)": None,
            rf"\b{p.DURATION} (?:\w+ )?on social media (?:(?:a|per|each|every) day|daily)": None,
            rf"\b{p.DURATION} of (?:her|his|my|their|each|every) day (?:\w+ ){{0,3}}social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {p.DURATION} (?:(?:a|per|each|every) day|daily)": None,
            rf"\b(?:(?:each|every) day|daily),?(?: \w+){{1,3}}? {p.DURATION}(?: \w+)? on social media\b": None,
        },
    ),
    "content_preference": Field(
        lower,
        ("preferred content", "content", "favourite content"),
        {
            rf"\b(?:mostly|mainly|usually|prefers?|prefers to|often|rather)(?: (?:enjoys?|watch(?:es)?|reads?|consumes?"
            rf"|listens? to|or)){{1,4}} ({p.CONTENT}){p.VALUE_END}": None,
            **p.near(
                "media|content|evenings?|spends?|relaxes|unwinds|happiest|watches|reads|listens to|consumes|follows"
                "|prefers",
                p.CONTENT,
                4,
            ),
            rf"\b({p.CONTENT}) (?:appeal to|are what|suit|entertain) (?:her|him|me|them|she|he|i|they)\b": None,
            rf"\b(?:watches|reads|consumes|listens to) or (?:watches|reads|listens to)"
            rf" ({p.CONTENT}){p.VALUE_END}": None,
        },
    ),
    "sports_interest": Field(
        lower,
        ("sport", "sports", "favourite sport"),
        {
            rf"\b{p.LIKES_TO}(?:plays?|played|playing|follows?|following|interest(?:ed)? in|fan of|watches|trains in"
            rf"|into|practises)"
            rf" ({p.SPORTS}){p.VALUE_END}": None,
            rf"\b({p.SPORTS}) (?:player|fan)\b": None,
            **p.near("sports?|follows|matches", p.SPORTS, 3),
        },
    ),
    "gaming_preference": Field(
        lower,
        ("games", "favourite games", "gaming"),
        {
            rf"\b{p.LIKES_TO}play(?:s|ing)? ((?:(?!video|computer|many|some|no|her|his|the)[a-z-]+ )games)\b": None,
            **p.near(
                "plays?|playing|gamer|games|gaming|into|goes for|likes? playing|give her|give him",
                rf"(?:{p.GENRES}) games",
                3,
            ),
            r"\b(?:gamer|games|gaming),? (?:she|he|i|they) (?:prefers?|chooses?|likes?|plays?)"
            r" ((?:[a-z-]+ )?games)\b": None,
        },
    ),
    "travel_frequency": Field(
        p.HOW_OFTEN,
        ("travel", "travels"),
        {
            rf"\b((?:{p.OFTEN}) (?:she |he |i |they |goes |go )?travel(?:s|ling)?)\b(?! (?:by|to|with)\b)": None,
            r"\btravels? (?:very |quite )?(often|a lot|rarely|seldom|sometimes|occasionally|frequently|regularly"
            r"|now and then"
            r"|from time to time|all the time)\b": None,
            rf"\b({p.OFTEN})(?: \w+){{0,3}}? (?:(?:on|takes?) (?:a )?(?:trips?|journeys?)|travelling)\b": None,
            rf"\b(?:(?:on|takes?) (?:a )?(?:trips?|journeys?)|travelling) (?:very |quite )?({p.OFTEN})\b": None,
            r"\b(?:does not|doesn't|do not|don't) travel(?: at all)?$": "never",
        },
    ),
}
