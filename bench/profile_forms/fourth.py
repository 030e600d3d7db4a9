"""The fourth set of sentence forms, written before the rules were tuned to the third."""

from bench.profile_forms.form_set import FormSet

FOURTH = FormSet(
    identity="{name}, e-mail {email}, phone {phone}.",
    forms={
        "age": ("{name} is aged {v}.", "She is now {v} years old."),
        "gender": ("Gender is {v}", "- Gender: {v}"),
        "city": ("She moved to {v}.", "She lives and works in {v}.", "Home town: {v}"),
        "marital_status": (
            {
                "married": "She is happily married.",
                "single": "Marital status: single",
                "divorced": "She is divorced now.",
                "widowed": "She has been widowed for a while.",
                "partnered": "She has a partner, with whom she lives.",
            },
        ),
        "children_count": (
            {
                0: "Number of children: 0",
                1: "She has one kid.",
                2: "She has got two kids.",
                3: "She has three young children.",
            },
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
        "shopping_preference": (
            {"online": "She buys most things online.", "in_store": "Shopping preference: in store"},
        ),
        "grocery_store_type": ("She gets groceries at {a v}.", "Her grocery store is {a v}."),
        "fashion_style": ("She wears {v} clothes.", "Fashion style: {v}"),
        "transport": ("She commutes by {v}.", "She prefers to travel by {v}."),
        "sleep_chronotype": ({"early": "She is an early riser.", "late": "She is a night person."},),
        "eco_friendliness": (
            {"high": "Protecting the environment matters a lot to her.", "low": "Her eco-friendliness is low."},
        ),
        "tech_affinity": ({"high": "She is enthusiastic about technology.", "low": "Tech affinity: low"},),
        "primary_device": ("Primary device: {v}", "She uses a {v} most of the time."),
        "favorite_social_platform": ("On social media she prefers {v}.", "Social network: {v}"),
        "social_media_usage_time": (
            "Her time on social media is {v} a day.",
            "Each day she spends {v} on social media.",
        ),
        "content_preference": ("She usually consumes {v}.", "She listens to or watches {v}.", "Favourite content: {v}"),
        "sports_interest": ("She likes to play {v}.", "She also plays {v}."),
        "gaming_preference": ("She often plays {v}.", "The games she likes most are {v}."),
        "travel_frequency": (
            {
                "never": "She does not travel at all.",
                "rarely": "Travel: rarely",
                "sometimes": "She occasionally travels.",
                "often": "She frequently travels.",
            },
        ),
        "needs": ("At the moment she needs {v}.", "She could do with {v}, which she needs.", "She has need of {v}."),
        "wants": ("She would like {v}.", "She also wants {v}.", "She is hoping for {v}."),
        "desires": ("Her biggest dream is {v}.", "One day she wishes for {v}.", "She often dreams about {v}."),
        "likes": ("She also likes {v}.", "She is keen on {v}.", "She loves {v} very much."),
        "dislikes": (
            "She doesn't like {v}.",
            "She really dislikes {v}.",
            "She is not fond of {v}, she says; she hates {v}.",
        ),
    },
    traps=(
        "Her uncle is widowed and rents a flat.",
        "It is unclear whether she has children.",
        "She never wanted a dog.",
        "Was she born in Lisbon?",
        "Her daughter plays hockey.",
        "Their neighbours own a tablet.",
        "She may become a pilot.",
    ),
)
