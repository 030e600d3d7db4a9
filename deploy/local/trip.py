"""One whole consent trip, over HTTP, with the installed bridge: an app on one side, a person on the other.

Run inside .venv. The sample owner approves less than was asked for, and the app decrypts exactly that.
"""

import json
import os
import sys
from pathlib import Path

from consent_bridge.client import Client
from consent_bridge.errors import BridgeError, Problem
from consent_bridge.owner import Owner
from consent_bridge.results import MadeRequest

SAMPLE = Path(os.environ["CONSENT_VAR"]) / "sample.json"
PURPOSE = "Suggest restaurants and things to do that you would like"
# What to ask for, and what of it the person leaves out. The next is asked for where the last was lately denied.
SCOPES = {
    "attr.lifestyle.food.*": "lifestyle.food.coffee_or_tea",
    "attr.interests.leisure.*": "interests.leisure.gaming_preference",
    "attr.technology.use.*": "technology.use.social_media_usage_time",
}


def main() -> int:
    address, sample = os.environ["BASE_URL"], json.loads(SAMPLE.read_text())
    try:
        with Client(f"{address}/api/v1", sample["developer"]["token"]) as app, Owner(address) as owner:
            make_trip(app, owner, sample["owner"], sample["developer"]["connector_key"])
    except BridgeError as refusal:
        if isinstance(refusal, Problem) and refusal.code == "request_budget_spent":
            # so many starts within 24 hours are no failure: everything up to this refusal was answered
            print(f"  No trip this time, there were enough for a day: {refusal.detail}", flush=True)
            return 0
        print(f"✗ The trip ends here: {refusal}", file=sys.stderr)
        return 1
    return 0


def make_trip(app: Client, owner: Owner, person: dict[str, str], connector_key: str) -> None:
    """The five steps; raises where one of them fails."""
    found = app.discover(person["user_id"])
    print_step(1, "discover", f"{person['user_id']} could approve {len(found.scopes)} scopes")

    key = json.loads(connector_key)
    request = make_request(app, person["user_id"], key)
    print_step(
        2, "request", f"{request.scope} as {request.request_id}, sealed to key {request.connector_fingerprint[:12]}…"
    )
    try:
        owner.sign_in(person["email"], person["password"])
        owner.unlock(passphrase=person["passphrase"])
        review = owner.review(request.request_id)
        kept = [path for path in owner.preview(review) if path != SCOPES[request.scope]]
        owner.approve(review, attributes=kept, access_duration=3600)
        print_step(
            3, "approve", f"the owner unlocked, looked, and approved {len(kept)} of {len(review.attributes)} attributes"
        )

        status = app.wait_for_decision(request.request_id, timeout=30)
        print_step(4, "wait", f"status {status.status}, notice {status.sequence}")
        if status.status != "approved":
            raise BridgeError(f"the request is {status.status}, not approved")
    except BaseException:
        app.end(request.request_id)
        raise
    opened = app.read(request, key)
    if sorted(opened.approved_attributes) != sorted(kept):
        raise BridgeError(f"decrypted {opened.approved_attributes}, approved {kept}")
    print_step(5, "read", "decrypted here, with a key that never left this process:")
    print("  " + json.dumps(opened.data, indent=2, ensure_ascii=False).replace("\n", "\n  "), flush=True)


def make_request(app: Client, user_id: str, key: dict[str, str]) -> MadeRequest:
    """The first of the scopes that the person did not deny within the last hour."""
    *others, last = SCOPES
    for scope in others:
        try:
            return app.request_consent(user_id, scope, purpose=PURPOSE, key=key)
        except Problem as problem:
            if problem.code != "recently_denied":
                raise
    return app.request_consent(user_id, last, purpose=PURPOSE, key=key)


def print_step(number: int, name: str, what: str) -> None:
    print(f"  {number}/5 {name:9} {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
