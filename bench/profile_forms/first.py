"""The first set of sentence forms."""

from bench.profile_forms.form_set import FormSet

FIRST = FormSet(
    identity="{name} can be reached at {email} or {phone}.",
    forms={
        "age": ("{name} is {v} years old.", "Age: {v}"),
        "gender": ("She identifies as {v}.", "Gender: {v}"),
        "city": ("She lives in {v}.", "She is based in {v}."),
        "marital_status": (
            {
                "married": "She is married.",
                "single": "She is single.",
                "divorced": "She is divorced.",
                "widowed": "She is widowed.",
                "partnered": "She lives with her partner.",
            },
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
            {
                "never": "She never travels.",
                "rarely": "She rarely travels.",
                "sometimes": "She sometimes travels.",
                "often": "She often travels.",
            },
        ),
        "needs": ("She needs {v}.",),
        "wants": ("She wants {v}.",),
        "desires": ("She dreams of {v}.",),
        "likes": ("She likes {v}.", "She loves {v}."),
        "dislikes": ("She dislikes {v}.", "She does not like {v}."),
    },
    traps=(
        "Her brother is vegan.",
        "She used to live in Rome.",
        "Is she married?",
        "Her sister likes techno.",
        "If she wins, she will buy a boat.",
        "She is not a dentist.",
        "She would like to own a farm.",
    ),
)
