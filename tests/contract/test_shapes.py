"""Every answer is what its shape says: the same members in the same order, strictly of their types."""

import typing
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import orjson
import pytest
from pydantic import TypeAdapter
from typing_extensions import get_type_hints, is_typeddict

from common.shapes import ProblemField
from consent import shapes
from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import asked
from tests.factories import (
    AuditCheckpointFactory,
    ConsentRequestFactory,
    ExportFactory,
    PersonFactory,
    ReceiptFactory,
    Vault,
    give_vault,
)


def orders(hint: Any, value: Any) -> Iterator[tuple[list[str], list[str]]]:
    """(members of the shape, members of the answer) of every object inside."""
    if get_origin(hint) is typing.Annotated:
        hint = get_args(hint)[0]
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        yield [name for name in hints if name in value or name in hint.__required_keys__], list(value)
        for name, inner in hints.items():
            if name in value:
                yield from orders(get_args(inner)[0] if get_origin(inner) is typing.NotRequired else inner, value[name])
    elif get_origin(hint) is list:
        for item in value:
            yield from orders(get_args(hint)[0], item)
    elif value is not None:
        for inner in get_args(hint):
            if is_typeddict(inner):
                yield from orders(inner, value)


def fits(shape: Any, content: bytes) -> None:
    TypeAdapter(shape).validate_json(content, strict=True)
    compared = list(orders(shape, orjson.loads(content)))
    assert compared
    for members, found in compared:
        assert found == members


@pytest.fixture
def vault(db: None) -> Vault:
    """A person with a vault, of whom something can be asked."""
    return give_vault(PersonFactory())


@pytest.fixture
def approved(app: App) -> Any:
    """A request that was approved, with its export and its receipt."""
    request = ConsentRequestFactory(app=app, user=PersonFactory(), status="approved")
    ExportFactory(grant__request=request)
    ReceiptFactory(request=request)
    return request


def test_discovery_fits(api: Developer, vault: Vault) -> None:
    fits(shapes.UserScopes, api.get(f"/user-scopes/{vault.user.public_id}").content)


def test_the_catalogue_fits(api: Developer) -> None:
    fits(shapes.ScopeCatalog, api.get("/scope-catalog").content)


def test_a_new_request_fits_and_so_does_the_same_found_again(api: Developer, vault: Vault) -> None:
    first, second = (api.post("/request-consent", asked(vault.user)) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 200)
    fits(shapes.AskedConsent, first.content)
    fits(shapes.AskedConsent, second.content)


def test_a_pending_and_an_approved_status_fit(api: Developer, approved: Any) -> None:
    pending = ConsentRequestFactory(app=approved.app, user=PersonFactory())

    for request in (pending, approved):
        fits(shapes.ConsentStatus, api.get("/consent-status", request_id=request.request_id).content)
    fits(shapes.ConsentRequests, api.get("/consent-requests").content)


def test_an_export_fits(api: Developer, approved: Any) -> None:
    fits(shapes.ConsentExport, api.get("/consent-export", request_id=approved.request_id).content)


def test_an_end_fits(api: Developer, approved: Any) -> None:
    fits(shapes.ConsentStatus, api.post("/end-consent", {"request_id": approved.request_id}).content)


def test_what_proves_fits(api: Developer, approved: Any) -> None:
    receipt = approved.receipts.get()
    AuditCheckpointFactory()

    fits(shapes.Receipt, api.get(f"/receipts/{receipt.receipt_id}").content)
    fits(shapes.ConsentKeys, api.client.get("/.well-known/consent-keys.json").content)
    fits(shapes.ConsentCheckpoint, api.client.get("/.well-known/consent-checkpoint.json").content)


@pytest.mark.parametrize(
    "change", [{"reads": "0"}, {"status": "gone"}, {"more": 1}], ids=["another type", "unknown state", "one too many"]
)
def test_what_does_not_fit_is_found(change: dict[str, Any]) -> None:
    grant = {
        "grant_id": "grt_a",
        "status": "active",
        "expires_at": "2026-11-20T10:00:00Z",
        "reads": 0,
        "reads_remaining": None,
        "approved_attributes": [],
        "export_revision": 1,
    }
    fits(shapes.Grant, orjson.dumps(grant))

    with pytest.raises(ValueError, match="validation error"):
        fits(shapes.Grant, orjson.dumps(grant | change))


def test_another_order_is_found() -> None:
    with pytest.raises(AssertionError):
        fits(ProblemField, b'{"code": "a", "field": "b", "message": "c"}')
