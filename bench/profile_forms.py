"""The sentence forms in which `bench.profiles` writes of invented people: sets to develop with, one held out.

The rules of the reference agents are tuned to the sets of DEVELOPMENT alone. All but the first of them were held out at
first; their figures of that time are in docs/agents.md. HELD_OUT has no form of them and was written before
the rules were tuned to the third; they have been changed with it known since, so it measures nothing unseen any more.
`{v}` is the value; a dict gives the words for each value that is not said by its name.
"""

from typing import Any

Forms = dict[str, tuple[str | dict[Any, str], ...]]

DEVELOPMENT: Forms = {
    "age": ("{name} is {v} years old.", "Age: {v}"),
    "gender": ("She identifies as {v}.", "Gender: {v}"),
    "city": ("She lives in {v}.", "She is based in {v}."),
    "marital_status": (
        {"married": "She is married.", "single": "She is single.", "divorced": "She is divorced.",
         "widowed": "She is widowed.", "partnered": "She lives with her partner."},
    ),
    "children_count": (
        {0: "She has no children.", 1: "She has one child.", 2: "She has 2 children.", 3: "She has 3 kids."},
    ),
    "household_size": ("There are {v} people in her household.", "Household size: {v}"),
    "occupation": ("She works as a {v}.", "She is a {v} by profession."),
    "education": ("She has a {v}.", "Education: {v}"),
    "income_bracket": ("Her income is {v}.", "Income: {v}"),
    "home_ownership": ({"own": "She owns her home.", "rent": "She rents her flat."},),
    "diet_preference": ("She is {v}.", "She follows a {v} diet.", "Diet: {v}"),
    "favorite_cuisine": ("Her favourite cuisine is {v}.", "Cuisine: {v}"),
    "coffee_or_tea": ({"tea": "She prefers tea to coffee.", "coffee": "She prefers coffee to tea."},),
    "fitness_routine": ("She goes {v}.",),
    "gym_membership": ({True: "She is a member of a gym.", False: "She has no gym membership."},),
    "shopping_preference": ({"online": "She shops online.", "in_store": "She shops in stores."},),
    "grocery_store_type": ("She buys her groceries at {a v}.",),
    "fashion_style": ("Her fashion style is {v}.", "Style: {v}"),
    "transport": ("She usually travels by {v}.", "Transport: {v}"),
    "sleep_chronotype": ({"early": "She is an early bird.", "late": "She is a night owl."},),
    "eco_friendliness": (
        {"high": "The environment is very important to her.", "low": "The environment is not important to her."},
    ),
    "tech_affinity": ({"high": "She loves new technology.", "low": "She has little interest in technology."},),
    "primary_device": ("Her main device is a {v}.",),
    "favorite_social_platform": ("Her favourite social platform is {v}.",),
    "social_media_usage_time": ("She spends {v} a day on social media.",),
    "content_preference": ("Her preferred content is {v}.", "Content: {v}"),
    "sports_interest": ("She plays {v}.", "Sports: {v}"),
    "gaming_preference": ("She plays {v}.",),
    "travel_frequency": (
        {"never": "She never travels.", "rarely": "She rarely travels.", "sometimes": "She sometimes travels.",
         "often": "She often travels."},
    ),
    "needs": ("She needs {v}.",),
    "wants": ("She wants {v}.",),
    "desires": ("She dreams of {v}.",),
    "likes": ("She likes {v}.", "She loves {v}."),
    "dislikes": ("She dislikes {v}.", "She does not like {v}."),
}  # fmt: skip

