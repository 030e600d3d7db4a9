"""The forms in which a brand affinity can be saved, each by an adapter of its own (pure)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents_proxy.analyses.affinity import BrandAffinity
from agents_proxy.analyses.exports.csv_file import as_csv
from agents_proxy.analyses.exports.hubspot import as_batch_upsert
from agents_proxy.analyses.exports.salesforce import as_contact_upsert
from agents_proxy.analyses.exports.segment import as_identify

_JSON = "application/json"


@dataclass(frozen=True)
class Export:
    """`written` gives the file's text; None where the affinity lacks what that system asks for."""

    name: str
    label: str | Promise
    explained: str | Promise
    file_name: str
    media_type: str
    written: Callable[[BrandAffinity], str | None]


def _json(shape: Callable[[BrandAffinity], dict[str, Any] | None]) -> Callable[[BrandAffinity], str | None]:
    def written(affinity: BrandAffinity) -> str | None:
        body = shape(affinity)
        return None if body is None else json.dumps(body, ensure_ascii=False, indent=2) + "\n"

    return written


_FOUND_BY_MAIL = _("Finds or makes the contact by e-mail address; needs a few custom fields there.")
EXPORTS: dict[str, Export] = {
    export.name: export
    for export in (
        Export("csv", "CSV", _("For a spreadsheet, or any import."), "brand-affinity.csv", "text/csv; charset=utf-8",
               as_csv),
        Export("json", "JSON", _("The plain form, member for member."), "brand-affinity.json", _JSON,
               _json(BrandAffinity.body)),
        Export("segment", "Segment", _("An Identify call with these traits."), "brand-affinity-segment.json", _JSON,
               _json(as_identify)),
        Export("salesforce", "Salesforce", _FOUND_BY_MAIL, "brand-affinity-salesforce.json", _JSON,
               _json(as_contact_upsert)),
        Export("hubspot", "HubSpot", _FOUND_BY_MAIL, "brand-affinity-hubspot.json", _JSON, _json(as_batch_upsert)),
    )
}  # fmt: skip
