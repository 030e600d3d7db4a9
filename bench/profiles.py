"""How well the reference agents know people: precision, recall, and what their confidence is worth.

    ./run bench profiles [--people 200]

Invented people with known truth are written down in sentences; `core-profile` keeps each text, and then the four agents
of an analysis are asked, in this process by JSON-RPC, with the service's own prompt; its own code reads and merges what
they answer. Two of three people are in the synthetic registers too. Half of the texts have the sentence forms with
which the rules were developed, half have others (`bench.profile_forms`).

An answer is right where it is what the agent's sources hold: the text, or the registers. Calibration asks more:
whether a value is true of the person, since registers are outdated or wrong now and then.
"""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

if not settings.configured:
    settings.configure(USE_I18N=False)

from agents_proxy.analyses.merging import merge
from agents_proxy.analyses.prompts import profile_prompt
from agents_proxy.proxy.replies import read_reply
from agents_proxy.proxy.spelling import SECTIONS
from bench.profile_forms import FORMS, HELD_OUT
from bench.profile_forms.form_set import FormSet, written
from examples.reference_agents import registers
from examples.reference_agents.json_rpc import answer_request
from examples.reference_agents.make_records import SEED, Invented, make_people
from examples.reference_agents.store import keep_in

PRECISION, RECALL = 0.98, 0.8  # wanted on the held-out half
HALVES = ("development", "held_out")
_FORMS_OF = {"development": [name for name in FORMS if name != HELD_OUT], "held_out": [HELD_OUT]}
AGENTS = ("brand", "core", "public", "second", "merged")
FIELDS = tuple(name for names in SECTIONS.values() for name in names)
_STATED = 14  # fields of one text, beside the identifiers
_BINS = ((0.0, 0.7), (0.7, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 0.97), (0.97, 1.01))
_OWN_NUMBERS = ("415", "628", "702", "725")  # area codes that the registers do not have


@dataclass
class Person:
    """`stated`: what the text says; `registered`: whether the registers know the person."""

    invented: Invented
    text: str
    stated: dict[str, Any]
    registered: bool


@dataclass
class Count:
    """Answers that were right, given at all, and held by the sources."""

    right: int = 0
    given: int = 0
    held: int = 0

    def add(self, given: Any, held: Any) -> bool:
        """Count one field; whether it is right."""
        right = given is not None and same(given, held)
        self.right += right
        self.given += given is not None
        self.held += held is not None
        return right

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.held if self.held else 1.0