SECOND_DEVELOPMENT: Forms = {
    "age": ("{name} is a {v}-year-old.", "She turned {v} this year."),
    "gender": ("Her gender is {v}.",),
    "city": ("Her home is in {v}.", "She calls {v} home."),
    "marital_status": (
        {"married": "She has been married for six years.", "single": "Her marital status is single.",
         "divorced": "She has been divorced since 2019.", "widowed": "Sadly she is widowed.",
         "partnered": "She shares her home with her partner."},
    ),
    "children_count": (
        {0: "She is childless.", 1: "She is the mother of one child.", 2: "She is raising two children.",
         3: "She is a mother of three."},
    ),
    "household_size": ("She lives in a household of {v}.", "Her household has {v} members."),
    "occupation": ("She earns her living as a {v}.", "Her occupation is {v}."),
    "education": ("She graduated with a {v}.", "Her highest qualification is a {v}."),
    "income_bracket": ("She earns {v} a year.",),
    "home_ownership": ({"own": "She is a home owner.", "rent": "She lives in a rented flat."},),
    "diet_preference": ("Her diet is {v}.", "She eats a {v} diet.", "She has been {v} for years."),
    "favorite_cuisine": ("The cuisine she likes best is {v}.", "She prefers {v} cuisine."),
    "coffee_or_tea": ({"tea": "She drinks tea, never coffee.", "coffee": "She is a coffee drinker."},),
    "fitness_routine": ("To stay fit she goes {v}.", "Her fitness routine is {v}."),
    "gym_membership": ({True: "She has a gym membership.", False: "She does not belong to a gym."},),
    "shopping_preference": (
        {"online": "She does most of her shopping online.", "in_store": "She prefers shopping in a store."},
    ),
    "grocery_store_type": ("Her groceries come from {a v}.", "For groceries she goes to {a v}."),
    "fashion_style": ("She dresses in a {v} style.", "She has a {v} style."),
    "transport": ("She gets around by {v}.", "She goes to work by {v}."),
    "sleep_chronotype": ({"early": "She is a morning person.", "late": "She stays up late."},),
    "eco_friendliness": (
        {"high": "She cares a lot about the environment.", "low": "She cares little about the environment."},
    ),
    "tech_affinity": (
        {"high": "She is very interested in technology.", "low": "She is not interested in technology."},
    ),
    "primary_device": ("She mostly uses a {v}.", "The device she uses most is a {v}."),
    "favorite_social_platform": ("The social platform she likes best is {v}.", "She is most active on {v}."),
    "social_media_usage_time": ("She is on social media for {v} a day.",),
    "content_preference": ("The content she prefers is {v}.", "She mostly enjoys {v}."),
    "sports_interest": ("Her sport is {v}.", "She is interested in {v}."),
    "gaming_preference": ("Her favourite games are {v}.", "As a gamer she prefers {v}."),
    "travel_frequency": (
        {"never": "She does not travel.", "rarely": "She seldom travels.", "sometimes": "She travels now and then.",
         "often": "She travels a lot."},
    ),
    "needs": ("She is in need of {v}.", "What she needs is {v}."),
    "wants": ("She is looking for {v}.", "What she wants is {v}."),
    "desires": ("Her dream is {v}.", "She longs for {v}."),
    "likes": ("She is fond of {v}.", "She adores {v}."),
    "dislikes": ("She cannot stand {v}.", "She hates {v}."),
}  # fmt: skip

THIRD_DEVELOPMENT: Forms = {
    "age": ("At the age of {v}, she enjoys life.", "Her age is {v}."),
    "gender": ("Gender = {v}",),
    "city": ("She has lived in {v} for ten years.", "{v} is her home town.", "City: {v}"),
    "marital_status": (
        {"married": "She and her husband have been married since 2011.", "single": "She is currently single.",
         "divorced": "She got divorced in 2018.", "widowed": "She is a widow.",
         "partnered": "She lives together with her partner."},
    ),
    "children_count": (
        {0: "She does not have children.", 1: "She has a child.", 2: "She is bringing up two children.",
         3: "She is a parent of three."},
    ),
    "household_size": ("Her household consists of {v} people.", "{v} people live in her household."),
    "occupation": ("She is employed as a {v}.", "By profession she is a {v}.", "Job: {v}"),
    "education": ("She holds a {v}.", "She completed a {v}.", "Her education: {v}"),
    "income_bracket": ("Her yearly income is {v}.", "Her salary is in the range {v}."),
    "home_ownership": ({"own": "She owns the flat that she lives in.", "rent": "She rents an apartment."},),
    "diet_preference": ("As a {v}, she reads labels.", "She has a {v} diet.", "Diet preference: {v}"),
    "favorite_cuisine": ("She likes {v} cuisine best.", "Her preferred cuisine is {v}."),
    "coffee_or_tea": ({"tea": "She likes tea better than coffee.", "coffee": "She drinks coffee rather than tea."},),
    "fitness_routine": ("She keeps fit by {v}.", "Fitness: {v}", "For exercise she goes {v}."),
    "gym_membership": ({True: "She belongs to a gym.", False: "She is not a member of a gym."},),
    "shopping_preference": (
        {"online": "She prefers to shop online.", "in_store": "She usually shops in person."},
    ),
    "grocery_store_type": ("She gets her groceries from {a v}.", "She shops for groceries at {a v}."),
    "fashion_style": ("She prefers a {v} style.", "Her clothing style is {v}."),
    "transport": ("She takes the {v} to work.", "Her means of transport is the {v}."),
    "sleep_chronotype": ({"early": "She gets up early.", "late": "She goes to bed late."},),
    "eco_friendliness": (
        {"high": "She is very eco-friendly.", "low": "Eco-friendliness: low"},
    ),
    "tech_affinity": (
        {"high": "She is a technology enthusiast.", "low": "Her interest in technology is low."},
    ),
    "primary_device": ("Her primary device is a {v}.", "She mainly uses her {v}."),
    "favorite_social_platform": ("Her favourite social network is {v}.", "Of all social platforms she prefers {v}."),
    "social_media_usage_time": ("She uses social media for {v} a day.", "Social media usage time: {v}"),
    "content_preference": ("Her favourite content is {v}.", "Content preference: {v}"),
    "sports_interest": ("She follows {v}.", "Her favourite sport is {v}."),
    "gaming_preference": ("When it comes to games, she prefers {v}.", "Gaming: {v}"),
    "travel_frequency": (
        {"never": "Travel frequency: never", "rarely": "She travels rarely.", "sometimes": "She travels occasionally.",
         "often": "She travels frequently."},
    ),
    "needs": ("She urgently needs {v}.", "Needs: {v}"),
    "wants": ("She wants to buy {v}.", "Wants: {v}"),
    "desires": ("She has always dreamed of {v}.", "Desires: {v}", "She is dreaming of {v}."),
    "likes": ("She really likes {v}.", "Likes: {v}", "Among her likes are {v}."),
    "dislikes": ("She detests {v}.", "Dislikes: {v}", "She does not enjoy {v}."),
}  # fmt: skip

