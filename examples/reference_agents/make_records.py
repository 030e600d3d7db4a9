"""Makes `records.jsonl`, the synthetic public data: `python -m examples.reference_agents.make_records`.

Everybody and every company in it is invented. E-mail addresses are at domains reserved for examples, phone numbers from
ranges reserved for fiction (Germany: (0)30 23125, (0)40 66969, (0)69 90009, (0)221 4710, (0)89 99998, (0)171 39200 and
(0)176 040690; United States: 555-0100 to 555-0199 of each area). Cities are real, streets and postal codes need not be.
The same seed makes the same file, and beside it the truth that a benchmark compares answers with: registers are
outdated or wrong now and then, as `_WRONG` says.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.reference_agents.sample import SAMPLE

SEED = 2031
FILE = Path(__file__).with_name("records.jsonl")
ABOUT = (
    "Synthetic data: every person, household, company, club, brand and post in this file is invented. Phone "
    "numbers and "
    "e-mail domains are reserved for fiction and examples. Made by make_records.py."
)
_GIVEN = [
    "Ada",
    "Alma",
    "Amara",
    "Anouk",
    "Arvid",
    "Astrid",
    "Bela",
    "Bruno",
    "Carla",
    "Cedric",
    "Clara",
    "Dario",
    "Dorothea",
    "Edda",
    "Elias",
    "Elin",
    "Emil",
    "Enzo",
    "Esra",
    "Farid",
    "Femke",
    "Finja",
    "Greta",
    "Hanno",
    "Helena",
    "Ida",
    "Ilka",
    "Imran",
    "Ivo",
    "Jana",
    "Jasper",
    "Jonna",
    "Juno",
    "Kalle",
    "Karim",
    "Katja",
    "Lasse",
    "Leif",
    "Lena",
    "Levi",
    "Lilo",
    "Lotte",
    "Luca",
    "Malik",
    "Marit",
    "Matteo",
    "Mila",
    "Mona",
    "Nadia",
    "Nele",
    "Niklas",
    "Noor",
    "Oda",
    "Oskar",
    "Paula",
    "Pia",
    "Rafael",
    "Ronja",
    "Rosa",
    "Samir",
    "Selma",
    "Silas",
    "Simone",
    "Sofia",
    "Sven",
    "Tara",
    "Theo",
    "Tilda",
    "Tomas",
    "Ulla",
    "Vera",
    "Viktor",
    "Wanda",
    "Yara",
    "Yusuf",
    "Zora",
]
_FAMILY_STARTS = [
    "Ahorn",
    "Birken",
    "Dorn",
    "Eichen",
    "Falken",
    "Grün",
    "Hasel",
    "Holm",
    "Kranich",
    "Linden",
    "Mohn",
    "Nebel",
    "Reiher",
    "Silber",
    "Tannen",
    "Wiesen",
]
_FAMILY_ENDS = ["bach", "berg", "feld", "hain", "hof", "mann", "mark", "stein", "thal", "wald"]
_STREETS = [
    "Amselpfad",
    "Birkenallee",
    "Drosselgasse",
    "Fliederweg",
    "Kranichstieg",
    "Mohnweg",
    "Quellengasse",
    "Rosenhang",
    "Uferpfad",
    "Weidengrund",
]
_ROADS = ("Cedar Hollow Road", "Finch Lane", "Heron Way", "Juniper Walk", "Lantern Street", "Maple Bend", "Quarry Road")
# city → state, country, size, start of postal codes, start of phone numbers reserved for fiction, digits that follow
_CITIES: dict[str, tuple[str, str, str, str, str, int]] = {
    "Berlin": ("Berlin", "Germany", "large city", "101", "+493023125", 3),
    "Hamburg": ("Hamburg", "Germany", "large city", "203", "+494066969", 3),
    "Frankfurt": ("Hesse", "Germany", "large city", "603", "+496990009", 3),
    "Cologne": ("North Rhine-Westphalia", "Germany", "large city", "506", "+492214710", 3),
    "Munich": ("Bavaria", "Germany", "large city", "803", "+498999998", 3),
    "Leipzig": ("Saxony", "Germany", "large city", "041", "+4917139200", 2),
    "Boston": ("Massachusetts", "United States", "large city", "021", "+161755501", 2),
    "Chicago": ("Illinois", "United States", "large city", "606", "+131255501", 2),
    "Denver": ("Colorado", "United States", "large city", "802", "+130355501", 2),
    "Austin": ("Texas", "United States", "large city", "787", "+151255501", 2),
    "Portland": ("Oregon", "United States", "large city", "972", "+150355501", 2),
    "Seattle": ("Washington", "United States", "large city", "981", "+120655501", 2),
    "Boise": ("Idaho", "United States", "medium city", "837", "+120855501", 2),
    "Spokane": ("Washington", "United States", "medium city", "992", "+150955501", 2),
    "Bozeman": ("Montana", "United States", "town", "597", "+140655501", 2),
    "Burlington": ("Vermont", "United States", "town", "054", "+180255501", 2),
}
_TRADES = {
    "design": ("landscape architect", "product designer", "illustrator"),
    "health": ("nurse", "physiotherapist", "pharmacist"),
    "software": ("software engineer", "data analyst", "technical writer"),
    "crafts": ("carpenter", "electrician", "bookbinder"),
    "teaching": ("teacher", "librarian", "music teacher"),
    "trade": ("shop manager", "buyer", "accountant"),
}
_COMPANY_STARTS = [
    "Abendrot",
    "Birkenhain",
    "Fernweh",
    "Kleeblatt",
    "Mooswerk",
    "Nordufer",
    "Pendelton",
    "Quillmark",
    "Sternwarte",
    "Tidewell",
]
_COMPANY_ENDS = [
    "Atelier",
    "Cooperative",
    "Forum",
    "Group",
    "House",
    "Institute",
    "Labs",
    "Partners",
    "Studio",
    "Works",
    "Workshop",
    "Union",
]
BRANDS = {
    "Harbour Tea": "food and drink", "Velokontor": "cycling", "Loden & Lark": "clothing", "Pinewick": "home",
    "Bluefinch Audio": "electronics", "Sundial Travel": "travel", "Kestrel Outdoor": "outdoor",
    "Ofenglut": "food and drink",
    "Papermoon": "books", "Rivet Denim": "clothing", "Tallow Row": "beauty", "Zephyr Games": "games",
}  # fmt: skip
_LIKES = ("jazz", "hiking", "crossword puzzles", "flea markets", "old maps", "choir music", "gardening", "ceramics")
_DISLIKES = ("loud bars", "queues", "advertising mail", "long meetings", "small talk")
CHOICES: dict[str, tuple[Any, ...]] = {
    "gender": ("female", "male", "non-binary"),
    "marital_status": ("single", "married", "divorced", "widowed", "partnered"),
    "education": ("master's degree", "bachelor's degree", "doctorate", "apprenticeship"),
    "income_bracket": ("20,000-40,000", "40,000-60,000", "60,000-80,000", "80,000-100,000"),
    "home_ownership": ("own", "rent"),
    "diet_preference": ("vegan", "vegetarian", "pescatarian"),
    "favorite_cuisine": ("Italian", "Thai", "Indian", "Mexican", "Japanese"),
    "coffee_or_tea": ("coffee", "tea"),
    "fitness_routine": ("running twice a week", "swimming once a week", "jogging every morning"),
    "gym_membership": (True, False),
    "shopping_preference": ("online", "in_store"),
    "grocery_store_type": ("organic market", "discount store", "supermarket", "farmers market"),
    "fashion_style": ("casual", "classic", "sporty", "vintage"),
    "transport": ("bicycle", "bus", "train", "car", "tram"),
    "sleep_chronotype": ("early", "late"),
    "eco_friendliness": ("high", "low"),
    "tech_affinity": ("high", "low"),
    "primary_device": ("smartphone", "laptop", "tablet"),
    "favorite_social_platform": ("Fernpost", "Chirpline", "Looproom"),
    "social_media_usage_time": ("30 minutes", "1 hour", "2 hours"),
    "content_preference": ("podcasts", "documentaries", "short videos", "novels"),
    "sports_interest": ("tennis", "football", "volleyball", "basketball", "chess"),
    "gaming_preference": ("puzzle games", "strategy games", "board games"),
    "travel_frequency": ("never", "rarely", "sometimes", "often"),
}
_WISHES = {
    "needs": ("a raincoat", "a new dentist", "winter tyres", "a desk lamp"),
    "wants": ("a cargo bike", "a better camera", "a standing desk", "a dishwasher"),
    "desires": ("a house by a lake", "a year abroad", "a garden", "a small boat"),
}
_PLANS = ("groceries", "train tickets", "a birthday present", "running shoes", "cinema", "a weekend trip")
_BUDGETS = ("20-40", "50-80", "100-150", "200-300")
_WHEN = {"24h": "tomorrow evening", "48h": "in two days", "72h": "within three days"}
# how often a register is wrong about a field of a person
_WRONG = {"directory-2021": 0.12, "directory-2025": 0.03, "household": 0.04, "club": 0.04, "review": 0.08, "post": 0.06}
_IN_OLD_DIRECTORY = {
    "gender": 0.8, "occupation": 0.9, "education": 0.7, "income_bracket": 0.6, "marital_status": 0.6,
    "primary_device": 0.5, "favorite_social_platform": 0.5,
}  # fmt: skip
# what people write of themselves, in the first person
_POSTS: dict[str, Any] = {
    "diet_preference": "I am {}.",
    "transport": "I usually travel by {}.",
    "gaming_preference": "I play {}.",
    "social_media_usage_time": "I spend {} a day on social media.",
    "content_preference": "My preferred content is {}.",
    "fashion_style": "My fashion style is {}.",
    "fitness_routine": "I go {}.",
    "coffee_or_tea": {"tea": "I prefer tea to coffee.", "coffee": "I prefer coffee to tea."},
    "sleep_chronotype": {"early": "I am an early bird.", "late": "I am a night owl."},
    "shopping_preference": {"online": "I shop online.", "in_store": "I shop in stores."},
    "eco_friendliness": {"high": "The environment is very important to me."},
    "tech_affinity": {"high": "I love new technology."},
    "travel_frequency": {"often": "I often travel.", "sometimes": "I sometimes travel.", "rarely": "I rarely travel."},
    "needs": "I need {}.",
    "wants": "I want {}.",
    "desires": "I dream of {}.",
}


@dataclass
class Invented:
    """A person: `truth` is what is so, `records` what the registers say, `posted` what their posts say."""

    truth: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    posted: dict[str, Any] = field(default_factory=dict)


def make_places() -> list[dict[str, Any]]:
    """The register of places."""
    names = ("state", "country", "city_tier")
    return [{"kind": "place", "city": city, **dict(zip(names, about, strict=False))} for city, about in _CITIES.items()]


def make_companies(rng: random.Random) -> list[dict[str, Any]]:
    """The register of companies: what each pays for an occupation, as a yearly bracket without currency."""
    names = [f"{start} {end}" for start in _COMPANY_STARTS for end in _COMPANY_ENDS]
    trades = list(_TRADES)
    return [
        {"kind": "company", "id": f"C{at:03}", "name": name, "industry": trades[at % len(trades)],
         "city": rng.choice(list(_CITIES)),
         "pay": {job: rng.choice(CHOICES["income_bracket"]) for job in _TRADES[trades[at % len(trades)]]}}
        for at, name in enumerate(names)
    ]  # fmt: skip


def make_people(seed: int = SEED, companies: list[dict[str, Any]] | None = None) -> list[Invented]:
    """2,050 people by the same seed always the same; the sample person is not among them."""
    rng = random.Random(seed)  # noqa: S311  # invented people, no secrets
    companies = companies or make_companies(random.Random(SEED))  # noqa: S311  # invented people, no secrets
    people: list[Invented] = []
    taken: set[str] = set()
    for city, (_state, _country, _tier, _postal, start, digits) in _CITIES.items():
        count = 190 if digits == 3 else 105 if city == "Leipzig" else 100
        for at in range(min(count, 10**digits)):
            name = f"{rng.choice(_GIVEN)} {rng.choice(_FAMILY_STARTS)}{rng.choice(_FAMILY_ENDS)}"
            email = _address(name, taken, rng)
            person = _truth(rng, name, email, f"{start}{at:0{digits}}", city, rng.choice(companies))
            one = Invented(person)
            one.records = _records(rng, f"P{len(people) + 1:04}", one)
            people.append(one)
    return people


def _address(name: str, taken: set[str], rng: random.Random) -> str:
    plain = name.casefold().replace("ü", "ue").replace(" ", ".")
    domain = rng.choice(("org", "com", "net"))
    while (email := f"{plain}@example.{domain}") in taken:
        plain += str(rng.randrange(10))
    taken.add(email)
    return email


def _truth(rng: random.Random, name: str, email: str, phone: str, city: str, company: dict[str, Any]) -> dict[str, Any]:
    state, country, tier, postal, *_ = _CITIES[city]
    job = rng.choice(list(company["pay"]))
    chosen = {name: rng.choice(values) for name, values in CHOICES.items()}
    children = rng.choice((0, 0, 1, 2, 3))
    adults = 2 if chosen["marital_status"] in ("married", "partnered") else 1
    wishes = {kind: [rng.choice(values)] for kind, values in _WISHES.items()}
    brands = rng.sample(list(BRANDS), 3)
    return {
        **chosen, "full_name": name, "email": email, "phone": phone, "age": rng.randint(19, 78),
        "address": _street(rng, country), "city": city, "state": state, "country": country, "city_tier": tier,
        "postal_code": f"{postal}{rng.randrange(100):02}", "children_count": children,
        "household_size": adults + children, "occupation": job, "income_bracket": company["pay"][job],
        "employer": company["id"], **wishes, "brand_affinities": brands[:2],
        "likes": rng.sample(_LIKES, 2), "dislikes": rng.sample(_DISLIKES, 1), "disliked_brand": brands[2],
    }  # fmt: skip


def _street(rng: random.Random, country: str) -> str:
    number = rng.randint(1, 180)
    return f"{rng.choice(_STREETS)} {number}" if country == "Germany" else f"{number} {rng.choice(_ROADS)}"


def _records(rng: random.Random, number: str, one: Invented) -> list[dict[str, Any]]:
    """What the registers hold of one person, right or wrong."""
    truth = one.truth

    def told(register: str, name: str) -> Any:
        if rng.random() >= _WRONG[register]:
            return truth[name]
        if name == "address":
            return _street(rng, truth["country"])
        if name == "occupation":
            return rng.choice([job for jobs in _TRADES.values() for job in jobs])
        if name == "children_count":
            return max(truth[name] - 1, 0)
        return rng.choice(CHOICES[name]) if name in CHOICES else truth[name]

    who = {name: truth[name] for name in ("full_name", "email", "phone", "age", "city")}
    old = {name: told("directory-2021", name) for name, share in _IN_OLD_DIRECTORY.items() if rng.random() < share}
    records: list[dict[str, Any]] = [
        {"kind": "directory-2021", "person": number, **who, "address": told("directory-2021", "address"), **old}
    ]
    if rng.random() < 0.6:
        newer = {name: told("directory-2025", name) for name in ("occupation", "address")}
        extra = {"postal_code": truth["postal_code"], "employer": truth["employer"]}
        records.append({"kind": "directory-2025", "person": number, **newer, **extra})
    if rng.random() < 0.6:
        home = {name: told("household", name) for name in ("marital_status", "children_count", "home_ownership")}
        records.append({"kind": "household", "person": number, "household_size": truth["household_size"], **home})
    if rng.random() < 0.25:
        told_of = rng.choice(("sports_interest", "gym_membership"))
        records.append({"kind": "club", "person": number, told_of: told("club", told_of)})
    if rng.random() < 0.3:
        told_of = rng.choice(("favorite_cuisine", "grocery_store_type"))
        records.append({"kind": "review", "person": number, told_of: told("review", told_of)})
    if rng.random() < 0.3:
        brand, stars = rng.choice(((truth["brand_affinities"][0], 5), (truth["disliked_brand"], 1)))
        records.append({"kind": "review", "person": number, "brand": brand, "stars": stars})
    if rng.random() < 0.5:
        records.append({"kind": "post", "person": number, "text": _post(rng, one, told)})
    if rng.random() < 0.2:
        records.append(_plan(rng, number))
    return records


def _post(rng: random.Random, one: Invented, told: Any) -> str:
    said = []
    for name in rng.sample(list(_POSTS), 3):
        value, form = one.truth[name][0] if name in _WISHES else told("post", name), _POSTS[name]
        if text := form.get(value, "") if isinstance(form, dict) else form.format(value):
            one.posted[name] = [value] if name in _WISHES else value
            said.append(text)
    return " ".join(said) or "Good morning, all."


def _plan(rng: random.Random, number: str) -> dict[str, Any]:
    within = rng.choice(list(_WHEN))
    return {
        "kind": "plan", "person": number, "within": within, "category": rng.choice(_PLANS),
        "budget": rng.choice(_BUDGETS), "timeWindow": _WHEN[within],
    }  # fmt: skip


def sample_records() -> list[dict[str, Any]]:
    """The sample person: in every register, with differences between the older and the newer one."""
    who = {"full_name": SAMPLE["fullName"], "email": SAMPLE["email"]}
    phone = SAMPLE["countryCode"] + SAMPLE["phoneNumber"]
    older = {
        "age": 34, "gender": "female", "city": "Leipzig", "address": "Fliederweg 12",
        "occupation": "landscape architect",
        "education": "bachelor's degree", "income_bracket": "40,000-60,000", "marital_status": "single",
        "primary_device": "laptop", "favorite_social_platform": "Looproom",
    }  # fmt: skip
    posts = (
        "I usually travel by bicycle. I am an early bird. I prefer tea to coffee. The environment is very "
        "important to me.",
        "I often travel. My preferred content is podcasts. I play board games. I spend 30 minutes a day on "
        "social media.",
        "I shop in stores. My fashion style is classic. I need a raincoat. I want a cargo bike. I dream of a "
        "house by a lake.",
        "I love new technology. I go running twice a week. My main device is a smartphone.",
    )
    plans = (
        ("24h", "groceries", "50-80"), ("48h", "train tickets", "100-150"), ("72h", "a birthday present", "20-40"),
    )  # fmt: skip
    found: list[dict[str, Any]] = [
        {"kind": "directory-2021", **who, "phone": phone, **older},
        {"kind": "directory-2025", "address": "Uferpfad 7", "postal_code": "04109", "education": "master's degree",
        "occupation": "landscape architect",
         "employer": "C000"},
        {"kind": "household", "household_size": 4, "marital_status": "married", "children_count": 2,
         "home_ownership": "rent"},
        {"kind": "club", "sports_interest": "volleyball"},
        {"kind": "club", "gym_membership": False},
        {"kind": "review", "favorite_cuisine": "Italian"},
        {"kind": "review", "grocery_store_type": "organic market"},
        {"kind": "review", "brand": "Harbour Tea", "stars": 5},
        {"kind": "review", "brand": "Velokontor", "stars": 5},
        {"kind": "review", "brand": "Rivet Denim", "stars": 1},
        *({"kind": "post", "text": text} for text in posts),
        *({"kind": "plan", "within": within, "category": what, "budget": budget, "timeWindow": _WHEN[within]}
          for within, what, budget in plans),
    ]  # fmt: skip
    return [{"kind": record["kind"], "person": "P0000", **record} for record in found]


def make_lines() -> list[str]:
    """The file's lines."""
    companies = make_companies(random.Random(SEED))  # noqa: S311  # invented people, no secrets
    people = make_people(companies=companies)
    records = [{"kind": "about", "text": ABOUT}, *make_places(), *companies, *sample_records()]
    records += [record for person in people for record in person.records]
    return [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records]


if __name__ == "__main__":
    FILE.write_text("\n".join(make_lines()) + "\n", encoding="utf-8")
