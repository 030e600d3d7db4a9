"""The brand affinity as a batch upsert of HubSpot contacts (pure).

`POST /crm/v3/objects/contacts/batch/upsert` with one input, found by its e-mail address:
https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/batch/post-crm-v3-objects-contacts-batch-upsert.
Property values are text, and those of a multiple-checkbox property are separated by semicolons. What HubSpot has no
property for goes into custom properties that the account's administrator creates.
"""

from typing import Any

from agents_proxy.analyses.affinity import LISTS, BrandAffinity

_SEPARATOR = ";"


def as_batch_upsert(affinity: BrandAffinity) -> dict[str, Any] | None:
    """The request's body; None without the e-mail address to find the contact by."""
    if affinity.email is None:
        return None
    first, _, last = (affinity.fullName or "").strip().rpartition(" ")
    shopping = affinity.shopping_preferences.model_dump(exclude_none=True) if affinity.shopping_preferences else {}
    told: dict[str, Any] = {"email": affinity.email, "firstname": first.strip(), "lastname": last}
    told |= {"phone": affinity.phone, **{name: getattr(affinity, name) for name in LISTS}, **shopping}
    told |= {"affinity_confidence": affinity.confidence}
    properties = {name: _value(said) for name, said in told.items() if said not in (None, "")}
    return {"inputs": [{"idProperty": "email", "id": affinity.email, "properties": properties}]}


def _value(said: Any) -> str:
    """A semicolon within a value would be read as its end."""
    return _SEPARATOR.join(one.replace(_SEPARATOR, ",") for one in said) if isinstance(said, list) else str(said)
