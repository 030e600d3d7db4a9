"""What is read out of text about food, habits and everyday life (pure)."""

from examples.reference_agents import patterns as p
from examples.reference_agents.fields.field import Field
from examples.reference_agents.values import degree, lower, one_of, text, whole, yes_or_no

LIVING: dict[str, Field] = {
    "diet_preference": Field(
        lower,
        ("diet",),
        {
            p.ONE_OF.format("vegan|vegetarian|pescatarian|flexitarian|halal|kosher", p.FOOD_NOUNS)
            + rf"(?: diet\b|{p.VALUE_END})": None,
            r"\b(?:went|turned|became|gone|eats|cooks|lives) (?:strictly |fully |completely )?(vegan|vegetarian"
            r"|pescatarian|flexitarian)"
            r"(?= (?:years|some|many|\w+ years?) ago\b|$| (?:food|meals) (?:only|exclusively)\b)": None,
        },
    ),
    "favorite_cuisine": Field(
        text,
        ("favourite cuisine", "cuisine", "favourite food"),
        {
            r"\b(?:loves?|likes?|enjoys?|fond of|keen on) ([A-Z][a-z]+) (?:cuisine|cooking|(?:food|dishes) (?:best|most"
            r"|more|above|better))\b": None,
            r"\b(?:[Nn]othing beats|goes? for|prefers?|craves?|chooses|picks?|orders|cooks|eats)(?: mostly| mainly|"
            r" usually)? ([A-Z][a-z]+) (?:food|cuisine|cooking|dishes|meals|over any other (?:cuisine|food))\b": None,
            r"\b([A-Z][a-z]+) (?:cuisine|food|cooking|dishes) (?:is|are) (?:her|his|my|their) (?:\w+ )?(?:favou?rite"
            r"|choice)\b": None,
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
            **p.near(
                "drinks?|drinking|takes|prefers?|chooses?|orders?|cups? of|reaches for|(?:goes|opts) for|runs on"
                "|starts? (?:the|her|his|my) (?:day|morning) with|cannot do without",
                "coffee and tea|tea and coffee|coffee|tea",
                2,
            ),
            r"\b(coffee|tea) (?:drinker|person|lover|is (?:her|his|my) (?:\w+ )?(?:drink|choice))\b": None,
            r"\b(?:likes?|loves?) (coffee|tea) better than\b": None,
        },
    ),
    "fitness_routine": Field(
        whole,
        ("fitness", "exercise", "workout"),
        {
            rf"\b(?:likes? to go )?((?:{p.EXERCISE}) (?:once|twice|\w+ times|every|each)(?: a| per)? [a-z]+)\b": None,
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
        p.SHOPPING,
        ("shopping",),
        {
            **p.near(
                rf"{p.LIKES_TO}(?:shops?|shopping|buys?|buying|orders?|ordering|purchases)",
                r"online|(?:on|over) the (?:internet|web)"
                r"|in (?:an? |real |physical |local |actual ){0,2}(?:stores?|shops?|person)",
                6,
            ),
            r"\b(?:prefers|likes|loves|does) (online|internet|in-store) shopping\b": None,
        },
    ),
    "grocery_store_type": Field(
        lower,
        ("groceries", "grocery store", "kind of grocery store"),
        {
            rf"\b(?:groceries|food|(?:food|grocery) shop(?:ping)?)\b(?:,? [a-z]+){{0,4}}? (?:at|from|in|to)"
            rf" {p.OWN}({p.STORE}){p.VALUE_END}": None,
        },
    ),
    "fashion_style": Field(
        lower,
        ("style", "fashion", "clothing style"),
        {
            **p.near(rf"{p.LIKES_TO}(?:dress(?:es)?|clothes|clothing|outfits?|wardrobe|wears?|style)", p.STYLES),
            rf"\b({p.STYLES}) (?:style|clothes|clothing|outfits?|fashion|wardrobe|look)\b": None,
        },
    ),
    "transport": Field(
        one_of(**{name: name for name in p.VEHICLES.split("|")}),
        ("getting around", "means of transport"),
        {
            rf"\b(?:travels?|travelling|commutes?|commuting|goes|go|gets?|comes?|moves)(?: (?!by\b)\w+){{0,3}} by"
            rf" ({p.VEHICLES}){p.VALUE_END}": None,
            rf"\b(?:takes?|rides?|drives?|relies on|catches|uses?) {p.OWN}({p.VEHICLES}){p.VALUE_END}": None,
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
            r"\b((?:best|works best|comes alive|fresh|awake|active|productive)(?: \w+){0,2} (?:early|late|at night"
            r"|in the (?:morning|evening)))\b": None,
        },
    ),
    "eco_friendliness": Field(
        degree,
        ("eco-friendliness", "environment", "sustainability"),
        {
            **p.cared_for("environment|sustainability|sustainable|sustainably|climate|planet"),
            r"\b(eco-friendly|environmentally (?:aware|conscious|friendly))\b": None,
        },
        denied={"high": "low"},
    ),
}
