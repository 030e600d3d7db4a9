"""The agents' side of a trip: profiles, a linked bank, an analysis and a message, as the sample owner.

Run inside .venv after the consent trip. NEIGHBOURS in the environment says where the programs beside the server are.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests

from deploy.local.activation import activate
from deploy.local.visitor import Refused, Visitor
from deploy.sample_data.content import MESSAGE_PLACE, MESSAGE_TEMPLATE
from deploy.sample_data.sample_person import SAMPLE, SAMPLE_DESCRIPTION

PURPOSES = ["profile", "enrichment", "brand_affinity", "messaging", "financial", "identity"]
BANK = {"institution": "ins_lindenau", "name": "mara"}
BANK_NAME = "Lindenau Savings Bank (invented)"
CHANGE = "Change the favourite cuisine to Georgian."
ASK_ME, ANSWER = "Ask me: dislikes\n", "loud bars, crowded trains"
CORRECTED, CORRECTION = "sports_interest", "rowing"  # of which an agent says something else
_PATIENCE = 40  # seconds for what a worker does; it takes about two
_ENDED = ("completed", "completed_with_errors", "failed", "cancelled")


def main() -> int:
    address, neighbours = os.environ["BASE_URL"], json.loads(os.environ["NEIGHBOURS"])
    sample = json.loads((Path(os.environ["CONSENT_VAR"]) / "sample.json").read_text())
    visitor = Visitor(address)
    try:
        visitor.sign_in(sample["owner"]["email"], sample["owner"]["password"])
        for name, what in steps(visitor, sample, neighbours):
            print(f"  {name:9} {what}", flush=True)
    except Refused as refusal:
        print(f"✗ The trip ends here: {refusal}", file=sys.stderr)
        return 1
    return 0


def steps(visitor: Visitor, sample: dict[str, Any], neighbours: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What was done, one step after another; those whose neighbour is not there are left out."""
    yield "agree", agree(visitor)
    yield "create", create(visitor, sample["analysis"])
    yield "update", update(visitor, sample["analysis"])
    yield "find", find(visitor, sample["analysis"])
    if "aggregator" in neighbours:
        yield "link", link(visitor)
    analysis = yield from analyse(visitor, sample["analysis"])
    yield "profile", completion_line(analysis)
    yield "hold", correction_line(analysis)
    if "crm" in neighbours and os.environ.get("WEBHOOK_INTERNAL_ADDRESSES", "").lower() in ("true", "1", "yes", "on"):
        server = os.environ["BASE_URL"]
        named = analysis["analysisId"]
        yield "activate", activate(visitor, named, server=server, crm=neighbours["crm"], developer=sample["developer"])
    if "gateway" in neighbours:
        yield "message", send(visitor, sample["owner"]["phone_number"])


def agree(visitor: Visitor) -> str:
    """The consent to all of this; one of an earlier trip that still holds will do."""
    kept = visitor.call("GET", "/api/a2a/consents")["consents"]
    own = [consent for consent in kept if consent["status"] == "live" and consent["covers"] == "own"]
    if any(set(PURPOSES) <= set(consent["purposes"]) for consent in own):
        return "the owner's consent of an earlier trip still holds"
    given = visitor.call("POST", "/api/a2a/consents", {"purposes": PURPOSES, "agreed": True})
    return f"the owner agreed to {', '.join(PURPOSES)}, until {given['expiresAt'][:16]}"


def create(visitor: Visitor, about: dict[str, str]) -> str:
    made = _profile(
        visitor.send_prompt("core-profile", SAMPLE_DESCRIPTION.replace(SAMPLE["email"], about["email"]) + ASK_ME)
    )
    return f"core-profile made {len(made)} fields out of what was said of {about['fullName']}"


def update(visitor: Visitor, about: dict[str, str]) -> str:
    changed = _profile(visitor.send_prompt("core-profile-update", f"The e-mail address is {about['email']}. {CHANGE}"))
    return f"core-profile-update: favourite cuisine is now {changed.get('favorite_cuisine', 'still what it was')}"


