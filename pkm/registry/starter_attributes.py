"""The one list of the attributes that a deployment starts with (pure data).

Everything else that names an attribute is made from it: the registry's rows (`pkm.registry.starter`), how a value is
entered (`pkm.registry.vocabulary`), the prompt of an analysis, the spelling of what agents answer, and what the pages
call it. A new attribute is a new entry here and its German in `locale/`.

What is marked with `_` is kept in English and translated where a page shows it (`pkm.registry.labels.translated`).
Labels are what people read, so they name things the way people do. Attributes of one segment stand together; their
order is the canonical one: it is the order of `attributes` in a registry entry, and so part of what a request's digest
speaks of.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from pkm.registry.controls import BRAND_CHOICE, HOW_MUCH, INTENT, LIST, NUMBER, TEXT, YES_OR_NO, Asked, Control, choice


@dataclass(frozen=True)
class Attribute:
    """`path` is `domain.segment.name`. Only where `asked` is given do analyses ask agents for the attribute."""

    path: str
    label: str
    description: str
    control: Control = TEXT
    asked: Asked | None = None

    @property
    def segment(self) -> str:
        """`domain.segment`."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute(
        "identity.basic.full_name",
        _("Full name"),
        _("The name you go by."),
        Control(autocomplete="name"),
        asked=Asked(),
    ),
    Attribute("identity.basic.age", _("Age"), _("How old you are, in years."), NUMBER, asked=Asked()),
    Attribute("identity.basic.gender", _("Gender"), _("Your gender, in your own words."), asked=Asked()),
    Attribute(
        "contact.email.email",
        _("E-mail address"),
        _("The address at which you want to be written to."),
        Control(autocomplete="email"),
        asked=Asked(_("E-mail")),
    ),
    Attribute(
        "contact.phone.phone",
        _("Phone number"),
        _("Your number with its country code."),
        Control(autocomplete="tel"),
        asked=Asked(_("Phone")),
    ),
    Attribute(
        "location.home.address",
        _("Street and number"),
        _("The street and house number of your home."),
        Control(autocomplete="street-address"),
        asked=Asked(_("Address")),
    ),
    Attribute(
        "location.home.city",
        _("City"),
        _("The town or city you live in."),
        Control(autocomplete="address-level2"),
        asked=Asked(),
    ),
    Attribute(
        "location.home.state",
        _("State or region"),
        _("The state, province or region you live in."),
        Control(autocomplete="address-level1"),
        asked=Asked(_("State")),
    ),
    Attribute(
        "location.home.postal_code",
        _("Postal code"),
        _("The postal code of your home."),
        Control(autocomplete="postal-code"),
        asked=Asked(),
    ),
    Attribute(
        "location.home.country",
        _("Country"),
        _("The country you live in."),
        Control(autocomplete="country-name"),
        asked=Asked(),
    ),
    Attribute(
        "demographics.household.marital_status",
        _("Marital status"),
        _("Whether you are single, married, or something else."),
        choice(
            ("single", _("Single")),
            ("partnered", _("Living with a partner")),
            ("married", _("Married")),
            ("divorced", _("Divorced")),
            ("widowed", _("Widowed")),
        ),
        asked=Asked(),
    ),
    Attribute(
        "demographics.household.household_size",
        _("People in the household"),
        _("How many people live in your home."),
        NUMBER,
        asked=Asked(_("Household size")),
    ),
    Attribute(
        "demographics.household.children_count", _("Children"), _("How many children you have."), NUMBER, asked=Asked()
    ),
    Attribute("professional.work.occupation", _("Occupation"), _("What you do for a living."), asked=Asked()),
    Attribute(
        "professional.work.education", _("Education"), _("The highest level of education you finished."), asked=Asked()
    ),
    Attribute(
        "professional.work.income_bracket",
        _("Income range"),
        _("The range your yearly income falls in."),
        asked=Asked(_("Income bracket")),
    ),
    Attribute(
        "professional.work.home_ownership",
        _("Home ownership"),
        _("Whether you own or rent your home."),
        choice(("own", _("Own")), ("rent", _("Rent")), ("other", _("Other"))),
        asked=Asked(),
    ),
    Attribute(
        "professional.work.city_tier",
        _("Size of your city"),
        _("Whether you live in a large city, a town or the country."),
        asked=Asked(_("City tier")),
    ),
    Attribute(
        "lifestyle.food.diet_preference",
        _("Diet"),
        _("How you eat, such as vegetarian or halal."),
        asked=Asked(_("Diet preference")),
    ),
    Attribute(
        "lifestyle.food.favorite_cuisine", _("Favourite cuisine"), _("The kind of food you like best."), asked=Asked()
    ),
    Attribute(
        "lifestyle.food.coffee_or_tea",
        _("Coffee or tea"),
        _("Which of the two you reach for."),
        choice(("coffee", _("Coffee")), ("tea", _("Tea")), ("both", _("Both")), ("neither", _("Neither"))),
        asked=Asked(),
    ),
    Attribute(
        "lifestyle.fitness.fitness_routine",
        _("Fitness routine"),
        _("What you do to keep fit, and how often."),
        asked=Asked(),
    ),
    Attribute(
        "lifestyle.fitness.gym_membership",
        _("Gym membership"),
        _("Whether you belong to a gym."),
        YES_OR_NO,
        asked=Asked(),
    ),
    Attribute(
        "lifestyle.shopping.shopping_preference",
        _("Shopping preference"),
        _("Whether you like to shop online or in stores."),
        choice(("online", _("Online")), ("in_store", _("In a shop")), ("both", _("Both"))),
        asked=Asked(),
    ),
    Attribute(
        "lifestyle.shopping.grocery_store_type",
        _("Kind of grocery store"),
        _("Where you usually buy groceries."),
        asked=Asked(_("Grocery store type")),
    ),
    Attribute("lifestyle.shopping.fashion_style", _("Fashion style"), _("How you like to dress."), asked=Asked()),
    Attribute(
        "lifestyle.habits.transport",
        _("Getting around"),
        _("How you usually travel day to day."),
        asked=Asked(_("Transport")),
    ),
    Attribute(
        "lifestyle.habits.sleep_chronotype",
        _("Early bird or night owl"),
        _("Whether you are awake early or late."),
        choice(("early", _("Early bird")), ("between", _("In between")), ("late", _("Night owl"))),
        asked=Asked(_("Sleep chronotype")),
    ),
    Attribute(
        "lifestyle.habits.eco_friendliness",
        _("Environment"),
        _("How much the environment matters in what you do."),
        HOW_MUCH,
        asked=Asked(_("Eco-friendliness")),
    ),
    Attribute(
        "technology.use.tech_affinity",
        _("Interest in technology"),
        _("How much you enjoy new technology."),
        HOW_MUCH,
        asked=Asked(_("Tech affinity")),
    ),
    Attribute(
        "technology.use.primary_device",
        _("Main device"),
        _("The device you use most."),
        asked=Asked(_("Primary device")),
    ),
    Attribute(
        "technology.use.favorite_social_platform",
        _("Favourite social platform"),
        _("Where you spend time with others online."),
        asked=Asked(),
    ),
    Attribute(
        "technology.use.social_media_usage_time",
        _("Time on social media"),
        _("How long you spend there in a day."),
        asked=Asked(),
    ),
    Attribute(
        "technology.use.content_preference",
        _("Preferred content"),
        _("What you like to watch, read or hear."),
        asked=Asked(_("Content preference")),
    ),
    Attribute(
        "interests.leisure.sports_interest",
        _("Sports"),
        _("The sports you play or follow."),
        asked=Asked(_("Sports interest")),
    ),
    Attribute(
        "interests.leisure.gaming_preference",
        _("Games"),
        _("The games you like to play."),
        asked=Asked(_("Gaming preference")),
    ),
    Attribute(
        "interests.leisure.travel_frequency",
        _("Travel"),
        _("How often you travel."),
        choice(("never", _("Never")), ("rarely", _("Rarely")), ("sometimes", _("Sometimes")), ("often", _("Often"))),
        asked=Asked(_("Travel frequency")),
    ),
    Attribute("intents.now.needs", _("Needs"), _("What you need now, with budget and time."), LIST, asked=Asked()),
    Attribute(
        "intents.now.wants", _("Wants"), _("What you would like to have, with budget and time."), LIST, asked=Asked()
    ),
    Attribute(
        "intents.now.desires",
        _("Wishes"),
        _("What you dream of, with budget and time."),
        LIST,
        asked=Asked(_("Desires")),
    ),
    Attribute(
        "intents.now.intent_24h",
        _("Plans for the next day"),
        _("What you plan within 24 hours."),
        INTENT,
        asked=Asked(_("Within 24 hours")),
    ),
    Attribute(
        "intents.now.intent_48h",
        _("Plans for two days"),
        _("What you plan within 48 hours."),
        INTENT,
        asked=Asked(_("Within 48 hours")),
    ),
    Attribute(
        "intents.now.intent_72h",
        _("Plans for three days"),
        _("What you plan within 72 hours."),
        INTENT,
        asked=Asked(_("Within 72 hours")),
    ),
    Attribute("brands.affinity.likes", _("Likes"), _("Brands and things you like."), LIST, asked=Asked()),
    Attribute("brands.affinity.dislikes", _("Dislikes"), _("Brands and things you avoid."), LIST, asked=Asked()),
    Attribute(
        "brands.affinity.brand_affinities",
        _("Favourite brands"),
        _("The brands you feel closest to."),
        LIST,
        asked=Asked(_("Brand affinities")),
    ),
    Attribute(
        "brands.affinity.shopping_preferences",
        _("How you choose"),
        _("What matters to you when you choose a brand."),
        BRAND_CHOICE,
        asked=Asked(_("Shopping preferences")),
    ),
    Attribute("financial.signals.merchants", _("Shops and services"), _("Where you spend money."), LIST),
    Attribute("financial.signals.categories", _("Spending categories"), _("What you spend money on."), LIST),
    Attribute("financial.signals.spend_bracket", _("Spending range"), _("The range your monthly spending falls in.")),
)
