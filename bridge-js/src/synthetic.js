// @ts-check
// What a sandbox person keeps unless told otherwise: somebody who does not exist, with every usual segment filled. The
// client for Python has the same, which a test compares.

const LATER = { category: "Travel", budget: "300 to 500 EUR", time_window: "72 hours", confidence: 0.7 };

/** domain.segment → attribute → value @type {Record<string, Record<string, unknown>>} */
export const SYNTHETIC_PROFILE = {
  "identity.basic": { full_name: "Ada Sample", age: 36, gender: "female" },
  "contact.email": { email: "ada.sample@example.org" },
  "contact.phone": { phone: "+12025550123" },
  "location.home": {
    address: "1 Example Street",
    city: "Lisbon",
    state: "Lisbon",
    postal_code: "1000-001",
    country: "Portugal",
  },
  "demographics.household": { marital_status: "married", household_size: 3, children_count: 1 },
  "professional.work": {
    occupation: "Engineer",
    education: "Master's degree",
    income_bracket: "Middle",
    home_ownership: "Rents",
    city_tier: "1",
  },
  "lifestyle.food": { diet_preference: "Vegetarian", favorite_cuisine: "Thai", coffee_or_tea: "Tea" },
  "lifestyle.fitness": { fitness_routine: "Runs twice a week", gym_membership: false },
  "lifestyle.shopping": { shopping_preference: "Online", grocery_store_type: "Organic", fashion_style: "casual" },
  "lifestyle.habits": { transport: "Bicycle", sleep_chronotype: "Early", eco_friendliness: "High" },
  "technology.use": {
    tech_affinity: "High",
    primary_device: "Phone",
    favorite_social_platform: "Mastodon",
    social_media_usage_time: "30 minutes a day",
    content_preference: "Long articles",
  },
  "interests.leisure": {
    sports_interest: "Climbing",
    gaming_preference: "Board games",
    travel_frequency: "Four trips a year",
  },
  "intents.now": { needs: ["Running shoes"], wants: ["A weekend in Porto"], intent_72h: LATER },
  "brands.affinity": { likes: ["Sample Shoes"], dislikes: ["Sample Cola"] },
  "financial.signals": { spend_bracket: "Middle", categories: ["Books", "Train tickets"] },
};
