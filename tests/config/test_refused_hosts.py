"""A request for a host that is none of ours: refused before any view, to programs as to people."""

import json
import logging

import pytest
from django.test import Client

from config.log_lines import LogLines

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/api/a2a/core", "/api/a2a/analyses", "/api/nothing"])
def test_programs_are_told_as_a_problem(path: str) -> None:
    answer = Client(headers={"host": "elsewhere.example"}).get(path)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "invalid_request"
    assert "elsewhere" not in answer.content.decode()


def test_people_see_a_page() -> None:
    answer = Client(headers={"host": "elsewhere.example"}).get("/")

    assert answer.status_code == 400
    assert "We could not read that request" in answer.content.decode()


def test_the_log_says_it_in_a_line_without_a_stack(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Client(headers={"host": "elsewhere.example"}).get("/")

    (refused,) = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    line = json.loads(LogLines().format(refused))
    assert "elsewhere.example" in line["event"]
    assert "exception" not in line
