"""The OpenAPI document: valid, complete, and true of itself."""

from typing import Any

import pytest
import yaml
from django.test import Client
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from consent.api.openapi import document
from consent.api.urls import urlpatterns
from consent.schemas import EndConsentBody, RequestConsentBody
from developers.models import Permission

OPERATIONS = [
    pytest.param(path, method, operation, id=operation["operationId"])
    for path, item in document()["paths"].items()
    for method, operation in item.items()
]
every_operation = pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document()["components"]})


def test_it_is_valid_openapi_3_1() -> None:
    validate_schema(document())

    assert document()["openapi"].startswith("3.1.")
    assert document()["servers"] == [{"url": "http://localhost:8000"}]


def test_json_and_yaml_are_the_same_document(db: None) -> None:
    as_json = Client().get("/api/schema/")
    by_query = Client().get("/api/schema/?format=yaml")
    by_accept = Client().get("/api/schema/", headers={"Accept": "application/yaml"})
    json_first = Client().get("/api/schema/?format=json", headers={"Accept": "application/yaml"})

    assert as_json["Content-Type"] == json_first["Content-Type"] == "application/json"
    assert by_query["Content-Type"] == by_accept["Content-Type"] == "application/yaml"
    assert as_json.json() == json_first.json() == document()
    assert yaml.safe_load(by_query.content) == yaml.safe_load(by_accept.content) == document()


@pytest.mark.parametrize("query", ["format=xml", "format=", "bogus=1"])
def test_another_form_is_400(query: str, db: None) -> None:
    assert Client().get(f"/api/schema/?{query}").status_code == 400


def test_every_address_is_described() -> None:
    described = {path.lstrip("/") for path in document()["paths"]}

    assert described == {str(route.pattern).replace("<str:", "{").replace(">", "}") for route in urlpatterns}


def test_both_ways_of_sending_the_token_are_declared() -> None:
    schemes = document()["components"]["securitySchemes"]

    assert {name: (scheme["type"], scheme.get("in")) for name, scheme in schemes.items()} == {
        "bearer": ("http", None),
        "query": ("apiKey", "query"),
    }


@every_operation
def test_an_operation_is_complete(path: str, method: str, operation: dict[str, Any]) -> None:
    codes = {
        example["value"]["code"]
        for response in operation["responses"].values()
        for example in response.get("content", {}).get("application/problem+json", {}).get("examples", {}).values()
    }

    assert operation["summary"]
    assert operation["description"]
    assert {"invalid_request", "not_found", "method_not_allowed", "temporarily_unavailable"} <= codes
    if path.startswith("/api/v1/"):
        assert operation["security"] == [{"bearer": []}, {"query": []}]
        assert {"invalid_token", "insufficient_scope", "app_suspended", "browser_path_refused"} <= codes
        assert any(f"`{permission}`" in operation["description"] for permission in Permission.values)
    else:
        assert operation["security"] == []
    if method == "post":
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


def test_patterns_are_in_the_dialect_of_json_schema() -> None:
    assert "\\Z" not in str(document())
