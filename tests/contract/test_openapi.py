"""The OpenAPI document: valid, complete, and true of itself."""

import re
from typing import Any

import orjson
import pytest
import yaml
from django.test import Client
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from agents_proxy.errors import every_refusal
from agents_proxy.urls import api as agents_api
from common.operations import example_of
from common.shapes import Shape
from consent.api.openapi import document, served_document
from consent.event_types import WEBHOOK_TYPES
from consent.ledger.canonical import sha256_canonical
from consent.program_urls import rest
from consent.schemas import EndConsentBody, RequestConsentBody
from consent.shapes import MadeRequest
from developers.manage.urls import urlpatterns as manage
from developers.models import Permission

urlpatterns = [*rest, *manage]

OPERATIONS = [
    pytest.param(path, method, operation, id=operation["operationId"])
    for path, item in document()["paths"].items()
    for method, operation in item.items()
]
every_operation = pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document()["components"]})


def test_it_is_valid_openapi_3_1() -> None:
    validate_schema(served_document())

    assert document()["openapi"].startswith("3.1.")
    assert document()["servers"] == [{"url": "http://localhost:8000"}]


def test_json_and_yaml_are_the_same_document(db: None) -> None:
    as_json = Client().get("/api/schema/")
    by_query = Client().get("/api/schema/?format=yaml")
    by_accept = Client().get("/api/schema/", headers={"Accept": "application/yaml"})
    json_first = Client().get("/api/schema/?format=json", headers={"Accept": "application/yaml"})

    assert as_json["Content-Type"] == json_first["Content-Type"] == "application/json"
    assert by_query["Content-Type"] == by_accept["Content-Type"] == "application/yaml"
    assert as_json.json() == json_first.json() == served_document()
    assert by_query.content == by_accept.content
    assert yaml.load(by_query.content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) == served_document()


@pytest.mark.parametrize("query", ["format=xml", "format=", "bogus=1"])
def test_another_form_is_400(query: str, db: None) -> None:
    assert Client().get(f"/api/schema/?{query}").status_code == 400


def test_every_address_is_described() -> None:
    described = {path.lstrip("/") for path in document()["paths"]}
    not_for_apps = {f"api/a2a/{path}" for path in ("messaging/reports", "messaging/inbound", "financial/webhooks")}
    agents = {f"api/a2a/{route.pattern}" for route in agents_api} - not_for_apps
    written = {re.sub(r"<\w+:(\w+)>", r"{\1}", path) for path in agents | {str(route.pattern) for route in rest}}

    assert written <= described
    assert {path for path in described if path.startswith("api/a2a/")} <= written


def test_every_way_of_sending_a_token_is_declared() -> None:
    schemes = document()["components"]["securitySchemes"]

    found = {name: (scheme["type"], scheme.get("in")) for name, scheme in schemes.items()}
    assert (
        found.items()
        >= {
            "bearer": ("http", None),
            "management": ("http", None),
            "query": ("apiKey", "query"),
            "session": ("apiKey", "cookie"),
            "csrf": ("apiKey", "header"),
            "agentConsent": ("apiKey", "header"),
        }.items()
    )


def _speaks_json_rpc(operation: dict[str, Any]) -> bool:
    return operation["operationId"] in ("callAgent", "sendMessage")


