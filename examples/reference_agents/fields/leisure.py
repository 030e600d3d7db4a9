"""What is read out of text about technology, media, sports, games and travel (pure)."""

from examples.reference_agents import patterns as p
from examples.reference_agents.fields.field import Field
from examples.reference_agents.values import a_day, degree, lower, one_of, text

LEISURE: dict[str, Field] = {
    "tech_affinity": Field(
        degree,
        ("interest in technology", "technology"),
        {
            **p.cared_for("technology|technical things|gadgets"),
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
                "device|(?:every|most )things?|goes online (?:with|on)|relies on|reaches for|works (?:mainly"
                "|mostly) on",
                p.DEVICES,
                3,
            ),
            rf"\b(?:uses|prefers) {p.OWN}({p.DEVICES}) (?:most|more than|to any|for (?:nearly "
            rf"|almost )?everything)\b": None,
        },
    ),
    "favorite_social_platform": Field(
        text,
        ("favourite social platform", "social platform", "social network"),
        {
            r"\b(?:active|most (?:of (?:her|his|my) )?time(?: online)?|social time|social life|posts?) (?:mostly "
            r"|mainly )?(?:on|through) ([A-Z]\w+)": None,
            r"\b(?:prefers?|uses?|chooses?) ([A-Z]\w+) (?:to|over|more than) (?:all"
            r"|any)(?: the)?(?: other)? social\b": None,
            r"\bsocial (?:platforms?|networks?|media),? (?:she|he|I|they) (?:prefers?|likes?|uses?)"
            r" (?:to use )?([A-Z]\w+)": None,
        },
        case_sensitive=True,
    ),
    "social_media_usage_time": Field(
        a_day,
        ("time on social media", "social media time"),
        {
            rf"\b{p.DURATION}{p.A_DAY}(?: \w+){{0,4}}? social media\b": None,
            rf"\bsocial media\b(?: (?!or\b|and\b)\w+){{0,4}}? {p.DURATION}{p.A_DAY}": None,
            rf"\b{p.DURATION} (?:\w+ )?on social media{p.A_DAY}": None,
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
                rf"{p.LIKES_TO}(?:media|content|evenings?|spends?|relaxes|unwinds|happiest|watch(?:es|ing)?|read(?:s"
                rf"|ing)?"
                r"|listen(?:s|ing)? to|consumes|follows|prefers|chooses|turns to|drawn to)",
                p.CONTENT,
                4,
            ),
            rf"\b({p.CONTENT}) (?:appeal to|are what|suit|entertain) (?:her|him|me|them|she|he|i|they)\b": None,
        },
    ),
    "sports_interest": Field(
        lower,
        ("sport", "sports", "favourite sport"),
        {
            **p.near(
                rf"{p.LIKES_TO}(?:plays?|played|playing|follows?|following|interest(?:ed)? in|fan of|watches|trains in"
                r"|into|practises|sports?|matches)",
                p.SPORTS,
                3,
            ),
            rf"\b({p.SPORTS}) (?:player|fan)\b": None,
        },
    ),
    "gaming_preference": Field(
        lower,
        ("games", "favourite games", "gaming"),
        {
            **p.near(
                rf"{p.LIKES_TO}(?:plays?|playing|gamer|games|gaming|into|goes for|prefers|picks|chooses)|give (?:her"
                rf"|him)",
                rf"(?:{p.GENRES}) games",
                3,
            ),
        },
    ),
    "travel_frequency": Field(
        p.HOW_OFTEN,
        ("travel", "travels"),
        {
            rf"\b((?:{p.OFTEN}) (?:she |he |i |they |goes |go |away )?travel(?:s|ling)?)\b(?! (?:by|to|with)\b)": None,
            rf"\b({p.OFTEN})(?: \w+){{0,3}}? {p.TRIPS}\b": None,
            rf"\b(?:{p.TRIPS}|travels?) (?:very |quite )?({p.OFTEN}|a lot)\b": None,
            r"\b(?:does not|doesn't|do not|don't) travel(?: at all)?$": "never",
        },
    ),
}
