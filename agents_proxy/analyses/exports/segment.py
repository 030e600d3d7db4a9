"""The brand affinity as an Identify call of Segment's HTTP API, `POST https://api.segment.io/v1/identify` (pure).

https://www.twilio.com/docs/segment/connections/spec/identify: `type`, `userId` and `traits`, of which `name`, `email`
and `phone` have a meaning of their own and the others are custom. A call needs an identifier: the e-mail address, else
the phone number.
"""

from typing import Any

from agents_proxy.analyses.affinity import BrandAffinity


def as_identify(affinity: BrandAffinity) -> dict[str, Any] | None:
    """The call's body; None where nothing says who it is about."""
    body = affinity.body()
    identifier = affinity.email or affinity.phone
    if identifier is None:
        return None
    name = {"name": body.pop("fullName")} if "fullName" in body else {}
    shopping = {f"shopping_{part}": value for part, value in body.pop("shopping_preferences", {}).items()}
    confidence = {"affinity_confidence": body.pop("confidence")} if "confidence" in body else {}
    return {"type": "identify", "userId": identifier, "traits": {**name, **body, **shopping, **confidence}}
