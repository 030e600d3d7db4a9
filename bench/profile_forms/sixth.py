"""The sixth set of sentence forms."""

from bench.profile_forms.form_set import FormSet

SIXTH = FormSet(
    identity="To get in touch with {name}, write to {email} or ring {phone}.",
    forms={
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
    },
    traps=(
        "Her best friend is a nurse and rides a bicycle to work.",
        "She does not live in Bremen.",
        "Does she prefer tea or coffee?",
        "If she ever moved to Vienna, she would rent a flat there.",
        "Her neighbour loves Greek food and hates dogs.",
        "Nobody could tell me what she earns.",
        "Her brother is 34 and has two children.",
    ),
)
