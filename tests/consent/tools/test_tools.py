"""Each tool: what it looks like, that it says what the REST says, its permissions, limits and cost."""

from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from jsonschema import Draft202012Validator

from accounts.models import User
from consent.api.openapi import document
from consent.exports.models import Read
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.consent.tools.calls import good_call, pending, rest
from tests.consent.tools.hosts import TOOLS, Host
from tests.factories import ExportFactory, Vault, give_vault, known_as


# --- the list ---------------------------------------------------------------------------------------------------------
def listed(host: Host) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in host.send("tools/list").json()["result"]["tools"]}


def test_six_tools_with_schemas_on_either_revision(any_host: Host) -> None:
    tools = listed(any_host)

    assert tuple(tools) == TOOLS
    for tool in tools.values():
        assert set(tool) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert (tool["inputSchema"]["type"], tool["inputSchema"]["additionalProperties"]) == ("object", False)
        assert tool["outputSchema"]["type"] == "object"
        described = [member.get("description") for member in tool["inputSchema"]["properties"].values()]
        assert all(described), tool["name"]


OPERATIONS = {
    "discover_user_scopes": "getUserScopes",
    "request_consent": "requestConsent",
    "check_consent_status": "getConsentStatus",
    "get_encrypted_export": "getConsentExport",
    "end_consent": "endConsent",
    "list_scope_catalog": "getScopeCatalog",
}


@pytest.mark.parametrize(("tool", "operation"), OPERATIONS.items())
def test_its_schemas_are_those_of_the_rest(tool: str, operation: str, host: Host) -> None:
    """What the document says of the same call, of which the types of clients are made."""
    found, components = listed(host)[tool], document()["components"]["schemas"]
    described = [op for item in document()["paths"].values() for op in item.values() if op["operationId"] == operation]
    responses, body = described[0]["responses"], described[0].get("requestBody")

    result, problem = (set(choice["required"]) for choice in found["outputSchema"]["anyOf"])
    required = set(plain(responses["200"]["content"]["application/json"]["schema"], components)["required"])
    assert result == ({"scope_entries"} if tool == "discover_user_scopes" else required)
    refused = plain(responses["400"]["content"]["application/problem+json"]["schema"], components)
    assert problem == set(refused["required"])
    if tool == "request_consent":
        schema = plain(body["content"]["application/json"]["schema"], components)
        assert set(found["inputSchema"]["properties"]) == set(schema["properties"]) - {"invitation_sha256"}
        assert found["inputSchema"]["required"] == schema["required"]
    else:
        properties = {
            name: without(member, "description") for name, member in found["inputSchema"]["properties"].items()
        }
        assert properties == ARGUMENTS[tool]
        named = [name for name in properties if name in ("user_id", "request_id")]
        assert found["inputSchema"].get("required", []) == named


REQUEST_ID = {"type": "string"}
CHOICE = {
    "domain": {"type": "string"},
    "query": {"type": "string"},
    "limit": {"type": "integer"},
    "cursor": {"type": "string"},
    "compact": {"type": "boolean", "default": False},
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "discover_user_scopes": {**CHOICE, "user_id": {"type": "string"}},
    "check_consent_status": {
        "request_id": REQUEST_ID,
        "wait_seconds": {"type": "integer", "minimum": 0, "maximum": 30, "default": 0},
    },
    "get_encrypted_export": {"request_id": REQUEST_ID},
    "end_consent": {"request_id": REQUEST_ID},
    "list_scope_catalog": CHOICE,
}


def plain(node: Any, definitions: dict[str, Any]) -> Any:
    """`node` with what it refers to in its place, and without titles and examples, which tools leave out."""
    if isinstance(node, list):
        return [plain(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    named = node.get("$ref", "").rpartition("/")[2]
    whole = {**(definitions[named] if named else {}), **without(node, "$ref", "$defs")}
    return {
        name: plain(value, definitions)
        for name, value in whole.items()
        if not (name == "title" and isinstance(value, str)) and not (name == "examples" and isinstance(value, list))
    }


def without(node: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name not in names}


def test_the_list_and_a_filtered_discovery_fit_a_context(host: Host, app: App, vault: Vault) -> None:
    """In characters ÷ 4: what a model is given of the tools, and one answer; then all that travels."""
    tools = listed(host)
    assert "accepts" in tools["request_consent"]["inputSchema"]["properties"]
    chosen = {"user_id": known_as(app, vault.user), "domain": "lifestyle", "query": "food", "compact": True}
    message = host.send("tools/call", {"name": "discover_user_scopes", "arguments": chosen}).json()["result"]
    answer = message["structuredContent"]

    assert {entry["scope"] for entry in answer["scope_entries"]} >= {"attr.lifestyle.food.*"}
    assert all(
        entry.keys() == {"scope", "label", "sensitivity_tier", "attributes"} for entry in answer["scope_entries"]
    )
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools.values()]
    assert tokens(seen) + tokens(answer) <= 1500
    assert tokens(list(tools.values())) + tokens(message) <= 3000


def tokens(content: Any) -> float:
    return len(orjson.dumps(content)) / 4


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"domain": "lifestyle"}, True),
        ({"domain": "contact"}, False),
        ({"query": "FOOD AND"}, True),
        ({"query": "zz"}, False),
    ],
)
def test_scopes_are_chosen_alike_by_tool_and_by_rest(
    chosen: dict[str, str], expected: bool, host: Host, api: Developer, app: App, vault: Vault
) -> None:
    user_id = known_as(app, vault.user)

    by_tool = host.answer("discover_user_scopes", {"user_id": user_id, **chosen})
    assert by_tool == api.get(f"/user-scopes/{user_id}", **chosen).json()
    assert ("attr.lifestyle.food.*" in by_tool["scopes"]) is expected
    catalog = host.answer("list_scope_catalog", chosen)
    assert catalog == api.get("/scope-catalog", **chosen).json()


