"""The domains, segments and attributes that a deployment starts with (pure data).

Labels are what people read, so they name things the way people do. The order is the canonical one: it is the order
of `attributes` in a registry entry, and so part of what a request's digest speaks of.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Segment:
    """A group of attributes that is sealed together; `attributes` are (name, label, description)."""

    name: str
    label: str
    description: str
    attributes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class StarterDomain:
    """A part of life; its icon has the domain's own name."""

    name: str
    label: str
    description: str
    segments: tuple[Segment, ...]


DOMAINS: tuple[StarterDomain, ...] = (
    StarterDomain(
        "identity",
        "Identity",
        "Who you are: your name, age and gender.",
        (
            Segment(
                "basic",
                "The basics about you",
                "Your name, age and gender.",
                (
                    ("full_name", "Full name", "The name you go by."),
                    ("age", "Age", "How old you are, in years."),
                    ("gender", "Gender", "Your gender, in your own words."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "contact",
        "Contact",
        "How you can be reached.",
        (
            Segment(
                "email",
                "E-mail",
                "Where e-mail reaches you.",
                (("email", "E-mail address", "The address at which you want to be written to."),),
            ),
            Segment(
                "phone",
                "Phone",
                "Where calls and messages reach you.",
                (("phone", "Phone number", "Your number with its country code."),),
            ),
        ),
    ),
    StarterDomain(
        "location",
        "Location",
        "Where you live.",
        (
            Segment(
                "home",
                "Home address",
                "Where you live, from the street to the country.",
                (
                    ("address", "Street and number", "The street and house number of your home."),
                    ("city", "City", "The town or city you live in."),
                    ("state", "State or region", "The state, province or region you live in."),
                    ("postal_code", "Postal code", "The postal code of your home."),
                    ("country", "Country", "The country you live in."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "demographics",
        "Household",
        "The people you live with.",
        (
            Segment(
                "household",
                "Household",
                "Your family status and who lives with you.",
                (
                    ("marital_status", "Marital status", "Whether you are single, married, or something else."),
                    ("household_size", "People in the household", "How many people live in your home."),
                    ("children_count", "Children", "How many children you have."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "professional",
        "Work and means",
        "Your work, your education and how you live.",
        (
            Segment(
                "work",
                "Work and means",
                "What you do, what you learned, and your rough means.",
                (
                    ("occupation", "Occupation", "What you do for a living."),
                    ("education", "Education", "The highest level of education you finished."),
                    ("income_bracket", "Income range", "The range your yearly income falls in."),
                    ("home_ownership", "Home ownership", "Whether you own or rent your home."),
                    ("city_tier", "Size of your city", "Whether you live in a large city, a town or the country."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "lifestyle",
        "Lifestyle",
        "How you eat, move, shop and spend your days.",
        (
            Segment(
                "food",
                "Food and drink",
                "What you like to eat and drink.",
                (
                    ("diet_preference", "Diet", "How you eat, such as vegetarian or halal."),
                    ("favorite_cuisine", "Favourite cuisine", "The kind of food you like best."),
                    ("coffee_or_tea", "Coffee or tea", "Which of the two you reach for."),
                ),
            ),
            Segment(
                "fitness",
                "Fitness",
                "How you keep moving.",
                (
                    ("fitness_routine", "Fitness routine", "What you do to keep fit, and how often."),
                    ("gym_membership", "Gym membership", "Whether you belong to a gym."),
                ),
            ),
            Segment(
                "shopping",
                "Shopping",
                "How and where you like to shop.",
                (
                    ("shopping_preference", "Shopping preference", "Whether you like to shop online or in stores."),
                    ("grocery_store_type", "Kind of grocery store", "Where you usually buy groceries."),
                    ("fashion_style", "Fashion style", "How you like to dress."),
                ),
            ),
            Segment(
                "habits",
                "Everyday habits",
                "How you get around, when you sleep and what you do for the environment.",
                (
                    ("transport", "Getting around", "How you usually travel day to day."),
                    ("sleep_chronotype", "Early bird or night owl", "Whether you are awake early or late."),
                    ("eco_friendliness", "Environment", "How much the environment matters in what you do."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "technology",
        "Technology",
        "The devices and services you use.",
        (
            Segment(
                "use",
                "Devices and media",
                "How you use devices, social platforms and media.",
                (
                    ("tech_affinity", "Interest in technology", "How much you enjoy new technology."),
                    ("primary_device", "Main device", "The device you use most."),
                    (
                        "favorite_social_platform",
                        "Favourite social platform",
                        "Where you spend time with others online.",
                    ),
                    ("social_media_usage_time", "Time on social media", "How long you spend there in a day."),
                    ("content_preference", "Preferred content", "What you like to watch, read or hear."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "interests",
        "Interests",
        "What you do for fun.",
        (
            Segment(
                "leisure",
                "Free time",
                "Sports, games and travel.",
                (
                    ("sports_interest", "Sports", "The sports you play or follow."),
                    ("gaming_preference", "Games", "The games you like to play."),
                    ("travel_frequency", "Travel", "How often you travel."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "intents",
        "Plans and wishes",
        "What you need, want or plan to buy.",
        (
            Segment(
                "now",
                "Current plans and wishes",
                "What you need, want or wish for now, and what you plan for the next days.",
                (
                    ("needs", "Needs", "What you need now, with budget and time."),
                    ("wants", "Wants", "What you would like to have, with budget and time."),
                    ("desires", "Wishes", "What you dream of, with budget and time."),
                    ("intent_24h", "Plans for the next day", "What you plan within 24 hours."),
                    ("intent_48h", "Plans for two days", "What you plan within 48 hours."),
                    ("intent_72h", "Plans for three days", "What you plan within 72 hours."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "brands",
        "Brands",
        "The brands you like and those you avoid.",
        (
            Segment(
                "affinity",
                "Brand preferences",
                "What you like, what you do not, and how you choose.",
                (
                    ("likes", "Likes", "Brands and things you like."),
                    ("dislikes", "Dislikes", "Brands and things you avoid."),
                    ("brand_affinities", "Favourite brands", "The brands you feel closest to."),
                    ("shopping_preferences", "How you choose", "What matters to you when you choose a brand."),
                ),
            ),
        ),
    ),
    StarterDomain(
        "financial",
        "Spending",
        "Where your money goes, in broad strokes.",
        (
            Segment(
                "signals",
                "Spending patterns",
                "The shops and categories you spend on, and roughly how much.",
                (
                    ("merchants", "Shops and services", "Where you spend money."),
                    ("categories", "Spending categories", "What you spend money on."),
                    ("spend_bracket", "Spending range", "The range your monthly spending falls in."),
                ),
            ),
        ),
    ),
)
