"""The brand affinity as an upsert of a Salesforce Contact (pure).

`PATCH /services/data/vXX.X/composite/sobjects/Contact/Email`, one record: "Upsert Records Using sObject Collections",
https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_composite_sobjects_collections_upsert.htm.
`LastName` is required of a Contact. What Salesforce has no field for goes into custom fields (`…__c`) that its
administrator creates; a multi-select picklist takes its values separated by semicolons.
"""

from typing import Any

from agents_proxy.analyses.affinity import LISTS, BrandAffinity

_SEPARATOR = ";"


def as_contact_upsert(affinity: BrandAffinity) -> dict[str, Any] | None:
    """The request's body; None without the e-mail address to find the contact by, or without a name."""
    if affinity.email is None or affinity.fullName is None:
        return None
    first, _, last = affinity.fullName.strip().rpartition(" ")
    record: dict[str, Any] = {"attributes": {"type": "Contact"}, "Email": affinity.email, "LastName": last}
    if first.strip():
        record["FirstName"] = first.strip()
    if affinity.phone:
        record["Phone"] = affinity.phone
    shopping = affinity.shopping_preferences.model_dump(exclude_none=True) if affinity.shopping_preferences else {}
    custom = {name: getattr(affinity, name) for name in LISTS} | shopping | {"affinity_confidence": affinity.confidence}
    return {
        "allOrNone": True,
        "records": [record | {_custom(name): _value(said) for name, said in custom.items() if said is not None}],
    }


def _custom(name: str) -> str:
    """`brand_affinities` → `Brand_Affinities__c`."""
    return f"{'_'.join(part.capitalize() for part in name.split('_'))}__c"


def _value(said: Any) -> Any:
    """A semicolon within a value would be read as its end."""
    return _SEPARATOR.join(one.replace(_SEPARATOR, ",") for one in said) if isinstance(said, list) else said