SIXTH_DEVELOPMENT: Forms = {
    "age": ("You would never guess that she is {v}.", "{name} turned {v} this spring."),
    "gender": ("{name} identifies as {v}.", "Gender identity: {v}"),
    "city": ("She has settled in {v}.", "These days {v} is where she lives.", "Place of residence: {v}"),
    "marital_status": (
        {
            "married": "She has been married for eleven years.",
            "single": "Relationship status: single",
            "divorced": "She went through a divorce and stayed divorced.",
            "widowed": "She lost her husband and is a widow.",
            "partnered": "She is in a long-term relationship with her partner.",
        },
    ),
    "children_count": (
        {
            0: "She has no children of her own.",
            1: "She is raising one child.",
            2: "She has a son and a daughter.",
            3: "Children: three",
        },
    ),
    "household_size": (
        {
            1: "She lives all by herself.",
            2: "There are two of them at home, counting herself.",
            3: "There are three of them at home, counting herself.",
            4: "There are four of them at home, counting herself.",
            5: "There are five of them at home, counting herself.",
        },
        "People living in the household: {v}",
    ),
    "occupation": ("She makes her living as a {v}.", "By trade she is a {v}.", "What she does for a living: {v}"),
    "education": (
        "She came out of education with a {v}.",
        "The highest qualification she has is a {v}.",
        "Level of education: {v}",
    ),
    "income_bracket": (
        "Her yearly pay is in the range of {v}.",
        "She brings home {v} a year.",
        "Annual income: {v}",
    ),
    "home_ownership": ({"own": "She bought the flat she lives in.", "rent": "Her flat is a rented one."},),
    "diet_preference": (
        "She went {v} years ago and never looked back.",
        "As for food, she is strictly {v}.",
        "Everything on her plate is {v}.",
    ),
    "favorite_cuisine": (
        "If you ask her, nothing beats {v} food.",
        "When she eats out, she always goes for {v} cooking.",
        "Preferred cuisine: {v}",
    ),
    "coffee_or_tea": ({"tea": "She drinks tea rather than coffee.", "coffee": "Hot drink of choice: coffee"},),
    "fitness_routine": ("To keep fit, she goes {v}.", "Her way of staying in shape is {v}."),
    "gym_membership": (
        {True: "She is a member of the gym around the corner.", False: "She does not belong to any gym."},
    ),
    "shopping_preference": (
        {
            "online": "She does nearly all of her shopping on the internet.",
            "in_store": "She would rather shop in a store than order things.",
        },
    ),
    "grocery_store_type": ("Her food comes from {a v}.", "For her weekly groceries she heads to {a v}."),
    "fashion_style": ("The way she dresses is {v}.", "Style of dress: {v}"),
    "transport": ("To get to work she takes the {v}.", "Her usual means of transport is the {v}."),
    "sleep_chronotype": (
        {"early": "She gets up very early, even on Sundays.", "late": "She stays up late and sleeps in."},
    ),
    "eco_friendliness": (
        {
            "high": "She takes great care to live sustainably.",
            "low": "She pays little attention to the environment.",
        },
    ),
    "tech_affinity": (
        {"high": "She is always the first to try out new gadgets.", "low": "Interest in technology: low"},
    ),
    "primary_device": ("She does almost everything on her {v}.", "Main device: {v}"),
    "favorite_social_platform": (
        "Of all the social networks, {v} is the one she uses most.",
        "Preferred social platform: {v}",
    ),
    "social_media_usage_time": (
        "Scrolling through social media takes up {v} of her day.",
        "She is on social media for {v} every day.",
    ),
    "content_preference": (
        "Of all media, {v} appeal to her most.",
        "Most evenings she spends with {v}.",
        "Preferred media: {v}",
    ),
    "sports_interest": ("At weekends she plays {v} with friends.", "The sport she follows is {v}."),
    "gaming_preference": (
        "When it comes to games, she goes for {v}.",
        "Give her {v} and she will play all night.",
    ),
    "travel_frequency": (
        {
            "never": "She never goes away on trips.",
            "rarely": "How often she travels: rarely",
            "sometimes": "Now and then she goes on a trip.",
            "often": "She is away on trips very often.",
        },
    ),
    "needs": ("What she needs right now is {v}.", "She is badly in need of {v}.", "Currently needed: {v}"),
    "wants": (
        "The next thing she wants is {v}.",
        "She is looking to buy {v}.",
        "She told me that she wants {v}.",
    ),
    "desires": (
        "For years she has been dreaming of {v}.",
        "Deep down she longs for {v}.",
        "What she wishes for most in life is {v}.",
    ),
    "likes": (
        "She has a soft spot for {v}.",
        "She is a great fan of {v}.",
        "She finds great joy in {v}.",
    ),
    "dislikes": ("She cannot bear {v}.", "She has no patience with {v}.", "She is put off by {v}."),
}

