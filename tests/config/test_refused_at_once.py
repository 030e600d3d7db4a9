"""What Django refuses before any view, such as a host that is none of ours: to programs as to people, and in a line."""

import json
import logging

import pytest
from django.test import Client

from config.log_lines import LogLines

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("host", "path", "why"),
    [
        ("elsewhere.example", "/", "elsewhere.example"),
        ("localhost", f"/accounts/login/?{'&a' * 2000}", "The number of GET/POST parameters exceeded"),
    ],
    ids=["a wrong host", "too many parameters"],
)
def test_the_log_says_it_in_a_line_without_a_stack(
    caplog: pytest.LogCaptureFixture, host: str, path: str, why: str
) -> None:
    with caplog.at_level(logging.INFO):
        assert Client(headers={"host": host}).get(path).status_code in (400, 413)

    (refused,) = [record for record in caplog.records if record.name.startswith("django.security.")]
    line = json.loads(LogLines().format(refused))
    assert why in line["event"]
    assert "exception" not in line
