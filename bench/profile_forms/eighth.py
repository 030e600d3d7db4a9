"""The eighth set of sentence forms, by somebody who did not see the rules; measured once they were final."""

from bench.profile_forms.form_set import FormSet

EIGHTH = FormSet(
    identity="You can reach {name} by e-mail at {email} or by phone on {phone}.",
    forms={
        "age": ("{name} has just had a birthday and is now {v}.", "At the moment she is {v} years old."),
        "gender": ("She describes her gender as {v}.", "On the form, {name} gave her gender as {v}."),
        "city": (
            "She moved to {v} some years ago and still lives there.",
            "{v} is the city where {name} lives.",
            "These days her home is in {v}.",
        ),
        "marital_status": (
            {
                "married": "She and her husband recently celebrated their wedding anniversary.",
                "single": "At the moment she is single.",
                "divorced": "Her marriage ended in divorce a few years ago.",
                "widowed": "Her husband died two years ago, and she has not remarried.",
                "partnered": "She is not married, but she has been living with her boyfriend for years.",
            },
        ),
        "children_count": (
            {
                0: "She decided early on not to have children, and has none.",
                1: "She has a daughter, who is an only child.",
                2: "She is a mother of two.",
                3: "Her three children are all still at school.",
            },
            {
                0: "She never had children.",
                1: "Her only child is a boy.",
                2: "She has two kids, a boy and a girl.",
                3: "She is a mum of three.",
            },
        ),
        "household_size": (
            "The number of people in her household is {v}.",
            "Counting her, the household has {v} members.",
        ),
        "occupation": (
            "She found a job as a {v} and still has it today.",
            "{name} has been working as a {v} for the past six years.",
            "She is currently employed as a {v}.",
        ),
        "education": (
            "She finished her studies with a {v}.",
            "{name} earned a {v} before she started working.",
            "As for her education, she has a {v}.",
        ),
        "income_bracket": ("In a normal year she earns {v}.", "Her yearly earnings fall into the {v} bracket."),
        "home_ownership": (
            {
                "own": "She bought the house she lives in a few years ago.",
                "rent": "She rents a small flat from a private landlord.",
            },
        ),
        "diet_preference": ("The diet she keeps to is {v}.", "{name} has been {v} since her student days."),
        "favorite_cuisine": (
            "She has a favourite cuisine, which is {v}.",
            "Her favourite restaurants all serve {v} food.",
            "For her, no other cuisine comes close to {v}.",
        ),
        "coffee_or_tea": (
            {
                "tea": "She is a tea drinker and hardly ever has coffee.",
                "coffee": "Between coffee and tea, she always chooses coffee.",
            },
        ),
        "fitness_routine": ("She keeps fit by going {v}.", "Several times a week she goes {v} for exercise."),
        "gym_membership": (
            {True: "She has had a gym membership since last year.", False: "She doesn't belong to a gym."},
        ),
        "shopping_preference": (
            {
                "online": "She orders most things on the internet rather than going to a shop.",
                "in_store": "She prefers going to the shops in person to ordering online.",
            },
        ),
        "grocery_store_type": (
            "She does her grocery shopping at {a v}.",
            "{name} usually gets her groceries from {a v}.",
        ),
        "fashion_style": ("She tends to dress in a {v} style.", "Most of the clothes in her wardrobe are {v}."),
        "transport": ("Most days she gets around by {v}.", "{name} usually takes the {v} to work."),
        "sleep_chronotype": (
            {
                "early": "She is a morning person and is usually up before six.",
                "late": "She rarely goes to bed before one and does her best work at night.",
            },
        ),
        "eco_friendliness": (
            {
                "high": "She tries hard to live in an environmentally friendly way.",
                "low": "Being eco-friendly is not a priority for her.",
            },
        ),
        "tech_affinity": (
            {
                "high": "She is always among the first to try out new gadgets.",
                "low": "She isn't much of a technology person.",
            },
        ),
        "primary_device": ("The device she uses most is her {v}.", "She does nearly everything digital on her {v}."),
        "favorite_social_platform": (
            "Her favourite among the social networks is {v}.",
            "She likes {v} better than any other social network.",
        ),
        "social_media_usage_time": (
            "On an average day she is on social media for {v}.",
            "She scrolls through social media for {v} every day.",
        ),
        "content_preference": (
            "The kind of content she prefers is {v}.",
            "To relax, she turns to {v} more than to any other content.",
        ),
        "sports_interest": ("The sport she cares about most is {v}.", "She is into sports, especially {v}."),
        "gaming_preference": ("As a gamer, she is mainly into {v}.", "When it comes to gaming, {name} prefers {v}."),
        "travel_frequency": (
            {
                "never": "She doesn't travel, not even for holidays.",
                "rarely": "She travels only rarely, perhaps once in three years.",
                "sometimes": "She goes travelling now and then.",
                "often": "She travels often, both for work and on holiday.",
            },
        ),
        "needs": (
            "At the moment she is in need of {v}.",
            "{name} says that she really needs {v}.",
            "The thing she needs most is {v}.",
        ),
        "wants": ("She would like to have {v}.", "What she wants next is {v}.", "{name} mentioned that she wants {v}."),
        "desires": (
            "For years her dream has been {v}.",
            "Deep down, she desires {v}.",
            "She has always dreamt of {v}.",
        ),
        "likes": ("She is very fond of {v}.", "{name} likes {v} very much.", "One of the things she loves is {v}."),
        "dislikes": ("{name} is not a fan of {v}.", "She has never liked {v}.", "She really doesn't care for {v}."),
    },
    traps=(
        "Her neighbour is 67 and works as a plumber.",
        "Is she thinking of moving to Lisbon?",
        "Her sister lives in Madrid with her two children.",
        "She did not say how much she earns.",
        "If she had a bigger garden, she would get a dog.",
        "Her father drinks nothing but coffee.",
        "Her boss is vegan and hates karaoke.",
    ),
)
