"""`end-consent`, `consent-requests`, `receipts` and the open addresses (contract 1.6)."""

import json
from typing import Any

import pytest
from django.test import Client
from joserfc import jws
from joserfc.jwk import OKPKey

from common.clock import rfc3339
from consent.decisions import actions as decision_actions
from consent.ledger import audit, receipts
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.consent.api.addresses import OPEN, problem
from tests.factories import AuditCheckpointFactory, ConsentRequestFactory, ExportFactory


# --- end-consent ------------------------------------------------------------------------------------------------------
def test_a_pending_request_is_taken_back_and_again_is_the_same(api: Developer) -> None:
    request = ConsentRequestFactory(app=api.app)

    first, again = (api.post("/end-consent", {"request_id": request.request_id}) for _ in range(2))

    assert (first.status_code, first.json()["status"], first.json()["grant"]) == (200, "cancelled", None)
    assert again.content == first.content
    assert first.json() == api.get("/consent-status", request_id=request.request_id).json()


def test_a_live_approval_is_given_up_and_again_is_the_same(api: Developer) -> None:
    grant = ExportFactory(grant__request__app=api.app).grant

    first, again = (api.post("/end-consent", {"request_id": grant.request.request_id}) for _ in range(2))

    assert (first.status_code, first.json()["status"], first.json()["grant"]["status"]) == (200, "approved", "released")
    assert again.content == first.content


def test_another_apps_request_cannot_be_ended(api: Developer) -> None:
    theirs = ConsentRequestFactory()
    same = {"X-Request-Id": "the-same-id"}

    answer = api.post("/end-consent", {"request_id": theirs.request_id}, headers=same)

    assert problem(answer) == (404, "unknown_request")
    assert answer.content == api.post("/end-consent", {"request_id": "req_nothing"}, headers=same).content
    assert ConsentRequest.objects.get().status == "pending"


@pytest.mark.parametrize("body", [{}, {"request_id": None}, {"request_id": 1}, {"request_id": "x", "reason": "y"}, []])
def test_a_body_that_does_not_fit_is_400(body: Any, api: Developer) -> None:
    assert problem(api.post("/end-consent", body)) == (400, "invalid_request")


# --- consent-requests -------------------------------------------------------------------------------------------------
def test_pages_hold_everything_once_newest_first_and_only_the_apps_own(api: Developer) -> None:
    mine = [ConsentRequestFactory(app=api.app).request_id for _ in range(5)]
    ConsentRequestFactory()
    met: list[str] = []
    cursor: str | None = None

    for _ in range(3):
        query = {"limit": "2.0"} | ({"cursor": cursor} if cursor else {})
        page = api.get("/consent-requests", **query).json()
        met += [body["request_id"] for body in page["requests"]]
        cursor = page["next_cursor"]

    assert met == mine[::-1]
    assert cursor is None


def test_a_new_request_does_not_shift_the_pages(api: Developer) -> None:
    oldest, newest = (ConsentRequestFactory(app=api.app).request_id for _ in range(2))
    first = api.get("/consent-requests", limit="1").json()
    ConsentRequestFactory(app=api.app)

    second = api.get("/consent-requests", limit="1", cursor=first["next_cursor"]).json()

    assert [body["request_id"] for page in (first, second) for body in page["requests"]] == [newest, oldest]


def test_the_list_holds_status_bodies_and_can_be_narrowed(api: Developer) -> None:
    by_status = {
        status: ConsentRequestFactory(app=api.app, status=status).request_id
        for status in ("pending", "approved", "denied", "cancelled", "expired")
    }

    for status, request_id in by_status.items():
        page = api.get("/consent-requests", status=status).json()
        assert page == {"requests": [api.get("/consent-status", request_id=request_id).json()], "next_cursor": None}


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "101"},
        {"limit": "many"},
        {"limit": "2."},
        {"limit": "2.5"},
        {"limit": "2e1"},
        {"status": "approving"},
        {"status": ""},
        {"cursor": ""},
        {"cursor": "nonsense"},
        {"cursor": "cjE9"},
        {"cursor": "cjA"},
        {"cursor": "x" * 65},
        {"cursor": "Ä"},
        {"cursor": "cjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk"},
    ],
)
def test_a_list_query_that_does_not_fit_is_400(query: dict[str, str], api: Developer) -> None:
    assert problem(api.get("/consent-requests", **query)) == (400, "invalid_request")


