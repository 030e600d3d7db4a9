"""An answer in place of a value: asked for by name, bound by the digest, approved and sealed without the value."""

from datetime import UTC, timedelta
from typing import Any

import pytest

from accounts.models import User
from common.clock import database_now
from consent.decisions.sensitivity import tier_of
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import canonical
from consent.requests.models import ConsentRequest
from consent.web import sharing
from consent.web.queries import exports_to_refresh, requested_groups
from consent_bridge import sealed
from consent_bridge.derived import with_answers
from pkm.registry import copy as registry_copy
from pkm.registry.models import ScopeEntry
from pkm.segments.actions import delete_segment
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import CONNECTOR, request_body
from tests.consent.decisions import approval_body, refreshed
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    PersonFactory,
    Vault,
    give_vault,
    invitation_of,
)

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
    return api.post("/request-consent", request_body(user, **{"scope": f"attr.{ADULT}", **changes}))


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
    assert entries[f"attr.{ADULT}"]["derived"] == {
        "path": ADULT,
        **DEFINITION,
        "label": "18 or older",
        "question": "asks whether you are 18 or older",
        "sensitivity_tier": "standard",
    }
    ScopeEntry.objects.filter(scope=f"attr.{ADULT}").update(scope_label="Of age", sensitivity_tier="confidential")
    [shown] = [each for each in api.get("/scope-catalog").json()["scope_entries"] if each["scope"] == f"attr.{ADULT}"]
    assert (shown["derived"]["question"], shown["derived"]["sensitivity_tier"]) == ("asks for Of age", "confidential")
    assert entries[f"attr.{ADULT}"]["attributes"] == [ADULT]
    assert "derived" not in entries[f"attr.{BIRTH}"]
    assert ADULT not in entries["attr.identity.basic.*"]["attributes"]
    assert f"attr.{ADULT}" in api.get(f"/user-scopes/{invitation_of(person.user)}").json()["scopes"]


def test_the_definition_is_part_of_the_digest_and_frozen(api: Developer, person: Vault) -> None:
    body = ask(api, person.user).json()

    assert body["request"]["derived"] == {ADULT: DEFINITION}
    assert (
        body["request_digest"] == canonical.sha256_canonical(body["request"]) == sealed.request_digest(body["request"])
    )
    ScopeEntry.objects.filter(scope=f"attr.{ADULT}").update(derived={**DEFINITION, "rule": {"kind": "is_set"}})
    assert ConsentRequest.objects.get().derived == {ADULT: DEFINITION}


def test_no_wider_scope_brings_an_answer_that_it_does_not_name(api: Developer, person: Vault) -> None:
    request = ask(api, person.user, scope="attr.identity.basic.*").json()["request"]
    assert "derived" not in request
    assert ADULT not in request["attributes"]


def test_a_wider_scope_takes_an_answer_that_is_named(api: Developer, person: Vault) -> None:
    answer = ask(api, person.user, scope="attr.identity.*", optional_attributes=[ADULT, "identity.basic.full_name"])
    assert answer.json()["request"]["derived"] == {ADULT: DEFINITION}
    elsewhere = ask(api, person.user, scope="attr.identity.*", optional_attributes=["location.home.postal_area"])
    assert elsewhere.json()["errors"][0]["code"] == "outside_scope"


def test_an_answer_is_given_once_and_never_kept_up_to_date(api: Developer, person: Vault) -> None:
    refused = ask(api, person.user, refresh_policy="continuous").json()
    assert [(one["field"], one["code"]) for one in refused["errors"]] == [("refresh_policy", "snapshot_only")]


HOME = {"city": "Bonn", "postal_code": "53113"}
CITY, AREA = "location.home.city", "location.home.postal_area"