def find(visitor: Visitor, about: dict[str, str]) -> str:
    found = _profile(visitor.send_prompt("core", f"What is kept under {about['email']}?", then=ANSWER))
    return f"core knows {len(found)} fields of the owner"


def link(visitor: Visitor) -> str:
    """The stand-in bank, over its hosted page; where it is linked already, what is new is read."""
    linked = [item for item in _items(visitor) if item["institution"] == BANK_NAME and item["status"] == "active"]
    if linked:
        visitor.call("POST", f"/api/a2a/financial/items/{linked[0]['itemId']}/refreshes")
    else:
        visitor.open(_agreed_at_bank(visitor.call("POST", "/api/a2a/financial/links")["url"]))
    item_id = (linked or _items(visitor))[0]["itemId"]

    def read() -> dict[str, Any] | None:
        item = visitor.call("GET", f"/api/a2a/financial/items/{item_id}")
        return item if item["refresh"]["status"] in ("completed", "failed") else None

    item = _awaited(read, "the purchases were not read")
    if item["refresh"]["errorCode"]:
        raise Refused(f"the purchases were not read: {item['refresh']['errorCode']}")
    signals = visitor.call("GET", "/api/a2a/financial/signals")["signals"]
    brands = ", ".join(signals.get("brand_affinities", [])[:3])
    how = "read on at" if linked else "linked"
    return f"{how} {item['institution']}: {item['transactions']} purchases count, most often at {brands}"


def analyse(visitor: Visitor, about: dict[str, str]) -> Generator[tuple[str, str], None, dict[str, Any]]:
    """The four agents, one after another, as the run tells it; returns the whole run.

    One of them asks something back. While it waits for the answer, the owner corrects what a later one will say.
    """
    where = visitor.call("POST", "/api/a2a/analyses", {**about, "agreed": True})["statusUrl"]
    reported: set[str] = set()
    answered: set[str] = set()
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        run = visitor.call("GET", where)
        for step in run["steps"]:
            if step["status"] == "input_required" and step["agent"] not in answered:
                answered.add(step["agent"])
                yield "ask", f"{step['agent']}: {step['question']}"
                visitor.call("PUT", f"{where}/corrections", {CORRECTED: CORRECTION})
                yield "correct", f"the owner says that {CORRECTED} is {CORRECTION}"
                visitor.call("POST", f"{where}/steps/{step['agent']}/answer", {"text": ANSWER})
                yield "answer", f"the owner told {step['agent']}: {ANSWER}"
            if step["agent"] not in reported and step["status"] not in ("waiting", "running", "input_required"):
                reported.add(step["agent"])
                what = f"{step['fieldCount'] or 0} fields in {step['durationMs'] or 0} ms"
                yield "analyse", f"{len(reported)}/{len(run['steps'])} {step['agent']}: {step['errorCode'] or what}"
        if run["status"] in _ENDED:
            break
        time.sleep(0.1)
    if run["status"] != "completed":
        raise Refused(f"the analysis is {run['status']}")
    return visitor.call("GET", f"{where}/raw")


def correction_line(analysis: dict[str, Any]) -> str:
    """The answer and the correction in the merged profile, beside what agents said of the same."""
    profile, provenance = analysis["profile"], analysis["provenance"]
    if ", ".join(profile.get("dislikes", [])) != ANSWER:
        raise Refused(f"the answer is not in the profile: dislikes are {profile.get('dislikes')}")
    if (profile.get(CORRECTED), provenance.get(CORRECTED)) != (CORRECTION, "person"):
        raise Refused(f"the correction does not hold: {CORRECTED} is {profile.get(CORRECTED)}")
    others = {name: fields[CORRECTED] for name, fields in _fields_by_agent(analysis).items() if CORRECTED in fields}
    against = ", ".join(f"{name} says {value}" for name, value in others.items())
    return f"{CORRECTED} stays {CORRECTION} by the owner's word ({against}); dislikes are {ANSWER}, as answered"


