"""What is sent to the aggregator and read of it, against Plaid's public API description of 2020-09-14.

Written down are the facts that matter here alone: which members a request may and must have, and of the answers what is
read. An object of an answer may have more members, as that description says too.
"""

from typing import Any

import jsonschema
import pytest

from accounts.models import User
from agents_proxy.financial import client, links, shapes
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import Purpose
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed
from tests.fakes.aggregator import Aggregator

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}


def optional(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def members(required: dict[str, Schema], others: dict[str, Schema] | None = None, *, more: bool = True) -> Schema:
    properties = {**required, **(others or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": more}


def asking(required: dict[str, Schema], others: dict[str, Schema] | None = None) -> Schema:
    """A body of a call: nothing that the description does not name."""
    return members({"client_id": TEXT, "secret": TEXT, **required}, others, more=False)


DAYS = {"type": "integer", "minimum": 1, "maximum": 730}
PRODUCT = {"enum": ["transactions", "identity"]}  # of those that there are
COUNTRY = {
    "enum": ["US", "GB", "ES", "NL", "FR", "IE", "CA", "DE", "IT", "PL", "DK", "NO", "SE", "EE", "LT", "LV", "PT", "BE",
             "AT", "FI"],
}  # fmt: skip
OF_AN_ITEM = asking({"access_token": TEXT})
CREATE = asking(
    {"client_name": {"type": "string", "maxLength": 30}, "language": TEXT, "country_codes": many(COUNTRY),
     "user": members({"client_user_id": TEXT}, more=False)},
    {"products": many(PRODUCT), "additional_consented_products": many(PRODUCT), "webhook": TEXT, "access_token": TEXT,
     "transactions": members({"days_requested": DAYS}, more=False),
     "hosted_link": members({}, {"completion_redirect_uri": TEXT, "url_lifetime_seconds": {"type": "integer"}})},
)  # fmt: skip
REQUESTS: dict[str, Schema] = {
    # "at least one product is required" but in update mode, where they "should be omitted"
    "/link/token/create": {**CREATE, "oneOf": [{"required": ["products"]}, {"required": ["access_token"]}]},
    "/link/token/get": asking({"link_token": TEXT}),
    "/item/public_token/exchange": asking({"public_token": TEXT}),
    "/accounts/get": OF_AN_ITEM,
    "/identity/get": OF_AN_ITEM,
    "/item/remove": OF_AN_ITEM,
    "/transactions/sync": asking(
        {"access_token": TEXT},
        {"cursor": {"type": "string", "maxLength": 256}, "count": {"type": "integer", "minimum": 1, "maximum": 500}},
    ),
    "/webhook_verification_key/get": asking({"key_id": TEXT}),
}
ACCOUNT = members({"account_id": TEXT, "name": TEXT, "mask": optional(TEXT), "type": TEXT, "subtype": optional(TEXT)})
CATEGORY = members({"primary": TEXT, "detailed": TEXT}, {"confidence_level": optional(TEXT)})
COUNTERPARTY = members({"name": TEXT, "type": TEXT})
TRANSACTION = members(
    {"transaction_id": TEXT, "amount": {"type": "number"}, "date": TEXT, "pending": FLAG,
     "payment_channel": {"enum": ["online", "in store", "other"]}},
    {"merchant_name": optional(TEXT), "counterparties": many(COUNTERPARTY),
     "personal_finance_category": optional(CATEGORY)},
)  # fmt: skip
STATUS = {
    "enum": [
        "TRANSACTIONS_UPDATE_STATUS_UNKNOWN", "NOT_READY", "INITIAL_UPDATE_COMPLETE", "HISTORICAL_UPDATE_COMPLETE",
    ],
}  # fmt: skip
CONTACT = members({"data": TEXT, "primary": FLAG})
OWNER = members(
    {"names": many(TEXT), "phone_numbers": many(CONTACT), "emails": many(CONTACT),
     "addresses": many(members({"data": {"type": "object"}}, {"primary": FLAG}))}
)  # fmt: skip
VISIT = members(
    {"link_session_id": TEXT},
    {"finished_at": optional(TEXT), "exit": optional({"type": "object"}),
     "results": optional(members({"item_add_results": many(members({"public_token": TEXT}))}))},
)  # fmt: skip
KEY = members({**dict.fromkeys(["alg", "kid", "kty", "crv", "x", "y", "use"], TEXT), "created_at": {"type": "integer"},
               "expired_at": optional({"type": "integer"})})  # fmt: skip
ANSWERS: dict[str, Schema] = {
    "/link/token/create": members({"link_token": TEXT, "expiration": TEXT}, {"hosted_link_url": TEXT}),
    "/link/token/get": members({"link_token": TEXT}, {"link_sessions": many(VISIT)}),
    "/item/public_token/exchange": members({"access_token": TEXT, "item_id": TEXT}),
    "/accounts/get": members(
        {"accounts": many(ACCOUNT),
         "item": members({"item_id": TEXT}, {"institution_id": optional(TEXT), "institution_name": optional(TEXT)})}
    ),
    "/identity/get": members({"accounts": many(members({"owners": many(OWNER)}))}),
    "/item/remove": members({"request_id": TEXT}),
    "/transactions/sync": members(
        {"added": many(TRANSACTION), "modified": many(TRANSACTION), "removed": many(members({"transaction_id": TEXT})),
         "next_cursor": TEXT, "has_more": FLAG, "transactions_update_status": STATUS}
    ),
    "/webhook_verification_key/get": members({"key": KEY}),
}  # fmt: skip


def test_every_call_and_answer_fits(bank: Aggregator, person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.page_size = 3
    answered: list[tuple[str, Any]] = []
    answer = bank.answer

    def noting(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, result = answer(path, body)
        answered.append((path, result))
        return status, result

    monkeypatch.setattr(bank, "answer", noting)
    visits_to_everything(bank, person)

    for path, body in bank.calls:
        jsonschema.validate(body, REQUESTS[path])
    for path, result in answered:
        jsonschema.validate(result, ANSWERS[path])
    assert set(bank.paths) == set(REQUESTS)


def visits_to_everything(bank: Aggregator, person: User) -> None:
    agreed(person, Purpose.FINANCIAL, Purpose.IDENTITY)
    state = bank.visit(links.start_link(by=person).url, *coffees(7)).split("state=")[1]
    links.finish_link(by=person, state=state)
    item = linked(person, bank, *coffees(7))
    consents.give(by=person, purposes=[Purpose.FINANCIAL, Purpose.IDENTITY])
    refreshed(item)
    links.start_link(by=person, item_id=item.item_id)
    token = next(iter(bank.items))
    client.identity(token)
    bank.signature(b"{}")
    client.verification_key("key-1")
    client.remove_item(token)


@pytest.mark.parametrize(
    ("shape", "path", "barest"),
    [
        (shapes.LinkState, "/link/token/get", {"link_token": "t"}),
        (shapes.LinkState, "/link/token/get", {"link_token": "t", "link_sessions": [
            {"link_session_id": "s", "finished_at": None, "exit": None, "results": None}]}),
        (shapes.Accounts, "/accounts/get", {"item": {"item_id": "i", "institution_id": None, "institution_name": None},
            "accounts": [{"account_id": "a", "name": "n", "mask": None, "type": "loan", "subtype": None}]}),
        (shapes.Page, "/transactions/sync", {"added": [{"transaction_id": "t", "amount": 1, "date": "2026-11-20",
            "merchant_name": None, "payment_channel": "other", "pending": False, "personal_finance_category": None}],
            "modified": [], "removed": [], "next_cursor": "", "has_more": False,
            "transactions_update_status": "NOT_READY"}),
        (shapes.Identity, "/identity/get", {"accounts": [{"owners": [
            {"names": [], "phone_numbers": [], "emails": [],
             "addresses": [{"data": {"street": "1 Main", "city": None}}]}]}]}),
        (shapes.VerificationKey, "/webhook_verification_key/get", {"key": {"alg": "ES256", "kid": "k", "kty": "EC",
            "crv": "P-256", "x": "x", "y": "y", "use": "sig", "created_at": 1, "expired_at": None}}),
    ],
)  # fmt: skip
def test_the_barest_answers_are_read(shape: type[shapes.Shape], path: str, barest: Any) -> None:
    jsonschema.validate(barest, ANSWERS[path])

    assert shape.model_validate(barest) is not None