def kept_up_to_date(attributes: list[str], **export: Any) -> tuple[Vault, Grant]:
    """A continuous grant of the city, of an answer that no time changes, or both, with its first export."""
    vault = give_vault(PersonFactory(), {("location", "home"): HOME})
    definition = ScopeEntry.objects.get(scope=f"attr.{AREA}").derived
    request = ConsentRequestFactory(
        user=vault.user, scope="attr.location.home.*", optional_attributes=[CITY, AREA],
        derived={AREA: definition}, refresh_policy="continuous", status="approved",
    )  # fmt: skip
    grant = GrantFactory(request=request, approved_attributes=attributes)
    sources = [{"domain": "location", "segment_id": "home", "content_revision": 1}]
    ExportFactory(grant=grant, sources=sources, **export)
    return vault, grant


def test_an_answer_that_no_time_changes_may_be_kept_up_to_date(api: Developer) -> None:
    person = give_vault(PersonFactory(), {("location", "home"): HOME})
    body = ask(api, person.user, scope=f"attr.{AREA}", refresh_policy="continuous").json()
    assert body["request"]["derived"].keys() == {AREA}


def test_no_edit_makes_an_answer_outdated(db: None) -> None:
    vault, _ = kept_up_to_date([AREA])
    vault.write("location", "home", {**HOME, "postal_code": "10115"}, base=1)
    assert exports_to_refresh(vault.user) == []


def test_the_source_of_an_answer_is_the_value_that_it_is_made_from(db: None) -> None:
    vault, grant = kept_up_to_date([AREA])

    def is_gone() -> Any:
        [shared] = sharing.app_page(vault.user, grant.app.app_id, database_now())["live"]
        return shared.source_is_gone

    assert not is_gone()
    delete_segment(by=vault.user, domain="location", segment_id="home", base_content_revision=1)
    assert is_gone()


def test_a_value_beside_an_answer_is_outdated_alone(db: None) -> None:
    vault, grant = kept_up_to_date([CITY, AREA])
    vault.write("location", "home", {**HOME, "city": "Berlin"}, base=1)
    [one] = exports_to_refresh(vault.user)
    assert (one["grant_id"], one["renewed"]) == (grant.grant_id, ["City"])


def test_answers_are_made_anew_in_each_month_changed_or_not(db: None) -> None:
    this_month = database_now().astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    vault, _ = kept_up_to_date([CITY, AREA], sealed_at=this_month)
    assert exports_to_refresh(vault.user) == []
    vault, grant = kept_up_to_date([CITY, AREA], sealed_at=this_month - timedelta(microseconds=1))
    [one] = exports_to_refresh(vault.user)
    assert one["renewed"] == ["Postal area"]

    vault.segments["location", "home"] = {**HOME, "postal_area": "53"}  # as the browser seals it
    answer = signed_in(vault.user).put(f"/consent/grants/{grant.grant_id}/export", refreshed(vault, grant))

    assert answer.status_code == 200, answer.content
    assert exports_to_refresh(vault.user) == []


def test_a_second_answer_about_a_value_is_as_sensitive_as_the_value(api: Developer, person: Vault) -> None:
    ScopeEntry.objects.filter(scope=f"attr.{BIRTH}").update(sensitivity_tier="restricted")
    ask(api, person.user)
    first = ConsentRequest.objects.get()
    assert tier_of(first) == "confidential"  # no answer about a restricted value is less
    listed = {one["scope"]: one for one in api.get("/scope-catalog").json()["scope_entries"]}
    assert listed[f"attr.{ADULT}"]["sensitivity_tier"] == "confidential"
    assert decide(person, first, [ADULT]).status_code == 200
    assert tier_of(first) == "confidential"

    ask(api, person.user, scope=f"attr.{BRACKET}")
    second = ConsentRequest.objects.latest("pk")

    assert tier_of(second) == "restricted"
    page = signed_in(person.user)
    data = page.get(f"/consent/requests/{second.request_id}/data").json()
    assert data["scope_entry"]["sensitivity_tier"] == "restricted"
    assert "among the most private things" in page.get(f"/consent/requests/{second.request_id}/").content.decode()
    assert decide(person, second, [BRACKET]).json()["code"] == "key_not_vouched"