@every_operation
def test_an_operation_is_complete(path: str, method: str, operation: dict[str, Any]) -> None:
    codes = {
        example["value"]["code"]
        for response in operation["responses"].values()
        for example in response.get("content", {}).get("application/problem+json", {}).get("examples", {}).values()
    }

    assert operation["summary"]
    assert operation["description"]
    if _speaks_json_rpc(operation):
        codes = {
            example["value"]["error"]["data"]["code"]
            for status, response in operation["responses"].items()
            if status != "200"
            for example in response["content"]["application/json"]["examples"].values()
        }
        never = {"unknown_agent"} if path.endswith("/messaging") else set()  # the address is the agent
        assert codes == {refusal.name for refusal in every_refusal()} - never
        return
    assert {"invalid_request", "not_found", "method_not_allowed", "temporarily_unavailable"} <= codes
    if path.startswith("/api/v1/manage/"):
        assert operation["security"] == [{"management": []}]
        assert {"invalid_token", "browser_path_refused"} <= codes
        # without a permission for any app the list of them is empty
        assert ("insufficient_scope" in codes) == (operation["operationId"] != "listApps")
        assert "in a management token" in operation["description"]
    elif path.startswith("/api/a2a/"):
        assert "authentication_required" in codes
        assert ("csrf_failed" in codes) == (method != "get")
        session: dict[str, Any] = {"session": []} if method == "get" else {"session": [], "csrf": []}
        shared = path.startswith(("/api/a2a/analyses", "/api/a2a/destinations", "/api/a2a/subject"))
        shared = shared and not path.endswith("/corrections")  # no token speaks for a person
        assert operation["security"] == [session, *([{"agentConsent": []}] if shared else [])]
        assert ({"consent_required", "origin_refused"} <= codes) == shared
    elif path == "/api/v1/leaked-tokens":  # whoever finds a token has none of their own
        assert operation["security"] == []
        assert not {"invalid_token", "insufficient_scope", "app_suspended"} & codes
    elif path.startswith("/api/v1/"):
        assert operation["security"] == [{"bearer": []}, {"query": []}, {"oauth": []}]
        assert {"invalid_token", "insufficient_scope", "app_suspended", "browser_path_refused"} <= codes
        assert any(f"`{permission}`" in operation["description"] for permission in Permission.values)
    else:
        assert operation["security"] == []
    if method == "post" and "requestBody" in operation:
        assert {"unsupported_media_type", "payload_too_large"} <= codes
        assert list(operation["requestBody"]["content"]) == ["application/json"]
    for response in operation["responses"].values():
        assert {"X-Request-Id", "Cache-Control"} <= set(response["headers"])


@every_operation
def test_its_examples_fit_its_own_schemas(path: str, method: str, operation: dict[str, Any]) -> None:
    parts = [operation.get("requestBody", {}), *operation["responses"].values()]
    checked = 0

    for content in [content for part in parts for content in part.get("content", {}).values()]:
        for example in content.get("examples", {}).values():
            validator(content["schema"]).validate(example["value"])
            checked += 1
    for parameter in operation.get("parameters", []):
        if "example" in parameter["schema"]:
            validator(parameter["schema"]).validate(parameter["schema"]["example"])

    assert checked >= 5


@pytest.mark.parametrize("model", [RequestConsentBody, EndConsentBody])
def test_every_member_of_a_body_says_what_it_is_for(model: type[BaseModel]) -> None:
    properties = document()["components"]["schemas"][model.__name__]["properties"]

    assert set(properties) == set(model.model_fields)
    assert all(member["description"] for member in properties.values())


def test_the_example_of_a_request_has_the_digest_beside_it() -> None:
    example = example_of(MadeRequest)

    assert example["request_digest"] == sha256_canonical(example["request"])


def test_a_text_without_an_example_is_refused_where_the_document_is_made() -> None:
    class Unfinished(Shape):
        name: str

    with pytest.raises(LookupError, match="needs an example"):
        example_of(Unfinished)


def test_patterns_are_in_the_dialect_of_json_schema() -> None:
    assert "\\z" not in orjson.dumps(document()).decode().lower().replace("\\\\", "\\")


def test_the_served_document_is_the_same_and_at_most_500_kb() -> None:
    """What is said once is in its place again where the references are followed."""

    def followed(node: Any) -> Any:
        if isinstance(node, list):
            return [followed(part) for part in node]
        if not isinstance(node, dict):
            return node
        _, _, kind, name = node.get("$ref", "///").split("/")
        if kind in ("headers", "examples", "responses"):
            return followed(served_document()["components"][kind][name])
        return {name: followed(part) for name, part in node.items()}

    assert followed(served_document()["paths"]) == document()["paths"]
    assert len(Client().get("/api/schema/").content) <= 500_000


def test_every_webhook_has_a_type_of_its_own() -> None:
    webhooks = document()["webhooks"]

    assert list(webhooks) == WEBHOOK_TYPES
    for name, item in webhooks.items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        schema = validator(content["schema"])
        example = content["examples"]["event"]["value"]
        schema.validate(example)
        for other in WEBHOOK_TYPES:
            assert schema.is_valid({**example, "type": other}) == (other == name)


def test_an_answer_has_one_media_type_so_that_clients_type_its_members() -> None:
    for item in document()["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                assert int(status) >= 400 or len(response.get("content", {"": {}})) == 1, (
                    operation["operationId"],
                    status,
                )
