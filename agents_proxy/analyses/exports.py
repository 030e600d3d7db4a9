"""The forms in which a brand affinity can be saved (pure).

HubSpot: `POST /crm/v3/objects/contacts/batch/upsert` with one input, found by its e-mail address,
https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/batch/post-crm-v3-objects-contacts-batch-upsert.
Salesforce: `PATCH /services/data/vXX.X/composite/sobjects/Contact/Email`, one record, whose `LastName` is required,
https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_composite_sobjects_collections_upsert.htm.
Segment: `POST https://api.segment.io/v1/identify`, which needs an identifier, the e-mail address or the phone number,
https://www.twilio.com/docs/segment/connections/spec/identify.

What such a system has no field for goes into custom ones that its administrator creates; several values of one are
separated by semicolons. CSV is RFC 4180.
"""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents_proxy.analyses.affinity import LISTS, BrandAffinity, ShoppingPreferences
from common.text import StrOrPromise, harmless_cell

_JSON = "application/json"


@dataclass(frozen=True)
class Export:
    """`written` gives the file's text; None where the affinity lacks what that system asks for."""

    name: str
    label: StrOrPromise
    explained: StrOrPromise
    file_name: str
    media_type: str
    written: Callable[[BrandAffinity], str | None]


def as_csv(affinity: BrandAffinity) -> str:
    """One heading and one row; lists are joined by semicolons. No cell is a formula to a spreadsheet."""
    body = affinity.body()
    body |= body.pop("shopping_preferences", {})
    columns = ("fullName", "email", "phone", *LISTS, *ShoppingPreferences.model_fields, "confidence")
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerow(_cell(body.get(name)) for name in columns)
    return written.getvalue()


def _cell(value: Any) -> str:
    """Each item of a list is made harmless, since programs that split at semicolons make cells of them."""
    texts = value if isinstance(value, list) else [] if value is None else [str(value)]
    return "; ".join(map(harmless_cell, texts))


def _json(shape: Callable[[BrandAffinity], dict[str, Any] | None]) -> Callable[[BrandAffinity], str | None]:
    def written(affinity: BrandAffinity) -> str | None:
        body = shape(affinity)
        return None if body is None else json.dumps(body, ensure_ascii=False, indent=2) + "\n"

    return written


def _hubspot(affinity: BrandAffinity) -> dict[str, Any] | None:
    """A batch upsert; None without the e-mail address to find the contact by."""
    if affinity.email is None:
        return None
    first, last = _names(affinity)
    own = {"email": affinity.email, "firstname": first, "lastname": last, "phone": affinity.phone, **_custom(affinity)}
    properties = {name: str(_joined(value)) for name, value in own.items() if value not in (None, "")}
    return {"inputs": [{"idProperty": "email", "id": affinity.email, "properties": properties}]}


def _salesforce(affinity: BrandAffinity) -> dict[str, Any] | None:
    """An upsert of a Contact; None without the e-mail address to find it by, or without a name."""
    if affinity.email is None or affinity.fullName is None:
        return None
    first, last = _names(affinity)
    record: dict[str, Any] = {"attributes": {"type": "Contact"}, "Email": affinity.email, "LastName": last}
    record |= {name: value for name, value in (("FirstName", first), ("Phone", affinity.phone)) if value}
    for name, value in _custom(affinity).items():
        if value is not None:  # `brand_affinities` → `Brand_Affinities__c`
            record[f"{'_'.join(part.capitalize() for part in name.split('_'))}__c"] = _joined(value)
    return {"allOrNone": True, "records": [record]}


def _segment(affinity: BrandAffinity) -> dict[str, Any] | None:
    """An Identify call; None where nothing says who it is about."""
    body = affinity.body()
    identifier = affinity.email or affinity.phone
    if identifier is None:
        return None
    name = {"name": body.pop("fullName")} if "fullName" in body else {}
    shopping = {f"shopping_{part}": value for part, value in body.pop("shopping_preferences", {}).items()}
    confidence = {"affinity_confidence": body.pop("confidence")} if "confidence" in body else {}
    return {"type": "identify", "userId": identifier, "traits": {**name, **body, **shopping, **confidence}}


def _names(affinity: BrandAffinity) -> tuple[str, str]:
    first, _space, last = (affinity.fullName or "").strip().rpartition(" ")
    return first.strip(), last


def _custom(affinity: BrandAffinity) -> dict[str, Any]:
    preferences = affinity.shopping_preferences
    shopping = preferences.model_dump(exclude_none=True) if preferences else {}
    return {name: getattr(affinity, name) for name in LISTS} | shopping | {"affinity_confidence": affinity.confidence}


def _joined(value: Any) -> Any:
    """A semicolon within a value would be read as its end."""
    return ";".join(one.replace(";", ",") for one in value) if isinstance(value, list) else value


_FOUND_BY_MAIL = _("Finds or makes the contact by e-mail address; needs a few custom fields there.")
EXPORTS: dict[str, Export] = {
    export.name: export
    for export in (
        Export("csv", "CSV", _("For a spreadsheet, or any import."), "brand-affinity.csv", "text/csv; charset=utf-8",
               as_csv),
        Export("json", "JSON", _("The plain form, member for member."), "brand-affinity.json", _JSON,
               _json(BrandAffinity.body)),
        Export("segment", "Segment", _("An Identify call with these traits."), "brand-affinity-segment.json", _JSON,
               _json(_segment)),
        Export("salesforce", "Salesforce", _FOUND_BY_MAIL, "brand-affinity-salesforce.json", _JSON,
               _json(_salesforce)),
        Export("hubspot", "HubSpot", _FOUND_BY_MAIL, "brand-affinity-hubspot.json", _JSON, _json(_hubspot)),
    )
}  # fmt: skip
