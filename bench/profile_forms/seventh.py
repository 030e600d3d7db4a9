"""The seventh set of sentence forms."""

from bench.profile_forms.form_set import FormSet

SEVENTH = FormSet(
    identity="For {name}, use the e-mail address {email} or the telephone number {phone}.",
    forms={
        "age": ("{name} turned {v} this year.", "According to our records she is {v} years of age."),
        "gender": ("Gender as given: {v}",),
        "city": ("She has made her home in {v}.", "The city she lives in is {v}."),
        "marital_status": (
            {
                "married": "She has been married for eleven years.",
                "single": "She is single and has no partner.",
                "divorced": "Marital status: divorced",
                "widowed": "She lost her husband and is a widow.",
                "partnered": "She and her partner live together without being married.",
            },
        ),
        "children_count": (
            {
                0: "She does not have any children.",
                1: "She is raising one child.",
                2: "Children in total: 2",
                3: "She is bringing up three children.",
            },
        ),
        "household_size": ("Persons in the household: {v}", "Including herself, her household numbers {v}."),
        "occupation": ("By occupation she is a {v}.", "She has a job as a {v}.", "The work she does is that of a {v}."),
        "education": (
            "She completed her education with a {v}.",
            "Highest level of education: {v}",
            "The highest qualification she holds is a {v}.",
        ),
        "income_bracket": (
            "Her annual income is in the range of {v}.",
            "Before tax she makes {v} a year.",
            "Yearly income: {v}",
        ),
        "home_ownership": (
            {"own": "The home she lives in belongs to her.", "rent": "She pays rent for the place she lives in."},
        ),
        "diet_preference": (
            "Dietary preference: {v}",
            "All her meals are {v}.",
            "She has been a {v} for several years.",
        ),
        "favorite_cuisine": (
            "Of all cuisines she enjoys {v} the most.",
            "When she eats out, {v} food is her first choice.",
            "She would pick {v} over any other cuisine.",
        ),
        "coffee_or_tea": ({"tea": "She would rather have tea than coffee.", "coffee": "She drinks coffee, not tea."},),
        "fitness_routine": ("Exercise: {v}", "To stay in shape, she goes {v}."),
        "gym_membership": ({True: "She is signed up at a gym.", False: "Gym member: no"},),
        "shopping_preference": (
            {
                "online": "Preferred way of shopping: online",
                "in_store": "She would rather shop in a store than on the internet.",
            },
        ),
        "grocery_store_type": ("For her weekly food shop she goes to {a v}.", "Most of her groceries come from {a v}."),
        "fashion_style": ("When it comes to clothes, her taste is {v}.",),
        "transport": ("She gets to work by {v}.",),
        "sleep_chronotype": (
            {"early": "She gets up early and is at her best in the morning.", "late": "She stays up late most nights."},
        ),
        "eco_friendliness": (
            {
                "high": "She cares a great deal about the environment.",
                "low": "She pays little attention to the environment.",
            },
        ),
        "tech_affinity": (
            {"high": "She is very comfortable with new technology.", "low": "Technology does not interest her much."},
        ),
        "primary_device": ("For almost everything she uses her {v}.", "Most used device: {v}"),
        "favorite_social_platform": (
            "Her social platform of choice is {v}.",
            "Of all the social networks, {v} is her favourite.",
        ),
        "social_media_usage_time": ("Social media takes up {v} of her day.", "Daily time on social media: {v}"),
        "content_preference": (
            "For entertainment she prefers {v}.",
            "Of all kinds of content she chooses {v} most often.",
            "The content she enjoys most is {v}.",
        ),
        "sports_interest": ("When it comes to sports, she is interested in {v}.", "She plays {v} at a local club."),
        "gaming_preference": ("When she plays games, she usually picks {v}.", "Favourite type of game: {v}"),
        "travel_frequency": (
            {
                "never": "Frequency of travel: never",
                "rarely": "It is rare for her to travel.",
                "sometimes": "She goes on a trip from time to time.",
                "often": "She is often away travelling.",
            },
        ),
        "needs": ("She told us that she needs {v}.",),
        "wants": ("She wants to get {v}.", "She has said that she wants {v}.", "High on her list of wants is {v}."),
        "desires": ("Her greatest desire is {v}.", "She has long dreamed of {v}.", "What she longs for is {v}."),
        "likes": ("She enjoys {v} a lot.", "She takes great pleasure in {v}.", "She is a big fan of {v}."),
        "dislikes": (
            "She has a strong dislike of {v}.",
            "She can't bear {v}.",
            "She tries to avoid {v}, because she dislikes that.",
        ),
    },
    traps=(
        "Her colleague is 81 and has five children.",
        "Does she work as a florist?",
        "She has never owned a motorbike.",
        "If she ever moved to Geneva, she would take the ferry to work.",
        "Her best friend cannot stand spicy food.",
        "It was not recorded whether she prefers coffee or tea.",
        "Her brother is married and lives in Oslo.",
    ),
)
