"""The second set of sentence forms."""

from bench.profile_forms.form_set import FormSet

SECOND = FormSet(
    identity="This is about {name}; mail goes to {email} and calls go to {phone}.",
    forms={
        "age": ("{name} is a {v}-year-old.", "She turned {v} this year."),
        "gender": ("Her gender is {v}.",),
        "city": ("Her home is in {v}.", "She calls {v} home."),
        "marital_status": (
            {
                "married": "She has been married for six years.",
                "single": "Her marital status is single.",
                "divorced": "She has been divorced since 2019.",
                "widowed": "Sadly she is widowed.",
                "partnered": "She shares her home with her partner.",
            },
        ),
        "children_count": (
            {
                0: "She is childless.",
                1: "She is the mother of one child.",
                2: "She is raising two children.",
                3: "She is a mother of three.",
            },
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
            {
                "never": "She does not travel.",
                "rarely": "She seldom travels.",
                "sometimes": "She travels now and then.",
                "often": "She travels a lot.",
            },
        ),
        "needs": ("She is in need of {v}.", "What she needs is {v}."),
        "wants": ("She is looking for {v}.", "What she wants is {v}."),
        "desires": ("Her dream is {v}.", "She longs for {v}."),
        "likes": ("She is fond of {v}.", "She adores {v}."),
        "dislikes": ("She cannot stand {v}.", "She hates {v}."),
    },
    traps=(
        "Her mother works as a dentist.",
        "She might move to Oslo.",
        "Nobody says that she is widowed.",
        "Her neighbour lives in Paris and hates dogs.",
        "Does she play golf?",
        "She was a nurse until 2015.",
        "Suppose she were pescatarian.",
        "Her colleague Tom wants a speedboat.",
    ),
)
