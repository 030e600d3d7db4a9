"""Makes `records.jsonl`, the synthetic public data: `python -m examples.reference_agents.make_records`.

Everybody and every company in it is invented. E-mail addresses are at domains reserved for examples, phone numbers from
ranges reserved for fiction (Germany: (0)30 23125, (0)40 66969, (0)69 90009, (0)221 4710, (0)89 99998, (0)171 39200 and
(0)176 040690; United States: 555-0100 to 555-0199 of each area). Cities are real, streets and postal codes need not be.
The same seed makes the same file, and beside it the truth that a benchmark compares answers with: registers are
outdated or wrong now and then, as `WRONG` of `invented_words.py` says.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.reference_agents.invented_words import (
    BRANDS,
    BUDGETS,
    CHOICES,
    CITIES,
    COMPANY_ENDS,
    COMPANY_STARTS,
    DISLIKES,
    FAMILY_ENDS,
    FAMILY_STARTS,
    GIVEN,
    IN_OLD_DIRECTORY,
    LIKES,
    PLANS,
    POSTS,
    ROADS,
    STREETS,
    TRADES,
    WHEN,
    WISHES,
    WRONG,
)
from examples.reference_agents.sample import SAMPLE

SEED = 2031
FILE = Path(__file__).with_name("records.jsonl")
ABOUT = (
    "Synthetic data: every person, household, company, club, brand and post in this file is invented. Phone "
    "numbers and "
    "e-mail domains are reserved for fiction and examples. Made by make_records.py."
)


@dataclass
class Invented:
    """A person: `truth` is what is so, `records` what the registers say, `posted` what their posts say."""

    truth: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    posted: dict[str, Any] = field(default_factory=dict)


def make_places() -> list[dict[str, Any]]:
    """The register of places."""
    names = ("state", "country", "city_tier")
    return [{"kind": "place", "city": city, **dict(zip(names, about, strict=False))} for city, about in CITIES.items()]


def make_companies(rng: random.Random) -> list[dict[str, Any]]:
    """The register of companies: what each pays for an occupation, as a yearly bracket without currency."""
    names = [f"{start} {end}" for start in COMPANY_STARTS for end in COMPANY_ENDS]
    trades = list(TRADES)
    return [
        {"kind": "company", "id": f"C{at:03}", "name": name, "industry": trades[at % len(trades)],
         "city": rng.choice(list(CITIES)),
         "pay": {job: rng.choice(CHOICES["income_bracket"]) for job in TRADES[trades[at % len(trades)]]}}
        for at, name in enumerate(names)
    ]  # fmt: skip


def make_people(seed: int = SEED, companies: list[dict[str, Any]] | None = None) -> list[Invented]:
    """2,050 people by the same seed always the same; the sample person is not among them."""
    rng = random.Random(seed)  # noqa: S311  # invented people, no secrets
    companies = companies or make_companies(random.Random(SEED))  # noqa: S311  # invented people, no secrets
    people: list[Invented] = []
    taken: set[str] = set()
    for city, (_state, _country, _tier, _postal, start, digits) in CITIES.items():
        count = 190 if digits == 3 else 105 if city == "Leipzig" else 100
        for at in range(min(count, 10**digits)):
            name = f"{rng.choice(GIVEN)} {rng.choice(FAMILY_STARTS)}{rng.choice(FAMILY_ENDS)}"
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
    state, country, tier, postal, *_ = CITIES[city]
    job = rng.choice(list(company["pay"]))
    chosen = {name: rng.choice(values) for name, values in CHOICES.items()}
    children = rng.choice((0, 0, 1, 2, 3))
    adults = 2 if chosen["marital_status"] in ("married", "partnered") else 1
    wishes = {kind: [rng.choice(values)] for kind, values in WISHES.items()}
    brands = rng.sample(list(BRANDS), 3)
    return {
        **chosen, "full_name": name, "email": email, "phone": phone, "age": rng.randint(19, 78),
        "address": _street(rng, country), "city": city, "state": state, "country": country, "city_tier": tier,
        "postal_code": f"{postal}{rng.randrange(100):02}", "children_count": children,
        "household_size": adults + children, "occupation": job, "income_bracket": company["pay"][job],
        "employer": company["id"], **wishes, "brand_affinities": brands[:2],
        "likes": rng.sample(LIKES, 2), "dislikes": rng.sample(DISLIKES, 1), "disliked_brand": brands[2],
    }  # fmt: skip


def _street(rng: random.Random, country: str) -> str:
    number = rng.randint(1, 180)
    return f"{rng.choice(STREETS)} {number}" if country == "Germany" else f"{number} {rng.choice(ROADS)}"


def _records(rng: random.Random, number: str, one: Invented) -> list[dict[str, Any]]:
    """What the registers hold of one person, right or wrong."""
    truth = one.truth

    def told(register: str, name: str) -> Any:
        if rng.random() >= WRONG[register]:
            return truth[name]
        if name == "address":
            return _street(rng, truth["country"])
        if name == "occupation":
            return rng.choice([job for jobs in TRADES.values() for job in jobs])
        if name == "children_count":
            return max(truth[name] - 1, 0)
        return rng.choice(CHOICES[name]) if name in CHOICES else truth[name]

    who = {name: truth[name] for name in ("full_name", "email", "phone", "age", "city")}
    old = {name: told("directory-2021", name) for name, share in IN_OLD_DIRECTORY.items() if rng.random() < share}
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
    for name in rng.sample(list(POSTS), 3):
        value, form = one.truth[name][0] if name in WISHES else told("post", name), POSTS[name]
        if text := form.get(value, "") if isinstance(form, dict) else form.format(value):
            one.posted[name] = [value] if name in WISHES else value
            said.append(text)
    return " ".join(said) or "Good morning, all."


def _plan(rng: random.Random, number: str) -> dict[str, Any]:
    within = rng.choice(list(WHEN))
    return {
        "kind": "plan", "person": number, "within": within, "category": rng.choice(PLANS),
        "budget": rng.choice(BUDGETS), "timeWindow": WHEN[within],
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
        *({"kind": "plan", "within": within, "category": what, "budget": budget, "timeWindow": WHEN[within]}
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
