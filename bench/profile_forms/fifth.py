"""The fifth set of sentence forms, of freer sentences."""

from bench.profile_forms.form_set import FormSet

FIFTH = FormSet(
    identity="Write to {name} at {email}, or call {phone}.",
    forms={
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
        "diet_preference": (
            "She eats {v} food only.",
            "When it comes to diet she is {v}.",
            "Her diet preference is {v}.",
        ),
        "favorite_cuisine": (
            "Of all cuisines she likes {v} best.",
            "{v} cuisine is her favourite.",
            "Favorite cuisine: {v}",
        ),
        "coffee_or_tea": (
            {"tea": "Tea is her drink rather than coffee.", "coffee": "She drinks coffee every morning."},
        ),
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
    },
    traps=(
        "Her grandfather was a vegetarian.",
        "Her cousin lives in Turin and drives a tram.",
        "Who knows whether she is single?",
        "She has not decided between a laptop and a tablet.",
        "In 2012 she lived in Porto.",
        "Her son hates opera.",
        "She could be married by now.",
        "Nothing is known of her children.",
    ),
)