@dataclass
class Found:
    """(half, agent, field) → counts; (confidence, whether it is true) of each value; wrong answers to look at."""

    counts: dict[tuple[str, str, str], Count] = field(default_factory=lambda: defaultdict(Count))
    sure: list[tuple[float, bool]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def total(self, half: str, agent: str, name: str | None = None) -> Count:
        """The sum over fields, or one field's."""
        chosen = [count for key, count in self.counts.items() if key[:2] == (half, agent) and name in (None, key[2])]
        return Count(*(sum(getattr(count, part) for count in chosen) for part in ("right", "given", "held")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench profiles")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--wrong", action="store_true", help="list what the development half gets wrong")
    options = parser.parse_args()
    found = measure(options.people)
    return report(found, show_wrong=options.wrong)


def measure(count: int) -> Found:
    """Ask the agents for `count` people, half of them in each set of forms."""
    keep_in(None)
    found = Found()
    for half, those in make_people_of(count).items():
        for one in those:
            ask("core-profile", one.text)
            compare(half, one, found)
    return found


def measure_set(name: str, count: int) -> Count:
    """The merged profiles of `count` people, all of them described in one set of sentence forms."""
    keep_in(None)
    found = Found()
    for one in make_people_in({"held_out": [name]}, count)["held_out"]:
        ask("core-profile", one.text)
        compare("held_out", one, found)
    return found.total("held_out", "merged")


def make_people_of(count: int) -> dict[str, list[Person]]:
    """`count` different people, half of them in each half, the same by each run."""
    return make_people_in(_FORMS_OF, count)


def make_people_in(forms_of: Mapping[str, Sequence[str]], count: int) -> dict[str, list[Person]]:
    """`count` different people, in turns by the halves of `forms_of`; every third is in no register."""
    rng = random.Random(SEED)
    known, strangers = make_people(), make_people(SEED + 1)
    halves = list(forms_of)
    found: dict[str, list[Person]] = {half: [] for half in halves}
    for place, at in enumerate(rng.sample(range(len(known)), count)):
        half = halves[place % len(halves)]
        form_set = FORMS[rng.choice(forms_of[half])]
        registered = place % 3 > 0
        one = known[at] if registered else stranger(strangers[at], place)
        found[half].append(make_person(rng, form_set, one, registered))
    return found


def stranger(one: Invented, place: int) -> Invented:
    """Somebody without records, under a number and an address that no register has."""
    area, line = _OWN_NUMBERS[place // 100 % len(_OWN_NUMBERS)], place % 100
    about = {"phone": f"+1{area}55501{line:02}", "email": f"stranger{place}.{one.truth['email']}"}
    return Invented({**one.truth, **about, "country": "United States"})


def make_person(rng: random.Random, form_set: FormSet, one: Invented, registered: bool) -> Person:
    """Somebody, and a text of some of what is true of them, with sentences that are about nobody or others."""
    truth, stated = one.truth, {name: one.truth[name] for name in ("full_name", "email", "phone")}
    sentences = [form_set.identity.format(name=truth["full_name"], email=truth["email"], phone=truth["phone"])]
    also_liked = []
    for name in rng.sample(sorted(form_set.forms), _STATED):
        if text := written(rng.choice(form_set.forms[name]), truth[name], truth["full_name"]):
            stated[name] = truth[name]
            sentences.append(text)
            also_liked += [it for it in ("life", str(truth[name])) if text.endswith(f" enjoys {it}.")]
    if also_liked:  # "mostly enjoys podcasts" and "enjoys life" say a like too
        stated["likes"] = [*stated.get("likes", []), *also_liked]
    return Person(one, "\n".join([*sentences, *rng.sample(form_set.traps, 2)]), stated, registered)


def compare(half: str, one: Person, found: Found) -> None:
    """Run the analysis of one person, and count what each agent and the merged profile say."""
    truth = one.invented.truth
    prompt = profile_prompt({"fullName": truth["full_name"], "email": truth["email"], **split(truth["phone"])})
    answers = {agent: ask(agent, prompt) for agent in AGENTS[:-1]}
    said = {agent: fields for agent, (fields, _) in answers.items()}
    held = held_by(one)
    said["merged"], held["merged"] = merge(said).profile, merge(held).profile
    for agent in AGENTS:
        for name in FIELDS:
            given = said[agent].get(name)
            right = found.counts[half, agent, name].add(given, held[agent].get(name))
            if given is not None and not right and half == "development":
                found.wrong.append(f"{agent} {name}: {given!r} is not {held[agent].get(name)!r}")
            if given is None and agent == "core" and name in one.stated and half == "development":
                found.wrong.append(f"missing {name}: {one.text!r}")
    for fields, sure in answers.values():
        pairs = [(name, sure[name]) for name in FIELDS if name in sure and name in fields and name in truth]
        found.sure += [(confidence, same(fields[name], truth[name])) for name, confidence in pairs if name not in LISTS]


LISTS = ("likes", "dislikes", "brand_affinities", "needs", "wants", "desires")


def ask(agent: str, text: str) -> tuple[dict[str, Any], dict[str, float]]:
    """The fields that an agent answers, read by the service's own code, and how sure it is of each."""
    message = {"role": "user", "parts": [{"type": "text", "text": text}]}
    params = {"sessionId": "session-1", "message": message}
    answer = answer_request(agent, {"jsonrpc": "2.0", "id": "task-1", "method": "tasks/send", "params": params}, "")
    fields = read_reply(answer).fields
    if fields is None:
        raise SystemExit(f"{agent} answered {answer}")
    (part,) = answer["result"]["status"]["message"]["parts"]
    return fields, part.get("metadata", {}).get("confidence", {})


def split(phone: str) -> dict[str, str]:
    """The two parts of a number as an analysis takes them."""
    code = "+1" if phone.startswith("+1") else "+49"
    return {"countryCode": code, "phoneNumber": phone.removeprefix(code)}


def held_by(one: Person) -> dict[str, dict[str, Any]]:
    """What the sources of each agent hold: the text, the first register, the newer ones, and reviews of brands."""
    records, truth = one.invented.records, one.invented.truth
    identity = {name: truth[name] for name in ("full_name", "email", "phone")}
    plan = {"country": truth["country"]}  # of the phone number
    brands = [record for record in records if "brand" in record]
    good = [record["brand"] for record in brands if record["stars"] > 3]
    bad = [record["brand"] for record in brands if record["stars"] < 3]
    stated = {name: one.stated.get(name, []) for name in ("likes", "dislikes")}
    brand = {"likes": stated["likes"] + good, "dislikes": stated["dislikes"] + bad, "brand_affinities": good}
    second: dict[str, Any] = {}
    for record in records[1:]:
        second |= {name: value for name, value in record.items() if name in FIELDS}
        if record["kind"] == "directory-2025":
            pay = registers.company(record["employer"])["pay"].get(record["occupation"])
            second |= {"income_bracket": pay} if pay else {}
        if record["kind"] == "post":
            second |= one.invented.posted
        if record["kind"] == "plan":
            plan_of = {name: record[name] for name in ("category", "budget", "timeWindow")}
            second[f"intent_{record['within']}"] = plan_of
    if one.registered:
        second |= {name: truth[name] for name in ("state", "country", "city_tier")}
    return {
        "brand": {**identity, **{name: items for name, items in brand.items() if items}},
        "core": {**plan, **one.stated},
        "public": {
            **plan,
            **({name: value for name, value in records[0].items() if name in FIELDS} if records else {}),
        },
        "second": second,
    }


def same(one: Any, other: Any) -> bool:
    """Equal, whatever the case of letters, the order of a list, or how sure an intent is."""
    return comparable(one) == comparable(other)


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: comparable(part) for name, part in value.items() if name != "confidence"}
    if isinstance(value, list):
        return sorted(str(part).casefold() for part in value)
    return value.casefold() if isinstance(value, str) else value


def report(found: Found, *, show_wrong: bool) -> int:
    """Print the tables; 1 where the held-out half misses a bound."""
    if show_wrong:
        print("\n".join(found.wrong))
    print(f"{'agent':<28}" + "".join(f"{half:>24}" for half in HALVES))
    print(f"{'':<28}" + f"{'precision  recall':>24}" * 2)
    for agent in AGENTS:
        print(f"{agent:<28}" + "".join(cell(found.total(half, agent)) for half in HALVES))
    print("\nfield of the text, as `core` found it (bars: recall of the held-out half)")
    for name in FIELDS:
        if any(found.total(half, "core", name).held for half in HALVES):
            counts = [found.total(half, "core", name) for half in HALVES]
            print(f"{name:<28}{''.join(map(cell, counts))}  {bar(counts[1].recall)}")
    print("\nfield of the merged profile (bars: recall of the held-out half)")
    for name in FIELDS:
        counts = [found.total(half, "merged", name) for half in HALVES]
        if any(count.held or count.given for count in counts):
            print(f"{name:<28}{''.join(map(cell, counts))}  {bar(counts[1].recall)}")
    print("\nconfidence: what agents said, and the share that is true of the person")
    for low, high in _BINS:
        those = [pair for pair in found.sure if low <= pair[0] < high]
        if those:
            print(
                f"{mean(sure for sure, _ in those):5.3f} said {share(those):6.3f} true {len(those):6} values  "
                f"{bar(share(those))}"
            )
    failed = misses(found.total("held_out", "merged"))
    print(f"\nwanted of the merged profiles of the held-out half: precision {PRECISION}, recall {RECALL}", end=": ")
    print("missed" if failed else "reached")
    return 1 if failed else 0


def misses(count: Count) -> bool:
    return count.precision < PRECISION or count.recall < RECALL


def share(pairs: list[tuple[float, bool]]) -> float:
    return mean(float(true) for _, true in pairs)


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def cell(count: Count) -> str:
    """Precision and recall, with how many values the sources hold."""
    return f"{count.precision:>12.3f}{count.recall:>8.3f}{count.held:>4}" if count.held or count.given else " " * 24


def bar(part: float) -> str:
    return "█" * round(20 * part) + "·" * (20 - round(20 * part))


if __name__ == "__main__":
    sys.exit(main())