def completion_line(analysis: dict[str, Any]) -> str:
    """How full the merged profile is, and how far the agents agree."""
    metadata, profile = analysis["metadata"], analysis["profile"]
    shares = [f"{name} {metadata[name]:.0%}" for name in ("coverage", "agreement") if metadata.get(name) is not None]
    conflicts = _conflicts(analysis)
    shown = f", agents differ in {', '.join(conflicts[:4])}" if conflicts else ""
    by = sorted(set(analysis["provenance"].values()) - {"person"})
    counted = f"{len(profile)} fields of {profile.get('full_name', 'nobody')} by {len(by)} agents ({', '.join(by)})"
    return "; ".join([counted, *shares]) + shown


def send(visitor: Visitor, number: str) -> str:
    """A message from an approved template, until the gateway reported its delivery."""
    task = f"task-trip-{time.time_ns()}"
    parameters = {"name": SAMPLE["fullName"].split()[0], "place": MESSAGE_PLACE}
    template = {"name": MESSAGE_TEMPLATE, "language": "en", "parameters": parameters}
    visitor.call("POST", "/api/a2a/messaging", {"to": number, "template": template, "id": task})

    def delivered() -> dict[str, Any] | None:
        ours = [one for one in visitor.call("GET", "/api/a2a/messages")["messages"] if one["id"] == task]
        return ours[0] if ours and ours[0]["status"] in ("delivered", "failed") else None

    message = _awaited(delivered, "no report of the message came")
    if message["status"] != "delivered":
        raise Refused("the message was not delivered")
    return f"{MESSAGE_TEMPLATE} to {number}, and the gateway reported it delivered"


def _agreed_at_bank(page: str) -> str:
    """What a person does on the hosted page; where it sends their browser."""
    agreed = {**BANK, "account": ["everyday", "card"]}
    try:
        with requests.Session() as session:
            session.trust_env = False  # neither a proxy nor a .netrc
            for step, form in (("bank", BANK), ("sign-in", BANK), ("agree", agreed)):
                answer = session.post(f"{page}/{step}", data=form, allow_redirects=False, timeout=10)
    except requests.RequestException as error:
        raise Refused(f"the bank's page does not answer: {type(error).__name__}") from None
    if answer.status_code != 303:
        raise Refused(f"the bank's page answered {answer.status_code}")
    return answer.headers["Location"]


def _items(visitor: Visitor) -> list[dict[str, Any]]:
    """Linked institutions, newest first."""
    found: list[dict[str, Any]] = visitor.call("GET", "/api/a2a/financial/items")["items"]
    return found


def _awaited(read: Callable[[], dict[str, Any] | None], otherwise: str) -> dict[str, Any]:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if (found := read()) is not None:
            return found
        time.sleep(0.1)
    raise Refused(otherwise)


def _profile(text: str) -> dict[str, Any]:
    """The object that an agent answered, without what it says of itself."""
    try:
        found = json.loads(text)
    except ValueError:
        raise Refused("an agent's answer is no JSON") from None
    found = found.get("userProfile", found)
    return {name: value for name, value in found.items() if name not in ("sources", "confidence_score")}


def _fields_by_agent(analysis: dict[str, Any]) -> dict[str, dict[str, Any]]:
    fields = {}
    for agent, result in analysis["results"].items():
        with suppress(KeyError, TypeError, Refused):
            parts = result["result"]["result"]["status"]["message"]["parts"]
            fields[agent] = _profile("".join(part["text"] for part in parts))
    return fields


def _conflicts(analysis: dict[str, Any]) -> list[str]:
    """Fields to which agents gave different values."""
    values_by_field: dict[str, set[str]] = {}
    for given in _fields_by_agent(analysis).values():
        for name, value in given.items():
            values_by_field.setdefault(name, set()).add(json.dumps(value, sort_keys=True).casefold())
    return sorted(name for name, values in values_by_field.items() if len(values) > 1)


if __name__ == "__main__":
    sys.exit(main())
