"""The domains, segments and attributes that a deployment starts with (pure data).

What is marked with `_` is kept in English and translated where a page shows it (`pkm.labels.translated`).

Labels are what people read, so they name things the way people do. The order is the canonical one: it is the order
of `attributes` in a registry entry, and so part of what a request's digest speaks of.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class Segment:
    """A group of attributes that is sealed together; `attributes` are (name, label, description)."""

    name: str
    label: str
    description: str
    attributes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class StarterDomain:
    """A part of life; its icon has the domain's own name. `whole` names the scope over all of it."""

    name: str
    label: str
    whole: str
    description: str
    segments: tuple[Segment, ...]


DOMAINS: tuple[StarterDomain, ...] = (
    StarterDomain(
        "identity",
        _("Identity"),
        _("Identity: everything"),
        _("Who you are: your name, age and gender."),
        (
            Segment(
                "basic",
                _("The basics about you"),
                _("Your name, age and gender."),
                (
                    ("full_name", _("Full name"), _("The name you go by.")),
                    ("age", _("Age"), _("How old you are, in years.")),
                    ("gender", _("Gender"), _("Your gender, in your own words.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "contact",
        _("Contact"),
        _("Contact: everything"),
        _("How you can be reached."),
        (
            Segment(
                "email",
                _("E-mail"),
                _("Where e-mail reaches you."),
                (("email", _("E-mail address"), _("The address at which you want to be written to.")),),
            ),
            Segment(
                "phone",
                _("Phone"),
                _("Where calls and messages reach you."),
                (("phone", _("Phone number"), _("Your number with its country code.")),),
            ),
        ),
    ),
    StarterDomain(
        "location",
        _("Location"),
        _("Location: everything"),
        _("Where you live."),
        (
            Segment(
                "home",
                _("Home address"),
                _("Where you live, from the street to the country."),
                (
                    ("address", _("Street and number"), _("The street and house number of your home.")),
                    ("city", _("City"), _("The town or city you live in.")),
                    ("state", _("State or region"), _("The state, province or region you live in.")),
                    ("postal_code", _("Postal code"), _("The postal code of your home.")),
                    ("country", _("Country"), _("The country you live in.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "demographics",
        _("Household"),
        _("Household: everything"),
        _("The people you live with."),
        (
            Segment(
                "household",
                _("Household"),
                _("Your family status and who lives with you."),
                (
                    ("marital_status", _("Marital status"), _("Whether you are single, married, or something else.")),
                    ("household_size", _("People in the household"), _("How many people live in your home.")),
                    ("children_count", _("Children"), _("How many children you have.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "professional",
        _("Work and means"),
        _("Work and means: everything"),
        _("Your work, your education and how you live."),
        (
            Segment(
                "work",
                _("Work and means"),
                _("What you do, what you learned, and your rough means."),
                (
                    ("occupation", _("Occupation"), _("What you do for a living.")),
                    ("education", _("Education"), _("The highest level of education you finished.")),
                    ("income_bracket", _("Income range"), _("The range your yearly income falls in.")),
                    ("home_ownership", _("Home ownership"), _("Whether you own or rent your home.")),
                    (
                        "city_tier",
                        _("Size of your city"),
                        _("Whether you live in a large city, a town or the country."),
                    ),
                ),
            ),
        ),
    ),
    StarterDomain(
        "lifestyle",
        _("Lifestyle"),
        _("Lifestyle: everything"),
        _("How you eat, move, shop and spend your days."),
        (
            Segment(
                "food",
                _("Food and drink"),
                _("What you like to eat and drink."),
                (
                    ("diet_preference", _("Diet"), _("How you eat, such as vegetarian or halal.")),
                    ("favorite_cuisine", _("Favourite cuisine"), _("The kind of food you like best.")),
                    ("coffee_or_tea", _("Coffee or tea"), _("Which of the two you reach for.")),
                ),
            ),
            Segment(
                "fitness",
                _("Fitness"),
                _("How you keep moving."),
                (
                    ("fitness_routine", _("Fitness routine"), _("What you do to keep fit, and how often.")),
                    ("gym_membership", _("Gym membership"), _("Whether you belong to a gym.")),
                ),
            ),
            Segment(
                "shopping",
                _("Shopping"),
                _("How and where you like to shop."),
                (
                    (
                        "shopping_preference",
                        _("Shopping preference"),
                        _("Whether you like to shop online or in stores."),
                    ),
                    ("grocery_store_type", _("Kind of grocery store"), _("Where you usually buy groceries.")),
                    ("fashion_style", _("Fashion style"), _("How you like to dress.")),
                ),
            ),
            Segment(
                "habits",
                _("Everyday habits"),
                _("How you get around, when you sleep and what you do for the environment."),
                (
                    ("transport", _("Getting around"), _("How you usually travel day to day.")),
                    ("sleep_chronotype", _("Early bird or night owl"), _("Whether you are awake early or late.")),
                    ("eco_friendliness", _("Environment"), _("How much the environment matters in what you do.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "technology",
        _("Technology"),
        _("Technology: everything"),
        _("The devices and services you use."),
        (
            Segment(
                "use",
                _("Devices and media"),
                _("How you use devices, social platforms and media."),
                (
                    ("tech_affinity", _("Interest in technology"), _("How much you enjoy new technology.")),
                    ("primary_device", _("Main device"), _("The device you use most.")),
                    (
                        "favorite_social_platform",
                        _("Favourite social platform"),
                        _("Where you spend time with others online."),
                    ),
                    ("social_media_usage_time", _("Time on social media"), _("How long you spend there in a day.")),
                    ("content_preference", _("Preferred content"), _("What you like to watch, read or hear.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "interests",
        _("Interests"),
        _("Interests: everything"),
        _("What you do for fun."),
        (
            Segment(
                "leisure",
                _("Free time"),
                _("Sports, games and travel."),
                (
                    ("sports_interest", _("Sports"), _("The sports you play or follow.")),
                    ("gaming_preference", _("Games"), _("The games you like to play.")),
                    ("travel_frequency", _("Travel"), _("How often you travel.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "intents",
        _("Plans and wishes"),
        _("Plans and wishes: everything"),
        _("What you need, want or plan to buy."),
        (
            Segment(
                "now",
                _("Current plans and wishes"),
                _("What you need, want or wish for now, and what you plan for the next days."),
                (
                    ("needs", _("Needs"), _("What you need now, with budget and time.")),
                    ("wants", _("Wants"), _("What you would like to have, with budget and time.")),
                    ("desires", _("Wishes"), _("What you dream of, with budget and time.")),
                    ("intent_24h", _("Plans for the next day"), _("What you plan within 24 hours.")),
                    ("intent_48h", _("Plans for two days"), _("What you plan within 48 hours.")),
                    ("intent_72h", _("Plans for three days"), _("What you plan within 72 hours.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "brands",
        _("Brands"),
        _("Brands: everything"),
        _("The brands you like and those you avoid."),
        (
            Segment(
                "affinity",
                _("Brand preferences"),
                _("What you like, what you do not, and how you choose."),
                (
                    ("likes", _("Likes"), _("Brands and things you like.")),
                    ("dislikes", _("Dislikes"), _("Brands and things you avoid.")),
                    ("brand_affinities", _("Favourite brands"), _("The brands you feel closest to.")),
                    ("shopping_preferences", _("How you choose"), _("What matters to you when you choose a brand.")),
                ),
            ),
        ),
    ),
    StarterDomain(
        "financial",
        _("Spending"),
        _("Spending: everything"),
        _("Where your money goes, in broad strokes."),
        (
            Segment(
                "signals",
                _("Spending patterns"),
                _("The shops and categories you spend on, and roughly how much."),
                (
                    ("merchants", _("Shops and services"), _("Where you spend money.")),
                    ("categories", _("Spending categories"), _("What you spend money on.")),
                    ("spend_bracket", _("Spending range"), _("The range your monthly spending falls in.")),
                ),
            ),
        ),
    ),
)