HELD_OUT: Forms = {
    "age": ("{name} is aged {v}.", "She is now {v} years old."),
    "gender": ("Gender is {v}", "- Gender: {v}"),
    "city": ("She moved to {v}.", "She lives and works in {v}.", "Home town: {v}"),
    "marital_status": (
        {"married": "She is happily married.", "single": "Marital status: single", "divorced": "She is divorced now.",
         "widowed": "She has been widowed for a while.", "partnered": "She has a partner, with whom she lives."},
    ),
    "children_count": (
        {0: "Number of children: 0", 1: "She has one kid.", 2: "She has got two kids.",
        3: "She has three young children."},
    ),
    "household_size": ("Her household size is {v}.", "Her household is made up of {v} people."),
    "occupation": ("She works full-time as a {v}.", "Her profession is {v}.", "She is working as a {v}."),
    "education": ("Her highest degree is a {v}.", "She finished a {v}.", "She was awarded a {v}."),
    "income_bracket": ("She earns about {v}.", "Income bracket: {v}", "Her income bracket is {v}."),
    "home_ownership": ({"own": "She lives in her own house.", "rent": "Home ownership: rent"},),
    "diet_preference": ("She sticks to a {v} diet.", "She is a {v}.", "She lives {v}."),
    "favorite_cuisine": ("Favourite cuisine: {v}", "She loves {v} cuisine.", "Her favourite food is {v}."),
    "coffee_or_tea": ({"tea": "She always drinks tea.", "coffee": "Coffee or tea: coffee"},),
    "fitness_routine": ("She likes to go {v}.", "Her exercise is {v}."),
    "gym_membership": ({True: "She goes to a gym.", False: "She is without a gym membership."},),
    "shopping_preference": ({"online": "She buys most things online.", "in_store": "Shopping preference: in store"},),
    "grocery_store_type": ("She gets groceries at {a v}.", "Her grocery store is {a v}."),
    "fashion_style": ("She wears {v} clothes.", "Fashion style: {v}"),
    "transport": ("She commutes by {v}.", "She prefers to travel by {v}."),
    "sleep_chronotype": ({"early": "She is an early riser.", "late": "She is a night person."},),
    "eco_friendliness": ({"high": "Protecting the environment matters a lot to her.",
    "low": "Her eco-friendliness is low."},),
    "tech_affinity": ({"high": "She is enthusiastic about technology.", "low": "Tech affinity: low"},),
    "primary_device": ("Primary device: {v}", "She uses a {v} most of the time."),
    "favorite_social_platform": ("On social media she prefers {v}.", "Social network: {v}"),
    "social_media_usage_time": ("Her time on social media is {v} a day.", "Each day she spends {v} on social media."),
    "content_preference": ("She usually consumes {v}.", "She listens to or watches {v}.", "Favourite content: {v}"),
    "sports_interest": ("She likes to play {v}.", "She also plays {v}."),
    "gaming_preference": ("She often plays {v}.", "The games she likes most are {v}."),
    "travel_frequency": (
        {"never": "She does not travel at all.", "rarely": "Travel: rarely", "sometimes": "She occasionally travels.",
         "often": "She frequently travels."},
    ),
    "needs": ("At the moment she needs {v}.", "She could do with {v}, which she needs.", "She has need of {v}."),
    "wants": ("She would like {v}.", "She also wants {v}.", "She is hoping for {v}."),
    "desires": ("Her biggest dream is {v}.", "One day she wishes for {v}.", "She often dreams about {v}."),
    "likes": ("She also likes {v}.", "She is keen on {v}.", "She loves {v} very much."),
    "dislikes": ("She doesn't like {v}.", "She really dislikes {v}.",
    "She is not fond of {v}, she says; she hates {v}."),
}  # fmt: skip

