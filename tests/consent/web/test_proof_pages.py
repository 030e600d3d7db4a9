"""Receipts in words and as files, the chain for the browser, and the history as a file."""

import csv
import io

import jwt
import orjson
import pytest

from consent.ledger import receipts
from tests.factories import (
    ConsentRequestFactory,
    DiscoveryFactory,
    ExportFactory,
    GrantFactory,
    ReadFactory,
)


@pytest.fixture
def consent_request(person):
    return ConsentRequestFactory(user=person, app_name="Lunch Finder")


@pytest.fixture
def denied(owner, consent_request):
    """The receipt of a refusal."""
    owner.client.post(f"/consent/requests/{consent_request.request_id}/deny/")
    return consent_request.receipts.get()


# --- receipts ---------------------------------------------------------------------------------------------------------


def test_receipt_says_who_what_and_when(owner, denied, consent_request):
    answer = owner.get(f"/consent/receipts/{denied.receipt_id}/")
    page = answer.content.decode()
    for words in (
        "You denied “Food and drink” to Lunch Finder", consent_request.app.application.legal_name,
        consent_request.purpose, "Favourite cuisine", "Nothing was shared. It asked for 1 day.", denied.jws,
    ):  # fmt: skip
        assert words in page, words


def test_receipt_of_an_end_says_until_when(owner, person):
    grant = ExportFactory(grant__request__user=person).grant
    owner.client.post(f"/consent/grants/{grant.grant_id}/stop/")
    page = owner.get(f"/consent/receipts/{grant.request.receipts.get().receipt_id}/").content.decode()
    assert "You stopped sharing" in page
    assert grant.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ") in page


def test_receipt_file_is_the_signed_text_that_another_library_verifies(owner, denied):
    answer = owner.get(f"/consent/receipts/{denied.receipt_id}/download/")

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/jose")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{denied.receipt_id}.jws"'
    text = answer.content.decode()
    assert text == denied.jws
    keys = jwt.PyJWKSet.from_dict(receipts.public_keys())
    key = keys[jwt.get_unverified_header(text)["kid"]]
    claims = jwt.decode(text, key, algorithms=["EdDSA"], options={"verify_iat": False})
    assert (claims["receipt_id"], claims["event"]["type"]) == (denied.receipt_id, "denied")
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(text[:-6] + "AAAAAA", key, algorithms=["EdDSA"])


# --- the chain --------------------------------------------------------------------------------------------------------


def test_chain_goes_on_after_what_was_seen(owner, denied):
    assert owner.get("/consent/history/chain", after="1").json()["entries"] == []


def test_chain_of_somebody_new_is_empty(owner):
    answer = owner.get("/consent/history/chain").json()
    assert answer == {
        "head": {"chain": "", "sequence": 0, "entry_hash": ""},
        "entries": [],
    }


@pytest.mark.parametrize(
    "query",
    [{"after": wrong} for wrong in ("x", "-1", "1.5", "", "9" * 12, "0\n", "1\n")] + [{"before": "1"}],
)
def test_chain_with_a_strange_query_is_refused(owner, query):
    answer = owner.get("/consent/history/chain", **query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


# --- the history as a file --------------------------------------------------------------------------------------------


@pytest.fixture
def eventful(owner, person, denied):
    ReadFactory(export=ExportFactory(grant=GrantFactory(request__user=person)))
    DiscoveryFactory(user=person, count=3)
    DiscoveryFactory()
    return person


def file(owner, **query):
    answer = owner.get("/consent/history/file/", **query)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    return answer, b"".join(answer.streaming_content)


def test_json_file_has_every_line_newest_first(owner, eventful, consent_request, denied):
    answer, content = file(owner, format="json")
    document = orjson.loads(content)

    assert (answer.headers["Content-Type"], document["user_id"]) == ("application/json", eventful.public_id)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="history.json"'
    assert sorted(line["kind"] for line in document["history"]) == ["denied", "discovered", "read"]
    assert [line["at"] for line in document["history"]] == sorted(
        (line["at"] for line in document["history"]), reverse=True
    )
    assert next(line for line in document["history"] if line["kind"] == "denied") == {
        "at": document["history"][0]["at"],
        "kind": "denied",
        "what": "You denied “Food and drink” to Lunch Finder",
        "detail": consent_request.purpose,
        "app_id": consent_request.app.app_id,
        "request_id": consent_request.request_id,
        "receipt_id": denied.receipt_id,
    } | {"at": next(line["at"] for line in document["history"] if line["kind"] == "denied")}


def test_csv_file_opens_in_a_spreadsheet(owner, eventful):
    answer, content = file(owner, format="csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert sorted(row["kind"] for row in rows) == ["denied", "discovered", "read"]


@pytest.mark.parametrize(("kind", "kinds"), [("reads", ["read"]), ("discoveries", ["discovered"]), ("ends", [])])
def test_file_keeps_the_filters_of_the_page(owner, eventful, kind, kinds):
    document = orjson.loads(file(owner, format="json", kind=kind)[1])
    assert [line["kind"] for line in document["history"]] == kinds


def test_file_of_one_app(owner, eventful, consent_request):
    document = orjson.loads(file(owner, format="json", app=consent_request.app.app_id)[1])
    assert [line["kind"] for line in document["history"]] == ["denied"]


@pytest.mark.parametrize("purpose", ["=HYPERLINK(1)", " =HYPERLINK(1)", "\uff1dHYPERLINK(1)"])
def test_apps_words_are_no_formula(owner, person, purpose):
    request = ConsentRequestFactory(user=person, purpose=purpose)
    owner.client.post(f"/consent/requests/{request.request_id}/deny/")
    assert f",'{purpose}," in file(owner, format="csv")[1].decode()


def test_long_history_is_whole(owner, person):
    for _ in range(3):
        request = ConsentRequestFactory(user=person)
        owner.client.post(f"/consent/requests/{request.request_id}/deny/")
    from consent.web import history

    before, history._AT_ONCE = history._AT_ONCE, 2
    try:
        document = orjson.loads(file(owner, format="json")[1])
    finally:
        history._AT_ONCE = before
    assert len(document["history"]) == 3


@pytest.mark.parametrize("query", [{}, {"format": "xml"}, {"format": ""}])
def test_file_of_no_known_form_is_refused(owner, query):
    assert owner.get("/consent/history/file/", **query).status_code == 400
