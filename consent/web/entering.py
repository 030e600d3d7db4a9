"""What a request lacks and its person may enter on the sheet itself."""

from collections.abc import Sequence
from typing import Any

from accounts.models import User
from consent.requests.models import ConsentRequest
from consent.web.queries import RequestedAttribute
from pkm.registry import labels
from pkm.web.my_data import person_for_passkey

MOST_FIELDS = 6  # the others follow once these are kept


def to_enter(
    consent_request: ConsentRequest, rows: Sequence[RequestedAttribute], user: User, *, has_vault: bool
) -> dict[str, Any]:
    """{"fields": [{"path", "word"}], "person"}: without which nothing can be approved. Empty where nothing is lacking.

    What is required, else where nothing at all is there whatever is asked for; of an answer, what it is made from.
    `person` is whose passkey makes the vault, None where there is one; empty, too, without a vault and such a passkey.
    """
    person = None if has_vault else person_for_passkey(user)
    if person is not None and not person.get("signIn"):
        return {}
    lacking = [row for row in rows if row.required and not row.is_stored]
    if not any(row.is_stored for row in rows):
        lacking = lacking or list(rows)
    paths = dict.fromkeys(consent_request.source_attributes(row.attribute.path for row in lacking))
    attributes = [one for group in labels.described(list(paths)[:MOST_FIELDS]) for one in group.attributes]
    fields = [{"path": one.path, "word": one.word} for one in attributes]
    return {"fields": fields, "person": person} if fields else {}
