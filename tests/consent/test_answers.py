"""An answer in place of a value: asked for by name, bound by the digest, approved and sealed without the value."""

from typing import Any

import pytest

from accounts.models import User
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import canonical
from consent.requests.models import ConsentRequest
from consent.web.queries import requested_groups
from consent_bridge import sealed
from consent_bridge.derived import with_answers
from pkm.registry.models import ScopeEntry
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import CONNECTOR, asked
from tests.consent.decisions import approval_body
from tests.factories import AppFactory, PersonFactory, Vault, give_vault, invitation_of

BIRTH, ADULT, BRACKET = (f"identity.basic.{name}" for name in ("birth_date", "age_over_18", "age_bracket"))
BORN = "1990-05-17"
DEFINITION = {"from": BIRTH, "rule": {"kind": "at_least", "of": "age", "value": 18}, "rule_version": 1}
AT = "2026-11-20T10:00:00Z"


@pytest.fixture
def person(db: None) -> Vault:
    return give_vault(PersonFactory(), {("identity", "basic"): {"full_name": "Zoe", "birth_date": BORN}})


@pytest.fixture
def api(db: None) -> Developer:
    return Developer.of(AppFactory())


def ask(api: Developer, user: User, **changes: Any) -> Any:
    return api.post("/request-consent", asked(user, **{"scope": f"attr.{ADULT}", **changes}))


def decide(person: Vault, request: ConsentRequest, attributes: list[str]) -> Any:
    """As the person's browser decides: the answer stands beside its source, and leaves alone."""
    kept = dict(person.segments)
    place = ("identity", "basic")
    person.segments[place] = with_answers(kept[place], place, request.derived or {}, AT)
    body = approval_body(request, person, attributes)
    person.segments[place] = kept[place]
    return signed_in(person.user).post(f"/consent/requests/{request.request_id}/decision", body)


def test_an_answer_is_a_scope_of_its_own_in_catalogue_and_discovery(api: Developer, person: Vault) -> None:
    entries = {each["scope"]: each for each in api.get("/scope-catalog").json()["scope_entries"]}
    assert entries[f"attr.{ADULT}"]["derived"] == DEFINITION
    assert entries[f"attr.{ADULT}"]["attributes"] == [ADULT]
    assert "derived" not in entries[f"attr.{BIRTH}"]
    assert ADULT not in entries["attr.identity.basic.*"]["attributes"]
    assert f"attr.{ADULT}" in api.get(f"/user-scopes/{invitation_of(person.user)}").json()["scopes"]


def test_the_definition_is_part_of_the_digest_and_frozen(api: Developer, person: Vault) -> None:
    told = ask(api, person.user).json()

    assert told["request"]["derived"] == {ADULT: DEFINITION}
    assert (
        told["request_digest"] == canonical.sha256_canonical(told["request"]) == sealed.request_digest(told["request"])
    )
    ScopeEntry.objects.filter(scope=f"attr.{ADULT}").update(derived={**DEFINITION, "rule": {"kind": "is_set"}})
    assert ConsentRequest.objects.get().derived == {ADULT: DEFINITION}


def test_no_wider_scope_brings_an_answer_that_it_does_not_name(api: Developer, person: Vault) -> None:
    told = ask(api, person.user, scope="attr.identity.basic.*").json()["request"]
    assert "derived" not in told
    assert ADULT not in told["attributes"]


def test_a_wider_scope_takes_an_answer_that_is_named(api: Developer, person: Vault) -> None:
    told = ask(api, person.user, scope="attr.identity.*", optional_attributes=[ADULT, "identity.basic.full_name"])
    assert told.json()["request"]["derived"] == {ADULT: DEFINITION}
    elsewhere = ask(api, person.user, scope="attr.identity.*", optional_attributes=["location.home.postal_area"])
    assert elsewhere.json()["errors"][0]["code"] == "outside_scope"


def test_an_answer_is_given_once_and_never_kept_up_to_date(api: Developer, person: Vault) -> None:
    refused = ask(api, person.user, refresh_policy="continuous").json()
    assert [(one["field"], one["code"]) for one in refused["errors"]] == [("refresh_policy", "snapshot_only")]


def test_the_sheet_offers_an_answer_where_the_value_behind_it_is_held(api: Developer, person: Vault) -> None:
    ask(api, person.user, required_attributes=[ADULT])
    [group] = requested_groups(ConsentRequest.objects.get(), person.user, None)
    [row] = group.rows
    assert (row.attribute.label, row.held, row.required, row.is_answer, row.attribute.own) == (
        "18 or older", True, True, True, False,
    )  # fmt: skip
    page = signed_in(person.user).get(f"/consent/requests/{ConsentRequest.objects.get().request_id}/").content.decode()
    assert "18 or older" in page
    assert "this answer alone" in page
    assert BORN not in page


def test_the_answer_is_approved_and_the_value_stays(api: Developer, person: Vault) -> None:
    ask(api, person.user, required_attributes=[ADULT])
    request = ConsentRequest.objects.get()

    answer = decide(person, request, [ADULT])

    assert answer.status_code == 200, answer.content
    assert Grant.objects.get().approved_attributes == [ADULT]
    assert Export.objects.get().sources == [{"domain": "identity", "segment_id": "basic", "content_revision": 1}]