# --- receipts ---------------------------------------------------------------------------------------------------------
def test_a_receipt_verifies_with_the_published_keys_and_hides_the_persons_chain(api: Developer) -> None:
    request = ConsentRequestFactory(app=api.app)
    decision_actions.deny(request_id=request.request_id, by=request.user, reason="private thoughts")
    receipt_id = api.get("/consent-status", request_id=request.request_id).json()["receipt_id"]

    body = api.get(f"/receipts/{receipt_id}").json()
    alone = api.get(f"/receipts/{receipt_id}", headers={"Accept": "application/jose"})

    assert (body["receipt_id"], alone["Content-Type"], alone.content.decode()) == (
        receipt_id, "application/jose", body["jws"],
    )  # fmt: skip
    keys = {key["kid"]: key for key in Client().get("/.well-known/consent-keys.json").json()["keys"]}
    header = jws.extract_compact(body["jws"].encode()).headers()
    checked = jws.deserialize_compact(body["jws"], OKPKey.import_key(keys[header["kid"]]), algorithms=["EdDSA"])
    assert header["typ"] == "consent-receipt+jwt"
    assert body["claims"] == json.loads(checked.payload)
    assert body["claims"]["event"]["type"] == "denied"
    entry = AuditEntry.objects.of(audit.app_chain(api.app.app_id)).get()
    assert body["claims"]["audit"] == {"chain": entry.chain, "sequence": 1, "entry_hash": entry.entry_hash}
    assert str(audit.chain_id(audit.person_chain(request.user.public_id))) not in str(body)
    assert "private thoughts" not in str(body)


@pytest.mark.parametrize("receipt_id", ["rct_nothing", "%00", "x" * 300, "%ff"])
def test_a_receipt_that_does_not_exist_is_404(receipt_id: str, api: Developer) -> None:
    assert problem(api.get(f"/receipts/{receipt_id}")) == (404, "unknown_receipt")


# --- the open addresses -----------------------------------------------------------------------------------------------
def test_the_keys_are_public_halves_only(db: None) -> None:
    body = Client().get("/.well-known/consent-keys.json").json()

    assert body == receipts.public_keys()
    assert body["keys"]
    assert all(set(key) == {"kty", "crv", "x", "kid", "use", "alg"} for key in body["keys"])


@pytest.mark.parametrize("path", OPEN)
def test_what_is_open_to_all_answers_a_head_as_it_answers_a_get(path: str, db: None) -> None:
    AuditCheckpointFactory()

    head_answer, get_answer = Client().head(path), Client().get(path)

    assert (head_answer.status_code, head_answer.content) == (200, b"")
    assert head_answer["Content-Length"] == str(len(get_answer.content))


def test_the_checkpoint_is_the_newest_and_404_before_the_first(db: None) -> None:
    path = "/.well-known/consent-checkpoint.json"
    assert problem(Client().get(path)) == (404, "not_found")

    AuditCheckpointFactory(size=3)
    newest = AuditCheckpointFactory(size=5)

    body = Client().get(path).json()
    claims = body.pop("claims")
    key = OKPKey.import_key(receipts.public_keys()["keys"][0])
    assert json.loads(jws.deserialize_compact(body.pop("jws"), key, algorithms=["EdDSA"]).payload) == claims
    assert (claims["entries"], claims["root"]) == (5, newest.root)
    assert body == {
        "origin": "localhost:8000/log",
        "size": 5,
        "root": newest.note.split("\n")[2],
        "note": newest.note,
        "at": rfc3339(newest.at),
        "cosignatures_missing": [],
    }


def test_every_code_of_a_refusal_has_one_status() -> None:
    from common.problems import every_problem

    statuses: dict[str, set[int]] = {}
    for refusal in every_problem():
        statuses.setdefault(refusal.code, set()).add(refusal.status)
    assert {code: found for code, found in statuses.items() if len(found) > 1} == {}
