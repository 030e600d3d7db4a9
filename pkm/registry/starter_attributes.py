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

from pkm.registry.controls import (
    BRAND_CHOICE,
    HOW_MUCH,
    IN_OWN_WORDS,
    INTENT,
    LIST,
    NUMBER,
    TEXT,
    YES_OR_NO,
    Control,
    PromptField,
    choice,
    spelled,
)


@dataclass(frozen=True)
class Attribute:
    """`path` is `domain.segment.name`. Only where `prompt` is given do analyses ask agents for the attribute."""

    path: str
    label: str
    description: str
    control: Control = TEXT
    prompt: PromptField | None = None

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
        prompt=PromptField(
            aliases=spelled("name complete_name person_name display_name legal_name customer_name name_full")
        ),
    ),
    Attribute(
        "identity.basic.age",
        _("Age"),
        _("How old you are, in years."),
        NUMBER,
        prompt=PromptField(
            aliases=spelled("age_years age_in_years years_old current_age estimated_age approximate_age")
        ),
    ),
    Attribute(
        "identity.basic.gender",
        _("Gender"),
        _("Your gender, in your own words."),
        IN_OWN_WORDS,
        prompt=PromptField(aliases=spelled("sex gender_identity")),
    ),
    Attribute(
        "identity.basic.birth_date",
        _("Date of birth"),
        _("The day you were born: year, month and day, such as 1990-05-17."),
        Control(autocomplete="bday"),
    ),
    Attribute(
        "contact.email.email",
        _("E-mail address"),
        _("The address at which you want to be written to."),
        Control(autocomplete="email"),
        prompt=PromptField(
            _("Email"), aliases=spelled("email_address mail e_mail_address primary_email contact_email email_id")
        ),
    ),
    Attribute(
        "contact.phone.phone",
        _("Phone number"),
        _("Your number with its country code."),
        Control(autocomplete="tel"),
        prompt=PromptField(
            _("Phone"),
            aliases=spelled(
                "phone_number mobile mobile_number mobile_phone telephone telephone_number tel contact_number "
                "primary_phone cell cell_phone phone_no contact_phone"
            ),
        ),
    ),
    Attribute(
        "location.home.address",
        _("Street and number"),
        _("The street and house number of your home."),
        Control(autocomplete="street-address"),
        prompt=PromptField(
            _("Address"),
            aliases=spelled(
                "street street_address home_address address_line address_line1 address_line_1 address1 "
                "residential_address full_address current_address street_and_number postal_address street_name"
            ),
        ),
    ),
    Attribute(
        "location.home.city",
        _("City"),
        _("The town or city you live in."),
        Control(autocomplete="address-level2"),
        prompt=PromptField(
            aliases=spelled(
                "town home_city current_city city_of_residence residence_city locality address_city city_name"
            )
        ),
    ),
    Attribute(
        "location.home.state",
        _("State or region"),
        _("The state, province or region you live in."),
        Control(autocomplete="address-level1"),
        prompt=PromptField(
            _("State"),
            aliases=spelled(
                "region province state_or_region state_province state_or_province federal_state address_state "
                "address_region state_name"
            ),
        ),
    ),
    Attribute(
        "location.home.postal_code",
        _("Postal code"),
        _("The postal code of your home."),
        Control(autocomplete="postal-code"),
        prompt=PromptField(
            aliases=spelled(
                "zip zip_code post_code postal pin_code postal_zip_code address_zip address_zip_code "
                "address_postal_code address_postcode"
            )
        ),
    ),
    Attribute(
        "location.home.country",
        _("Country"),
        _("The country you live in."),
        Control(autocomplete="country-name"),
        prompt=PromptField(
            aliases=spelled("country_of_residence home_country residence_country nation address_country country_name")
        ),
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
        prompt=PromptField(aliases=spelled("marital relationship_status civil_status family_status marriage_status")),
    ),
    Attribute(
        "demographics.household.household_size",
        _("People in the household"),
        _("How many people live in your home."),
        NUMBER,
        prompt=PromptField(
            _("Household size"),
            aliases=spelled(
                "people_in_household size_of_household family_size household_members number_in_household "
                "household_people household_count"
            ),
        ),
    ),
    Attribute(
        "demographics.household.children_count",
        _("Children"),
        _("How many children you have."),
        NUMBER,
        prompt=PromptField(
            _("Children count"),
            aliases=spelled(
                "children number_of_children num_children kids kids_count number_of_kids child_count no_of_children "
                "children_number num_kids"
            ),
        ),
    ),
    Attribute(
        "professional.work.occupation",
        _("Occupation"),
        _("What you do for a living."),
        prompt=PromptField(
            aliases=spelled(
                "job job_title profession current_occupation current_job employment_title position work_title "
                "occupation_title professional_occupation"
            )
        ),
    ),
    Attribute(
        "professional.work.education",
        _("Education"),
        _("The highest level of education you finished."),
        prompt=PromptField(
            aliases=spelled(
                "education_level highest_education level_of_education educational_level degree highest_degree "
                "qualification highest_qualification education_degree educational_background education_background"
            )
        ),
    ),
    Attribute(
        "professional.work.income_bracket",
        _("Income range"),
        _("The range your yearly income falls in."),
        prompt=PromptField(
            _("Income bracket"),
            aliases=spelled(
                "income income_level income_range annual_income yearly_income household_income salary salary_range "
                "income_group income_class estimated_income"
            ),
        ),
    ),
    Attribute(
        "professional.work.home_ownership",
        _("Home ownership"),
        _("Whether you own or rent your home."),
        choice(("own", _("Own")), ("rent", _("Rent")), ("other", _("Other"))),
        prompt=PromptField(
            aliases=spelled(
                "home_ownership_status housing_status home_owner housing_type home_status own_or_rent "
                "ownership_status residence_type housing_situation homeownership"
            )
        ),
    ),
    Attribute(
        "professional.work.city_tier",
        _("Size of your city"),
        _("Whether you live in a large city, a town or the country."),
        prompt=PromptField(
            _("City tier"), aliases=spelled("city_size tier city_category city_class city_type tier_of_city")
        ),
    ),
    Attribute(
        "lifestyle.food.diet_preference",
        _("Diet"),
        _("How you eat, such as vegetarian or halal."),
        prompt=PromptField(
            _("Diet preference"),
            aliases=spelled(
                "diet dietary_preference dietary_preferences diet_type diet_preferences food_preference "
                "food_preferences eating_habits dietary_habits"
            ),
        ),
    ),
    Attribute(
        "lifestyle.food.favorite_cuisine",
        _("Favourite cuisine"),
        _("The kind of food you like best."),
        prompt=PromptField(
            _("Favorite cuisine"),
            aliases=spelled(
                "favourite_cuisine cuisine cuisines preferred_cuisine cuisine_preference cuisine_preferences "
                "favorite_cuisines favourite_cuisines fav_cuisine favorite_food favourite_food"
            ),
        ),
    ),
    Attribute(
        "lifestyle.food.coffee_or_tea",
        _("Coffee or tea"),
        _("Which of the two you reach for."),
        choice(("coffee", _("Coffee")), ("tea", _("Tea")), ("both", _("Both")), ("neither", _("Neither"))),
        prompt=PromptField(
            aliases=spelled(
                "coffee_or_tea_choice coffee_or_tea_preference tea_or_coffee coffee_tea coffee_vs_tea "
                "coffee_tea_preference coffee_tea_choice beverage_preference preferred_beverage beverage_choice "
                "beverage"
            )
        ),
    ),
    Attribute(
        "lifestyle.fitness.fitness_routine",
        _("Fitness routine"),
        _("What you do to keep fit, and how often."),
        prompt=PromptField(
            aliases=spelled(
                "fitness exercise_routine workout_routine exercise workout fitness_level fitness_habits "
                "exercise_frequency exercise_habits workout_frequency"
            )
        ),
    ),
    Attribute(
        "lifestyle.fitness.gym_membership",
        _("Gym membership"),
        _("Whether you belong to a gym."),
        YES_OR_NO,
        prompt=PromptField(
            aliases=spelled("gym gym_member has_gym_membership gym_membership_status is_gym_member gym_memberships")
        ),
    ),
    Attribute(
        "lifestyle.shopping.shopping_preference",
        _("Shopping preference"),
        _("Whether you like to shop online or in stores."),
        choice(("online", _("Online")), ("in_store", _("In a shop")), ("both", _("Both"))),
        prompt=PromptField(
            aliases=spelled(
                "shopping_mode preferred_shopping shopping_style shopping_channel shopping_habits shopping_habit "
                "shopping_method online_or_offline_shopping"
            )
        ),
    ),
    Attribute(
        "lifestyle.shopping.grocery_store_type",
        _("Kind of grocery store"),
        _("Where you usually buy groceries."),
        prompt=PromptField(
            _("Grocery store type"),
            aliases=spelled(
                "grocery_store grocery_store_preference grocery_preference preferred_grocery_store grocery_type "
                "grocery_shopping grocery grocery_stores"
            ),
        ),
    ),
    Attribute(
        "lifestyle.shopping.fashion_style",
        _("Fashion style"),
        _("How you like to dress."),
        prompt=PromptField(
            aliases=spelled(
                "fashion style clothing_style fashion_preference style_preference dressing_style clothing_preference"
            )
        ),
    ),
    Attribute(
        "lifestyle.habits.transport",
        _("Getting around"),
        _("How you usually travel day to day."),
        prompt=PromptField(
            _("Transport"),
            aliases=spelled(
                "primary_transport primary_transportation transportation transport_mode transportation_mode "
                "mode_of_transport mode_of_transportation primary_mode_of_transport transport_preference "
                "transportation_preference preferred_transport commute commute_mode primary_transport_mode"
            ),
        ),
    ),
    Attribute(
        "lifestyle.habits.sleep_chronotype",
        _("Early bird or night owl"),
        _("Whether you are awake early or late."),
        choice(("early", _("Early bird")), ("between", _("In between")), ("late", _("Night owl"))),
        prompt=PromptField(
            _("Sleep chronotype"),
            aliases=spelled("chronotype sleep_type sleep_pattern sleep_schedule sleep sleeping_pattern sleep_habits"),
        ),
    ),
    Attribute(
        "lifestyle.habits.eco_friendliness",
        _("Environment"),
        _("How much the environment matters in what you do."),
        HOW_MUCH,
        prompt=PromptField(
            _("Eco-friendliness"),
            aliases=spelled(
                "eco_friendly eco_consciousness eco_conscious environmental_awareness environmental_consciousness "
                "sustainability eco_friendliness_level eco_awareness eco_score"
            ),
        ),
    ),
    Attribute(
        "technology.use.tech_affinity",
        _("Interest in technology"),
        _("How much you enjoy new technology."),
        HOW_MUCH,
        prompt=PromptField(
            _("Tech affinity"),
            aliases=spelled(
                "technology_affinity tech_savviness tech_savvy technology_adoption tech_adoption tech_level "
                "tech_affinity_level technology_savviness"
            ),
        ),
    ),
    Attribute(
        "technology.use.primary_device",
        _("Main device"),
        _("The device you use most."),
        prompt=PromptField(
            _("Primary device"),
            aliases=spelled(
                "device main_device preferred_device primary_device_type device_type device_preference "
                "most_used_device device_primary"
            ),
        ),
    ),
    Attribute(
        "technology.use.favorite_social_platform",
        _("Favourite social platform"),
        _("Where you spend time with others online."),
        prompt=PromptField(
            _("Favorite social platform"),
            aliases=spelled(
                "favourite_social_platform social_platform favorite_social_media favourite_social_media "
                "favorite_social_media_platform favourite_social_media_platform preferred_social_platform "
                "preferred_social_media preferred_social_media_platform social_media_platform primary_social_platform "
                "social_media_favorite_platform fav_social_platform"
            ),
        ),
    ),
    Attribute(
        "technology.use.social_media_usage_time",
        _("Time on social media"),
        _("How long you spend there in a day."),
        prompt=PromptField(
            _("Social media usage time"),
            aliases=spelled(
                "social_media_usage social_media_time daily_social_media_usage social_media_hours "
                "time_on_social_media social_usage_time social_media_usage_hours social_media_daily_usage "
                "social_media_screen_time screen_time"
            ),
        ),
    ),
    Attribute(
        "technology.use.content_preference",
        _("Preferred content"),
        _("What you like to watch, read or hear."),
        prompt=PromptField(
            _("Content preference"),
            aliases=spelled(
                "content_preferences preferred_content content_type content_types content_type_preference "
                "preferred_content_type preferred_content_types favorite_content media_preference content_format"
            ),
        ),
    ),
    Attribute(
        "interests.leisure.sports_interest",
        _("Sports"),
        _("The sports you play or follow."),
        prompt=PromptField(
            _("Sports interest"),
            aliases=spelled(
                "sports sport sport_interest sports_interests favorite_sport favourite_sport favorite_sports "
                "favourite_sports sports_preference"
            ),
        ),
    ),
    Attribute(
        "interests.leisure.gaming_preference",
        _("Games"),
        _("The games you like to play."),
        prompt=PromptField(
            _("Gaming preference"),
            aliases=spelled(
                "gaming games gaming_preferences gaming_interest gaming_habits video_games gaming_type preferred_games"
            ),
        ),
    ),
    Attribute(
        "interests.leisure.travel_frequency",
        _("Travel"),
        _("How often you travel."),
        choice(("never", _("Never")), ("rarely", _("Rarely")), ("sometimes", _("Sometimes")), ("often", _("Often"))),
        prompt=PromptField(
            _("Travel frequency"),
            aliases=spelled(
                "travel travel_habits travel_habit travelling_frequency frequency_of_travel traveling_frequency"
            ),
        ),
    ),
    Attribute(
        "intents.now.needs",
        _("Needs"),
        _("What you need now, with budget and time."),
        LIST,
        prompt=PromptField(aliases=spelled("need current_needs immediate_needs needs_list key_needs")),
    ),
    Attribute(
        "intents.now.wants",
        _("Wants"),
        _("What you would like to have, with budget and time."),
        LIST,
        prompt=PromptField(aliases=spelled("want current_wants wants_list key_wants")),
    ),
    Attribute(
        "intents.now.desires",
        _("Wishes"),
        _("What you dream of, with budget and time."),
        LIST,
        prompt=PromptField(
            _("Desires"), aliases=spelled("desire wishes aspirations current_desires desires_list wish_list")
        ),
    ),
    Attribute(
        "intents.now.intent_24h",
        _("Plans for the next day"),
        _("What you plan within 24 hours."),
        INTENT,
        prompt=PromptField(_("Within 24 hours")),
    ),
    Attribute(
        "intents.now.intent_48h",
        _("Plans for two days"),
        _("What you plan within 48 hours."),
        INTENT,
        prompt=PromptField(_("Within 48 hours")),
    ),
    Attribute(
        "intents.now.intent_72h",
        _("Plans for three days"),
        _("What you plan within 72 hours."),
        INTENT,
        prompt=PromptField(_("Within 72 hours")),
    ),
    Attribute(
        "brands.affinity.likes",
        _("Likes"),
        _("Brands and things you like."),
        LIST,
        prompt=PromptField(aliases=spelled("like liked brand_likes liked_brands things_liked")),
    ),
    Attribute(
        "brands.affinity.dislikes",
        _("Dislikes"),
        _("Brands and things you avoid."),
        LIST,
        prompt=PromptField(aliases=spelled("dislike disliked brand_dislikes disliked_brands things_disliked")),
    ),
    Attribute(
        "brands.affinity.brand_affinities",
        _("Favourite brands"),
        _("The brands you feel closest to."),
        LIST,
        prompt=PromptField(
            _("Brand affinities"),
            aliases=spelled(
                "brand_affinity favorite_brands favourite_brands preferred_brands affinities brand_preferences "
                "top_brands brands_liked"
            ),
        ),
    ),
    Attribute(
        "brands.affinity.shopping_preferences",
        _("How you choose"),
        _("What matters to you when you choose a brand."),
        BRAND_CHOICE,
        prompt=PromptField(
            _("Shopping preferences"), aliases=spelled("shopping_behavior shopping_behaviour shopping_profile")
        ),
    ),
    Attribute("financial.signals.merchants", _("Shops and services"), _("Where you spend money."), LIST),
    Attribute("financial.signals.categories", _("Spending categories"), _("What you spend money on."), LIST),
    Attribute("financial.signals.spend_bracket", _("Spending range"), _("The range your monthly spending falls in.")),
)