FIFTH_DEVELOPMENT: Forms = {
    "age": (
        "{name}, {v}, answered our questions in writing.",
        "She is {v} years of age.",
        "She celebrated her birthday and is {v} years old now.",
    ),
    "gender": ("Gender - {v}", "As to gender, she identifies as {v}."),
    "city": ("These days she lives in {v}.", "Her flat is in {v}.", "Town: {v}"),
    "marital_status": (
        {
            "married": "She has been a married woman since 2015.",
            "single": "She is single at present.",
            "divorced": "Since last year she is divorced.",
            "widowed": "She has lived as a widow since 2020.",
            "partnered": "She and her partner live together.",
        },
    ),
    "children_count": (
        {
            0: "There are no children.",
            1: "She has a single child.",
            2: "There are two children in the family.",
            3: "Children: 3",
        },
    ),
    "household_size": ("Her household counts {v} people.", "People in the household: {v}"),
    "occupation": ("Occupation: {v}", "For the last four years she has worked as a {v}.", "Her job is {v}."),
    "education": ("Degree: {v}", "She left university with a {v}.", "Her education is a {v}."),
    "income_bracket": ("Her income lies at {v}.", "Salary: {v}", "Each year she earns {v}."),
    "home_ownership": ({"own": "Home ownership: own", "rent": "She rents the place where she lives."},),
    "diet_preference": ("She eats {v} food only.", "When it comes to diet she is {v}.", "Her diet preference is {v}."),
    "favorite_cuisine": (
        "Of all cuisines she likes {v} best.",
        "{v} cuisine is her favourite.",
        "Favorite cuisine: {v}",
    ),
    "coffee_or_tea": ({"tea": "Tea is her drink rather than coffee.", "coffee": "She drinks coffee every morning."},),
    "fitness_routine": ("Fitness routine: {v}", "Every week she goes {v}.", "She trains by {v}."),
    "gym_membership": ({True: "Gym membership: yes", False: "She has no membership of a gym."},),
    "shopping_preference": (
        {"online": "She orders what she needs online.", "in_store": "She shops mainly in stores."},
    ),
    "grocery_store_type": ("Grocery store type: {v}", "She usually buys groceries in {a v}."),
    "fashion_style": ("Her style of clothes is {v}.", "Her style is {v}.", "Clothing style: {v}"),
    "transport": ("Most days she takes the {v}.", "Means of transport: {v}", "She comes to work by {v}."),
    "sleep_chronotype": ({"early": "She rises early every day.", "late": "Chronotype: late"},),
    "eco_friendliness": ({"high": "Eco-friendliness: high", "low": "The environment hardly matters to her."},),
    "tech_affinity": ({"high": "Her interest in technology is high.", "low": "She does not care for technology."},),
    "primary_device": ("Her device of choice is a {v}.", "Device: {v}", "She does nearly everything on her {v}."),
    "favorite_social_platform": ("She spends most of her social time on {v}.", "Favourite social platform: {v}"),
    "social_media_usage_time": ("Time on social media: {v} a day", "Social media takes {v} a day of her time."),
    "content_preference": (
        "She mostly watches or reads {v}.",
        "In her free time she enjoys {v}.",
        "Preferred content: {v}",
    ),
    "sports_interest": ("She has played {v} since school.", "Sports interest: {v}", "Her sports interest is {v}."),
    "gaming_preference": ("Gaming preference: {v}", "In the evening she plays {v}."),
    "travel_frequency": (
        {
            "never": "She never goes travelling.",
            "rarely": "She hardly ever travels.",
            "sometimes": "Sometimes she travels.",
            "often": "She travels very often.",
        },
    ),
    "needs": ("She needs {v} badly.", "Right now she needs {v}.", "Her needs are {v}."),
    "wants": ("She wants {v} this year.", "What she is after is {v}.", "Her wants: {v}"),
    "desires": ("Her desire is {v}.", "She dreams about {v} at times.", "Dreams: {v}"),
    "likes": ("{v} is what she likes.", "She takes pleasure in {v}.", "She has always liked {v}."),
    "dislikes": ("She has a dislike of {v}.", "She dislikes {v} a lot.", "She avoids {v}."),
}

