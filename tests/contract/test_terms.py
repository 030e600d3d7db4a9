"""A member that the body of a request gains is kept, digested, shown and offered without being named again."""

from typing import Any

import pytest
from django.test import Client

from common.operations import example_of
from consent.ledger import canonical
from consent.requests import creation, draft
from consent.requests import digest as request_digest
from consent.requests.models import FROZEN, ConsentRequest
from consent.schemas import RequestConsentBody
from consent_bridge import exports, rules, sealed
from consent_bridge.arguments import parser
from consent_bridge.tool_arguments import RequestArguments
from tests.factories import ConsentRequestFactory, give_vault

# a key that is left out is one that the app registered, and no term
OPTIONAL = {name for name, member in RequestConsentBody.model_fields.items() if not member.is_required()}
OPTIONAL -= {"connector_public_key"}
# the deadline is digested by its time, a template is the app's own affair
NOT_IN_DIGEST = {"requested_expiry", "template_id"}
REQUIRED_OPTIONS = ["request", "usr_a", "attr.lifestyle.food.*", "--purpose", "Suggest restaurants"]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> str:
    """`template_id`, as though the contract had gained it after its first version."""
    for module, name in ((request_digest, "OPTIONAL"), (exports, "LATER_MEMBERS"), (sealed, "LATER_MEMBERS")):
        monkeypatch.setattr(module, name, ("template_id",))
    return "template_id"


def test_every_optional_member_is_kept_and_what_is_shown_is_digested() -> None:
    columns = {field.name for field in ConsentRequest._meta.concrete_fields}

    assert OPTIONAL - columns == {"requested_expiry"}
    stored = RequestConsentBody.model_fields.keys() - draft._NOT_STORED
    assert OPTIONAL - {"requested_expiry"} <= stored <= set(FROZEN)
    assert OPTIONAL - {*request_digest.MEMBERS, *request_digest.OPTIONAL} == NOT_IN_DIGEST


def test_how_a_request_stands_is_not_frozen() -> None:
    columns = {field.attname for field in ConsentRequest._meta.concrete_fields}

    standing = {
        "id", "status", "decided_at", "decided_by", "decision_note", "mail_waits", "record_waits", "withheld",
    }  # fmt: skip
    assert columns - set(FROZEN) == standing


def test_a_later_member_is_digested_only_where_the_app_gave_it(db: None, later: str) -> None:
    without, given = ConsentRequestFactory(), ConsentRequestFactory(template_id="tpl_a")

    both = [request_digest.members_of(request, app_id=request.app.app_id) for request in (without, given)]

    assert [members.get(later) for members in both] == [None, "tpl_a"]
    assert set(both[0]) == set(request_digest.MEMBERS)
    assert [canonical.sha256_canonical(members) for members in both] == [without.request_digest, given.request_digest]
    assert [exports.request_digest(members) for members in both] == [without.request_digest, given.request_digest]


def test_a_call_without_a_later_member_repeats_the_one_from_before(later: str) -> None:
    body = RequestConsentBody(**example_of(RequestConsentBody))

    assert body.model_dump() == {**creation._idempotency_body(body), later: None}
    assert creation._idempotency_body(body.model_copy(update={later: "tpl_a"}))[later] == "tpl_a"


def test_a_later_member_is_shown_where_the_browser_compares_it(db: None, client: Client, later: str) -> None:
    request = ConsentRequestFactory(template_id="tpl_<b>")
    give_vault(request.user)
    client.force_login(request.user)

    page = client.get(f"/consent/requests/{request.request_id}/").content.decode()

    assert '<dt>Template id</dt><dd data-shown="template_id">tpl_&lt;b&gt;</dd>' in page


def test_the_bridge_knows_every_optional_member() -> None:
    options = vars(parser().parse_args(REQUIRED_OPTIONS))

    assert set(rules.TERM_RULES) == OPTIONAL
    assert set(options) >= OPTIONAL
    assert set(RequestArguments.model_fields) >= OPTIONAL


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--access-duration", "300"], {"access_duration": 300}),
        (["--required", "a.b.c", "--required", "a.b.d"], {"required_attributes": ["a.b.c", "a.b.d"]}),
        (["--refresh-policy", "continuous"], {"refresh_policy": "continuous"}),
        (["--binding-message", "47-11"], {"binding_message": "47-11"}),
    ],
)
def test_an_option_gives_its_term(words: list[str], expected: dict[str, Any]) -> None:
    options = vars(parser().parse_args([*REQUIRED_OPTIONS, *words]))

    assert {name: value for name, value in options.items() if name in OPTIONAL and value is not None} == expected


@pytest.mark.parametrize("words", [["--refresh-policy", "forever"], ["--max-reads", "many"]])
def test_an_option_that_does_not_fit_ends_the_command(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args([*REQUIRED_OPTIONS, *words])