@pytest.mark.parametrize("compact", [False, True])
def test_scopes_come_in_pages_alike_by_tool_and_by_rest(
    compact: bool, host: Host, api: Developer, app: App, vault: Vault
) -> None:
    user_id, domain = known_as(app, vault.user), {"domain": "lifestyle"}
    whole = host.answer("discover_user_scopes", {"user_id": user_id, **domain})["scopes"]
    catalog = [entry["scope"] for entry in host.answer("list_scope_catalog", domain)["scope_entries"]]
    person = {"user_id": user_id}

    for tool, path, named, expected in (
        ("discover_user_scopes", f"/user-scopes/{user_id}", person, whole),
        ("list_scope_catalog", "/scope-catalog", {}, catalog),
    ):
        met, cursor = list[str](), dict[str, str]()
        for _ in range(len(expected)):
            chosen = {**domain, "limit": 2, **cursor}
            page = host.answer(tool, {**named, **chosen, "compact": compact})
            if not compact:
                assert page == api.get(path, **chosen).json()
            assert 1 <= len(page["scope_entries"]) <= 2
            met += [entry["scope"] for entry in page["scope_entries"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert met == expected
        assert len(expected) > 2
        assert api.get(path, cursor="attr.nothing.*").json()["code"] == "invalid_request"


def test_prompts_are_filled_with_what_was_given_and_templates_are_none(any_host: Host) -> None:
    prompts = any_host.send("prompts/list").json()["result"]["prompts"]
    named = {prompt["name"]: [argument["name"] for argument in prompt["arguments"]] for prompt in prompts}
    given = {"name": "ask_for_one_thing", "arguments": {"user_id": "usr_a", "need": "a table {user_id}"}}
    filled = any_host.send("prompts/get", given).json()["result"]["messages"][0]["content"]["text"]

    assert named == {"what_may_i_ask": ["user_id"], "ask_for_one_thing": ["user_id", "need"]}
    assert filled.startswith("I need this: a table {user_id}. Call discover_user_scopes with user_id usr_a,")
    for arguments in (
        {},
        {"user_id": "usr_a"},
        {"user_id": "usr_a", "need": ""},
        {"user_id": "a", "need": "b", "c": "d"},
    ):
        answer = any_host.send("prompts/get", {"name": "ask_for_one_thing", "arguments": arguments}).json()
        assert answer["error"]["code"] == -32602
    assert any_host.send("prompts/get", {"name": "unknown"}).json()["error"]["code"] == -32602
    assert any_host.send("resources/templates/list").json()["result"]["resourceTemplates"] == []


def test_what_only_looks_says_so(host: Host) -> None:
    hints = {name: tool["annotations"] for name, tool in listed(host).items()}

    assert [name for name in TOOLS if hints[name]["readOnlyHint"]] == [
        "discover_user_scopes",
        "check_consent_status",
        "list_scope_catalog",
    ]
    assert [name for name in TOOLS if hints[name].get("destructiveHint")] == ["end_consent"]


# --- works, and says what the REST says -------------------------------------------------------------------------------
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_says_what_the_rest_says(tool: str, any_host: Host, api: Developer, app: App, vault: Vault) -> None:
    given = good_call(tool, app, vault)

    by_tool = any_host.answer(tool, given)
    by_rest = rest(api, tool, given)

    assert by_rest.status_code == 200, by_rest.content
    body = by_rest.json()
    if tool == "request_consent":
        by_tool.pop("expires_in"), body.pop("expires_in")  # a second may have passed
    assert by_tool == body


@pytest.mark.parametrize("tool", TOOLS)
def test_an_answer_and_a_refusal_fit_the_output_schema(tool: str, host: Host, app: App, vault: Vault) -> None:
    schema = Draft202012Validator(listed(host)[tool]["outputSchema"])

    schema.validate(host.answer(tool, good_call(tool, app, vault)))
    schema.validate(host.problem(tool, {"unknown": 1}))

    assert not schema.is_valid({"unknown": 1})


def test_the_reader_behind_our_own_proxy_is_whom_it_saw(host: Host, app: App, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    grant = ExportFactory(grant__request__app=app).grant

    arguments = {"name": "get_encrypted_export", "arguments": {"request_id": grant.request.request_id}}
    host.send("tools/call", arguments, **{"X-Forwarded-For": "198.51.100.1, 203.0.113.77"})

    read = Read.objects.get()
    assert (read.grant_id, read.token.app_id, read.address_prefix) == (grant.pk, app.pk, "203.0.113.0/24")


def test_a_request_made_by_tool_stands_as_one_made_by_rest(host: Host, api: Developer, vault: Vault) -> None:
    answer = host.answer("request_consent", request_body(vault.user, max_reads=3, binding_message="blue fox"))

    request = ConsentRequest.objects.get()
    assert (request.request_id, request.status, request.max_reads) == (answer["request_id"], "pending", 3)
    again = api.post("/request-consent", request_body(vault.user, max_reads=3, binding_message="blue fox"))
    assert (again.status_code, again.json()["request_id"]) == (200, request.request_id)


# --- permissions ------------------------------------------------------------------------------------------------------
NEEDS = {
    "discover_user_scopes": {"discover"},
    "request_consent": {"request"},
    "check_consent_status": {"request", "read"},
    "get_encrypted_export": {"read"},
    "end_consent": {"request"},
    "list_scope_catalog": {"discover"},
}


@pytest.mark.parametrize("permission", ["discover", "request", "read"])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_token_without_the_permission_has_its_tool_refused(
    tool: str, permission: str, app: App, vault: Vault
) -> None:
    given = good_call(tool, app, vault)
    host, api = Host.of(app, permissions=[permission]), Developer.of(app, permissions=[permission])

    if permission in NEEDS[tool]:
        assert host.answer(tool, given)
    else:
        problem = host.problem(tool, given)
        body = rest(api, tool, given).json()
        assert (problem["status"], problem["code"]) == (403, "insufficient_scope")
        assert problem | {"trace_id": ""} == body | {"trace_id": ""}


# --- limits -----------------------------------------------------------------------------------------------------------


def test_polls_are_paced_together_with_those_of_the_rest(host: Host, api: Developer, app: App, settings: Any) -> None:
    settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND = 2, 0.01
    given = pending(app)
    host.answer("check_consent_status", given)
    api.get("/consent-status", **given)

    problem = host.problem("check_consent_status", given)

    assert (problem["code"], problem["interval"]) == ("slow_down", 10)


def test_the_budget_of_waiting_requests_is_one(host: Host, api: Developer, person: User, settings: Any) -> None:
    settings.PENDING_REQUESTS_PER_PERSON = 1
    give_vault(person, {("lifestyle", "food"): {"a": 1}, ("contact", "email"): {"b": 2}})
    api.post("/request-consent", request_body(person))

    assert host.problem("request_consent", request_body(person, scope="attr.contact.*"))["code"] == "too_many_requests"


def test_budgets_of_new_requests_are_those_of_the_rest(host: Host, api: Developer, person: User, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = 1
    give_vault(person, {("lifestyle", "food"): {"a": 1}, ("contact", "email"): {"b": 2}})
    api.post("/request-consent", request_body(person))

    result = host.call("request_consent", request_body(person, scope="attr.contact.*"))

    assert (result["isError"], result["structuredContent"]["code"]) == (True, "request_budget_spent")
    assert result["structuredContent"]["status"] == 429
    assert 3590 <= result["_meta"]["retry_after"] <= 3600
    assert host.answer("request_consent", request_body(person))["status"] == "pending"  # the one that waits


# --- what it costs ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_makes_the_queries_of_the_rest_and_no_more(
    tool: str, any_host: Host, api: Developer, app: App, vault: Vault
) -> None:
    any_host.answer(tool, good_call(tool, app, vault))  # what a process or a token learns once
    rest(api, tool, good_call(tool, app, vault))
    if tool == "request_consent":
        ConsentRequest.objects.all().delete()
    by_tool, by_rest = good_call(tool, app, vault), good_call(tool, app, vault)

    with CaptureQueriesContext(connection) as of_tool:
        any_host.answer(tool, by_tool)
    if tool == "request_consent":
        ConsentRequest.objects.all().delete()
    with CaptureQueriesContext(connection) as of_rest:
        rest(api, tool, by_rest)

    assert len(of_tool) == len(of_rest)