def test_an_answer_is_as_sensitive_where_the_value_itself_cannot_be_asked_for(api: Developer, person: Vault) -> None:
    ScopeEntry.objects.filter(scope=f"attr.{BIRTH}").update(sensitivity_tier="restricted", exposure_enabled=False)
    listed = {one["scope"]: one for one in api.get("/scope-catalog").json()["scope_entries"]}
    assert f"attr.{BIRTH}" not in listed
    assert listed[f"attr.{ADULT}"]["sensitivity_tier"] == "confidential"


def ticked_from_the_start(request: ConsentRequest) -> list[str]:
    [group] = requested_groups(request, request.user, None)
    return [row.attribute.path for row in group.rows if row.ticked]


def test_what_tells_more_than_its_own_scope_says_is_ticked_by_the_person_alone(api: Developer, person: Vault) -> None:
    tier = ScopeEntry.objects.filter(scope=f"attr.{BIRTH}")
    app = AppFactory(application__needed_scopes=["attr.identity.*"])
    answers = registry_copy.entries().answers
    made = {path: answers[path] for path in (ADULT, BRACKET)}
    one, both = (
        ConsentRequestFactory(
            user=person.user, app=app, scope="attr.identity.basic.*", optional_attributes=paths,
            derived={path: made[path] for path in paths},
        )
        for paths in ([ADULT], [ADULT, BRACKET])
    )  # fmt: skip
    assert (ticked_from_the_start(one), ticked_from_the_start(both)) == ([ADULT], [ADULT, BRACKET])

    tier.update(sensitivity_tier="confidential")
    assert (ticked_from_the_start(one), ticked_from_the_start(both)) == ([ADULT], [])
    tier.update(sensitivity_tier="restricted")
    assert ticked_from_the_start(one) == []


def test_the_same_answer_again_and_another_apps_tell_nothing_more(api: Developer, person: Vault) -> None:
    ScopeEntry.objects.filter(scope=f"attr.{BIRTH}").update(sensitivity_tier="confidential")
    for _ in range(2):
        ask(api, person.user)
        request = ConsentRequest.objects.latest("pk")
        assert tier_of(request) == "standard"
        assert decide(person, request, [ADULT]).status_code == 200
    definition = registry_copy.entries().answers[BRACKET]
    assert tier_of(ConsentRequestFactory(user=person.user, scope=f"attr.{BRACKET}", derived={BRACKET: definition})) == (
        "standard"
    )


def test_the_sheet_offers_an_answer_where_the_value_behind_it_is_held(api: Developer, person: Vault) -> None:
    ask(api, person.user, required_attributes=[ADULT])
    [group] = requested_groups(ConsentRequest.objects.get(), person.user, None)
    [row] = group.rows
    assert (row.attribute.label, row.is_stored, row.required, row.is_answer, row.attribute.own) == (
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
    body = ask_for_birthday(api, person.user).json()

    assert body["request"]["accepts"] == LESS
    assert body["request"]["derived"].keys() == {ADULT, BRACKET}
    assert body["request_digest"] == sealed.request_digest(body["request"])


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


def person_with_own_attribute() -> Vault:
    """Somebody with an attribute of their own from before there was an answer of that name."""
    entry = ScopeEntry.objects.filter(scope=f"attr.{ADULT}")
    entry.update(derived=None)
    person = give_vault(PersonFactory(), {("identity", "basic"): {"full_name": "Zoe", "age_over_18": "as I say"}})
    entry.update(derived=DEFINITION)
    return person


def test_without_the_value_there_is_no_answer_to_approve(api: Developer) -> None:
    person = person_with_own_attribute()
    ask(api, person.user)
    request = ConsentRequest.objects.get()
    [group] = requested_groups(request, person.user, None)
    assert [row.is_stored for row in group.rows] == [False]
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
    person = person_with_own_attribute()
    ask(api, person.user, scope="attr.identity.basic.*")
    request = ConsentRequest.objects.get()

    [group] = requested_groups(request, person.user, None)

    assert ADULT not in [row.attribute.path for row in group.rows]
    assert decide(person, request, [ADULT]).json()["code"] == "invalid_attributes"