# sentences that state nothing of the person, and the values that must not be taken from them
FIRST_TRAPS = (
    "Her brother is vegan.", "She used to live in Rome.", "Is she married?", "Her sister likes techno.",
    "If she wins, she will buy a boat.", "She is not a dentist.", "She would like to own a farm.",
)  # fmt: skip
SECOND_TRAPS = (
    "Her mother works as a dentist.", "She might move to Oslo.", "Nobody says that she is widowed.",
    "Her neighbour lives in Paris and hates dogs.", "Does she play golf?", "She was a nurse until 2015.",
    "Suppose she were pescatarian.", "Her colleague Tom wants a speedboat.",
)  # fmt: skip
THIRD_TRAPS = (
    "Her father lives in Madrid.",
    "Perhaps she is vegan.",
    "Her friend Ida needs a new phone.",
    "Has she got three children?",
    "She has never been married to anyone famous.",
    "Her boss drives a car and plays golf.",
    "She was vegetarian as a child.",
)
SIXTH_TRAPS = (
    "Her best friend is a nurse and rides a bicycle to work.",
    "She does not live in Bremen.",
    "Does she prefer tea or coffee?",
    "If she ever moved to Vienna, she would rent a flat there.",
    "Her neighbour loves Greek food and hates dogs.",
    "Nobody could tell me what she earns.",
    "Her brother is 34 and has two children.",
)
HELD_OUT_TRAPS = (
    "Her uncle is widowed and rents a flat.", "It is unclear whether she has children.", "She never wanted a dog.",
    "Was she born in Lisbon?", "Her daughter plays hockey.", "Their neighbours own a tablet.",
    "She may become a pilot.",
)  # fmt: skip
FIFTH_TRAPS = (
    "Her grandfather was a vegetarian.",
    "Her cousin lives in Turin and drives a tram.",
    "Who knows whether she is single?",
    "She has not decided between a laptop and a tablet.",
    "In 2012 she lived in Porto.",
    "Her son hates opera.",
    "She could be married by now.",
    "Nothing is known of her children.",
)
IDENTITY = {
    "first": "{name} can be reached at {email} or {phone}.",
    "second": "This is about {name}; mail goes to {email} and calls go to {phone}.",
    "held_out": "{name}, e-mail {email}, phone {phone}.",
    "sixth": "To get in touch with {name}, write to {email} or ring {phone}.",
    "fifth": "Write to {name} at {email}, or call {phone}.",
    "third": "{name} has the e-mail address {email} and the phone number {phone}.",
}
FORMS = {
    "first": (DEVELOPMENT, FIRST_TRAPS),
    "second": (SECOND_DEVELOPMENT, SECOND_TRAPS),
    "third": (THIRD_DEVELOPMENT, THIRD_TRAPS),
    "fifth": (FIFTH_DEVELOPMENT, FIFTH_TRAPS),
    "sixth": (SIXTH_DEVELOPMENT, SIXTH_TRAPS),
    "held_out": (HELD_OUT, HELD_OUT_TRAPS),
}


def written(form: str | dict[Any, str], value: Any, name: str) -> str | None:
    """The sentence for a value; None where the form has no words for it."""
    if isinstance(form, dict):
        return form.get(value)
    said = " and ".join(value) if isinstance(value, list) else str(value)
    article = "an" if said[:1].lower() in "aeiou" else "a"
    text = form.replace("{a v}", f"{article} {said}").replace("a {v}", f"{article} {{v}}")
    return text.replace("{v}", said).replace("{name}", name)