def test_the_value_behind_an_answer_is_no_part_of_the_request(api: Developer, person: Vault) -> None:
    ask(api, person.user)
    refused = decide(person, ConsentRequest.objects.get(), [ADULT, BIRTH])
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_attributes")


LESS = {BIRTH: [ADULT, BRACKET]}


def ask_for_birthday(api: Developer, user: User, **changes: Any) -> Any:
    return ask(api, user, **{"scope": f"attr.{BIRTH}", "required_attributes": [BIRTH], "accepts": LESS, **changes})


def test_what_an_app_accepts_in_place_of_a_value_is_frozen_with_its_definitions(api: Developer, person: Vault) -> None:
    told = ask_for_birthday(api, person.user).json()

    assert told["request"]["accepts"] == LESS
    assert told["request"]["derived"].keys() == {ADULT, BRACKET}
    assert told["request_digest"] == sealed.request_digest(told["request"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"accepts": {"identity.basic.full_name": [ADULT]}}, "outside_scope"),
        ({"accepts": {BIRTH: ["location.home.postal_area"]}}, "no_answer"),
        ({"scope": "attr.identity.*", "optional_attributes": [ADULT]}, "repeated"),
        ({"optional_attributes": [ADULT]}, "outside_scope"),
        ({"accepts": {BIRTH: []}}, "too_short"),
    ],
)
def test_only_answers_in_place_of_what_is_asked_for_are_accepted(
    api: Developer, person: Vault, changes: dict[str, Any], code: str
) -> None:
    refused = ask_for_birthday(api, person.user, **changes).json()
    assert code in [one["code"] for one in refused["errors"]]


def test_the_person_shares_less_than_was_required(api: Developer, person: Vault) -> None:
    ask_for_birthday(api, person.user)
    request = ConsentRequest.objects.get()
    for several in ([BIRTH, ADULT], [ADULT, BRACKET]):
        assert decide(person, request, several).json()["code"] == "invalid_attributes"

    assert decide(person, request, [BRACKET]).status_code == 200

    assert Grant.objects.get().approved_attributes == [BRACKET]
    page = signed_in(person.user).get(f"/consent/requests/{request.request_id}/").content.decode()
    assert "Age range" in page


def test_what_was_chosen_last_is_chosen_again(api: Developer, person: Vault) -> None:
    ask_for_birthday(api, person.user)
    decide(person, ConsentRequest.objects.get(), [ADULT])
    ask_for_birthday(api, person.user)

    [group] = requested_groups(ConsentRequest.objects.latest("pk"), person.user, Grant.objects.get())

    [row] = group.rows
    assert [one.label for one in row.coarser] == ["Age range", "18 or older"]
    assert (row.chosen, row.changed, row.required) == (ADULT, False, True)


def who_says_so_themselves() -> Vault:
    """Somebody with an attribute of their own from before there was an answer of that name."""
    entry = ScopeEntry.objects.filter(scope=f"attr.{ADULT}")
    entry.update(derived=None)
    person = give_vault(PersonFactory(), {("identity", "basic"): {"full_name": "Zoe", "age_over_18": "as I say"}})
    entry.update(derived=DEFINITION)
    return person


def test_without_the_value_there_is_no_answer_to_approve(api: Developer) -> None:
    person = who_says_so_themselves()
    ask(api, person.user)
    request = ConsentRequest.objects.get()
    [group] = requested_groups(request, person.user, None)
    assert [row.held for row in group.rows] == [False]
    assert decide(person, request, [ADULT]).json()["code"] == "invalid_attributes"


def test_an_app_reads_the_answer_with_how_it_was_made(api: Developer, person: Vault) -> None:
    ask(api, person.user)
    request = ConsentRequest.objects.get()
    content = sealed.ExportContent(
        request.scope, (ADULT,), {"identity": {"basic": {"age_over_18": True}}}, (), AT, {ADULT: DEFINITION}
    )
    header = sealed.ExportHeader(
        "k", "https://a.example", "usr_a", "app_a", "req_a", request.scope, 1, request.request_digest
    )
    opened = sealed.open_export(sealed.seal_export(content, sealed.public_half(CONNECTOR), header), CONNECTOR, header)
    assert opened == content
    with pytest.raises(sealed.Refused, match="not approved"):
        sealed.check_content({**content.as_json(), "derived": {BIRTH: DEFINITION}}, request.scope)


def test_what_only_has_the_name_of_an_answer_leaves_with_no_wider_scope(api: Developer) -> None:
    person = who_says_so_themselves()
    ask(api, person.user, scope="attr.identity.basic.*")
    request = ConsentRequest.objects.get()

    [group] = requested_groups(request, person.user, None)

    assert ADULT not in [row.attribute.path for row in group.rows]
    assert decide(person, request, [ADULT]).json()["code"] == "invalid_attributes"
