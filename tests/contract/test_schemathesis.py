"""The live addresses against their own document: whatever is sent, the answer is one that the document names.

Seeded, so that a failure comes again. What is sent is drawn from the document: what fits, and what does not.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from config.wsgi import application
from consent.api import samples
from developers.models import App
from tests.callers import Developer
from tests.factories import (
    AuditCheckpointFactory,
    ConsentRequestFactory,
    ExportFactory,
    PersonFactory,
    ReceiptFactory,
    give_vault,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


schema = schemathesis.openapi.from_wsgi("/api/schema/", application)
schema = schema.exclude(path="/api/v1/consent-events")  # its answer never ends


@pytest.fixture(autouse=True)
def _own_connection(db: None) -> Iterator[None]:
    """Django would close the connection after each call, and with it the transaction that the test rolls back."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def story(app: App, settings: Any) -> Developer:
    """What the document's examples speak of exists, so that they are answered with 200 and 201."""
    settings.UNKNOWN_USERS_PER_HOUR = 10**9
    settings.STATUS_POLL_BURST = settings.PENDING_REQUESTS_PER_PERSON = settings.DENIAL_COOLDOWN_SECONDS = 0
    settings.REQUESTS_PER_PERSON_PER_DAY = settings.REQUEST_BUDGET_PER_HOUR = 0
    person = PersonFactory(public_id=samples.USER_ID)
    give_vault(person)
    request = ConsentRequestFactory(app=app, user=person, request_id=samples.REQUEST_ID, status="approved")
    ExportFactory(grant__request=request)
    ReceiptFactory(request=request, receipt_id=samples.RECEIPT_ID)
    AuditCheckpointFactory()
    return Developer.of(app)


@schema.parametrize()
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_answer_is_one_that_the_document_names(case: Any, story: Developer) -> None:
    answer = case.call(headers={"Authorization": f"Bearer {story.token}"})

    assert answer.headers["cache-control"] == ["no-store"]
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    case.validate_response(answer, checks=CHECKS)
