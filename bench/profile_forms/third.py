"""The third set of sentence forms."""

from bench.profile_forms.form_set import FormSet

THIRD = FormSet(
    identity="{name} has the e-mail address {email} and the phone number {phone}.",
    forms={
        "age": ("At the age of {v}, she enjoys life.", "Her age is {v}."),
        "gender": ("Gender = {v}",),
        "city": ("She has lived in {v} for ten years.", "{v} is her home town.", "City: {v}"),
        "marital_status": (
            {
                "married": "She and her husband have been married since 2011.",
                "single": "She is currently single.",
                "divorced": "She got divorced in 2018.",
                "widowed": "She is a widow.",
                "partnered": "She lives together with her partner.",
            },
        ),
        "children_count": (
            {
                0: "She does not have children.",
                1: "She has a child.",
                2: "She is bringing up two children.",
                3: "She is a parent of three.",
            },
        ),
        "household_size": ("Her household consists of {v} people.", "{v} people live in her household."),
        "occupation": ("She is employed as a {v}.", "By profession she is a {v}.", "Job: {v}"),
        "education": ("She holds a {v}.", "She completed a {v}.", "Her education: {v}"),
        "income_bracket": ("Her yearly income is {v}.", "Her salary is in the range {v}."),
        "home_ownership": ({"own": "She owns the flat that she lives in.", "rent": "She rents an apartment."},),
        "diet_preference": ("As a {v}, she reads labels.", "She has a {v} diet.", "Diet preference: {v}"),
        "favorite_cuisine": ("She likes {v} cuisine best.", "Her preferred cuisine is {v}."),
        "coffee_or_tea": (
            {"tea": "She likes tea better than coffee.", "coffee": "She drinks coffee rather than tea."},
        ),
        "fitness_routine": ("She keeps fit by {v}.", "Fitness: {v}", "For exercise she goes {v}."),
        "gym_membership": ({True: "She belongs to a gym.", False: "She is not a member of a gym."},),
        "shopping_preference": ({"online": "She prefers to shop online.", "in_store": "She usually shops in person."},),
        "grocery_store_type": ("She gets her groceries from {a v}.", "She shops for groceries at {a v}."),
        "fashion_style": ("She prefers a {v} style.", "Her clothing style is {v}."),
        "transport": ("She takes the {v} to work.", "Her means of transport is the {v}."),
        "sleep_chronotype": ({"early": "She gets up early.", "late": "She goes to bed late."},),
        "eco_friendliness": ({"high": "She is very eco-friendly.", "low": "Eco-friendliness: low"},),
        "tech_affinity": ({"high": "She is a technology enthusiast.", "low": "Her interest in technology is low."},),
        "primary_device": ("Her primary device is a {v}.", "She mainly uses her {v}."),
        "favorite_social_platform": (
            "Her favourite social network is {v}.",
            "Of all social platforms she prefers {v}.",
        ),
        "social_media_usage_time": ("She uses social media for {v} a day.", "Social media usage time: {v}"),
        "content_preference": ("Her favourite content is {v}.", "Content preference: {v}"),
        "sports_interest": ("She follows {v}.", "Her favourite sport is {v}."),
        "gaming_preference": ("When it comes to games, she prefers {v}.", "Gaming: {v}"),
        "travel_frequency": (
            {
                "never": "Travel frequency: never",
                "rarely": "She travels rarely.",
                "sometimes": "She travels occasionally.",
                "often": "She travels frequently.",
            },
        ),
        "needs": ("She urgently needs {v}.", "Needs: {v}"),
        "wants": ("She wants to buy {v}.", "Wants: {v}"),
        "desires": ("She has always dreamed of {v}.", "Desires: {v}", "She is dreaming of {v}."),
        "likes": ("She really likes {v}.", "Likes: {v}", "Among her likes are {v}."),
        "dislikes": ("She detests {v}.", "Dislikes: {v}", "She does not enjoy {v}."),
    },
    traps=(
        "Her father lives in Madrid.",
        "Perhaps she is vegan.",
        "Her friend Ida needs a new phone.",
        "Has she got three children?",
        "She has never been married to anyone famous.",
        "Her boss drives a car and plays golf.",
        "She was vegetarian as a child.",
    ),
)
