"""What things of an analysis are called on its pages."""

from django.utils.translation import gettext_lazy as _

from agents_proxy.spelling import SECTIONS

AGENTS = {
    "brand": _("Brand agent"),
    "core": _("Profile agent"),
    "public": _("Public-data agent"),
    "second": _("Second public-data agent"),
}
PURPOSES = {
    "brand": _("Finds what you like, dislike and buy."),
    "core": _("Looks for a profile that exists already."),
    "public": _("Looks at what is public about you."),
    "second": _("Looks again, for what is still missing."),
}
# section → its heading and its icon
HEADINGS = {
    "basic": (_("Basic information"), "identity"),
    "location": (_("Location"), "location"),
    "demographics": (_("Demographics"), "demographics"),
    "professional": (_("Professional"), "professional"),
    "lifestyle": (_("Lifestyle"), "lifestyle"),
    "technology": (_("Technology"), "technology"),
    "interests": (_("Interests"), "interests"),
    "intents": (_("Intent analysis"), "intents"),
    "brands": (_("Brands and shopping"), "brands"),
    "other": (_("Other things that agents said"), "star"),
}
FIELDS = {
    "full_name": _("Full name"),
    "email": _("E-mail"),
    "phone": _("Phone"),
    "age": _("Age"),
    "gender": _("Gender"),
    "address": _("Address"),
    "city": _("City"),
    "state": _("State"),
    "postal_code": _("Postal code"),
    "country": _("Country"),
    "marital_status": _("Marital status"),
    "household_size": _("Household size"),
    "children_count": _("Children"),
    "occupation": _("Occupation"),
    "education": _("Education"),
    "income_bracket": _("Income bracket"),
    "home_ownership": _("Home ownership"),
    "city_tier": _("City tier"),
    "diet_preference": _("Diet preference"),
    "favorite_cuisine": _("Favourite cuisine"),
    "coffee_or_tea": _("Coffee or tea"),
    "fitness_routine": _("Fitness routine"),
    "gym_membership": _("Gym membership"),
    "shopping_preference": _("Shopping preference"),
    "grocery_store_type": _("Grocery store type"),
    "fashion_style": _("Fashion style"),
    "transport": _("Transport"),
    "sleep_chronotype": _("Sleep chronotype"),
    "eco_friendliness": _("Eco-friendliness"),
    "tech_affinity": _("Tech affinity"),
    "primary_device": _("Primary device"),
    "favorite_social_platform": _("Favourite social platform"),
    "social_media_usage_time": _("Time on social media"),
    "content_preference": _("Content preference"),
    "sports_interest": _("Sports interest"),
    "gaming_preference": _("Gaming preference"),
    "travel_frequency": _("Travel frequency"),
    "needs": _("Needs"),
    "wants": _("Wants"),
    "desires": _("Desires"),
    "intent_24h": _("Within 24 hours"),
    "intent_48h": _("Within 48 hours"),
    "intent_72h": _("Within 72 hours"),
    "likes": _("Likes"),
    "dislikes": _("Dislikes"),
    "brand_affinities": _("Brand affinities"),
    "shopping_preferences": _("Shopping preferences"),
    "category": _("Category"),
    "budget": _("Budget"),
    "time_window": _("When"),
    "confidence": _("Confidence"),
    "category_focus": _("Categories"),
    "price_sensitivity": _("How much the price matters"),
    "channel": _("Where they buy"),
}
RUNS = {
    "queued": (_("Waiting to start"), "info"),
    "running": (_("Running"), "info"),
    "completed": (_("Complete"), "good"),
    "completed_with_errors": (_("Complete, with gaps"), "warn"),
    "failed": (_("No usable answer"), "bad"),
    "cancelled": (_("Stopped"), "neutral"),
}
STEPS = {
    "waiting": _("Waiting"),
    "running": _("Asking now"),
    "succeeded": _("Answered"),
    "failed": _("No usable answer"),
    "skipped": _("Not asked"),
}
# what a step is called whose agent was being asked as the analysis was stopped, and why
STOPPED_MEANWHILE = (_("Asked"), _("The analysis was stopped while this agent was asked, so its answer is not kept."))
REASONS = {
    "agent_error": _("The agent reported an error."),
    "no_text": _("The agent answered without any text."),
    "not_json": _("The answer was not a profile that can be read. Its text is kept in the raw data."),
    "not_an_object": _("The answer was not a profile. Its text is kept in the raw data."),
    "non_finite_number": _("The answer held a number that is none. Its text is kept in the raw data."),
    "too_deep": _("The answer was nested too deeply. Its text is kept in the raw data."),
    "invalid_agent_response": _("What came back was no answer of an agent."),
    "upstream_unavailable": _("The agent cannot be reached."),
    "upstream_timeout": _("The agent took too long."),
    "agent_not_configured": _("This agent is not available here."),
    "worker_lost": _("The work on this step was interrupted too often."),
    "cancelled": _("You stopped the analysis before this step."),
    "consent_withdrawn": _("The consent ended before this step."),
}
# what a page says where something about an analysis is refused, by the problem's code
PROBLEMS = {
    "too_many_analyses": _("Too many analyses at once. Wait until one of them ends."),
    "analysis_ended": _("The analysis has ended already."),
    "step_not_failed": _("This step did not fail, or the analysis has not ended yet."),
    "consent_ended": _("The consent to this analysis has ended. Start a new one."),
    "nothing_to_activate": _("There is nothing to send: no agent knows what you like."),
    "activation_not_configured": _("No CRM is configured here."),
    "activation_failed": _("The CRM did not take it or cannot be reached. You can send it again."),
    "activation_uncertain": _(
        "The CRM gave no answer, so it may have arrived. Sent again within ten minutes, it is known there as the same."
    ),
    "activation_too_late": _("Nothing was sent: the time of that agreement is over. Agree again, and send."),
}

# why a refresh of a linked institution came to nothing
REFRESHES = {
    "not_ready": _("Your institution is still preparing the list. We look again every minute."),
    "item_login_required": _("Your institution wants you to sign in there again: link it anew."),
    "aggregator_unavailable": _("The aggregator cannot be reached. We try again tomorrow, or when you ask."),
    "aggregator_timeout": _("The aggregator took too long. We try again tomorrow, or when you ask."),
    "aggregator_busy": _("The aggregator is busy. We try again tomorrow, or when you ask."),
    "changed_meanwhile": _("The list kept changing while it was read. We try again tomorrow, or when you ask."),
    "worker_lost": _("The work was interrupted too often. Read it again."),
    "consent_withdrawn": _("Your consent had ended before it was read."),
}
OTHERWISE = _("It did not work. If that stays so, tell the people who run this service.")


def label(name: str) -> str:
    """What a field is called: a name that nobody wrote words for is made readable."""
    return str(FIELDS.get(name) or name.replace("_", " ").capitalize())


def section_of(name: str) -> str:
    return next((section for section, names in SECTIONS.items() if name in names), "other")
