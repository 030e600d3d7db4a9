"""The live addresses against their own document: whatever is sent by whomever, the answer is one that it names.

Seeded, so that a failure comes again. What is sent is drawn from the document: what fits, and what does not. Every
case is sent by callers whom the operation lets in and by others, and undone, so that each meets the same story.
"""

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from agents_proxy.agents import AGENTS
from config.wsgi import application
from consent.api import leaked_tokens
from consent.requests.receipt_jsonld import JSON_LD
from tests.agents_proxy.agent_server import speaking
from tests.contract.story import Caller, callers_of
from tests.fakes.aggregator import aggregating
from tests.undone import undone

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
OF_APPS = r"^/api/v1/(?!manage/|leaked-tokens)"
AT_ONCE = 1e-9  # seconds: a stream, whose answer never ends, is read as far as its first line
CASES = 20_000
answered: Counter[tuple[str, int]] = Counter()  # by caller and status

schema = schemathesis.openapi.from_wsgi("/api/schema/", application)
schema.config.generation.update(with_security_parameters=False)  # the callers have their own
of_test_apps = schema.include(path_regex=OF_APPS)
elsewhere = schema.exclude(path_regex=r"^/api/v1/sandbox/")


def examples(most: int, *phases: Phase) -> settings:
    """So many cases of an operation at most, beside those that its own examples and bounds make (`Phase.explicit`)."""
    return settings(
        max_examples=most,
        phases=phases or settings().phases,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


FEW, MANY = examples(3), examples(25)
DRAWN = examples(3, Phase.generate)  # what the bounds make goes to the live app, and to both in the long form
# beside a parameter of pytest's own each case is named after its operation: a run's processes tell cases by their names
AT_LIVE_APP, AT_TEST_APP = (pytest.mark.parametrize("app", [app], scope="module") for app in ("live", "test"))


@pytest.fixture(scope="module")
def others() -> Iterator[dict[str, Any]]:
    """The settings with which whoever is asked beyond this service answers."""
    with speaking() as agents, aggregating() as bank:
        one = agents.settings()["core"]
        everyone = {name: {**one, "url": f"{agents.address}/{name}"} for name in AGENTS}
        yield {"AGENTS": everyone, "AGGREGATOR": bank.settings()}


@pytest.fixture(autouse=True)
def _no_limits(settings: Any, others: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is refused for calling often."""
    settings.STATUS_POLL_BURST = settings.PENDING_REQUESTS_PER_PERSON = settings.DENIAL_COOLDOWN_SECONDS = 0
    settings.REQUESTS_PER_PERSON_PER_DAY = settings.REQUEST_BUDGET_PER_HOUR = settings.LEAKED_TOKENS_PER_HOUR = 0
    settings.UNKNOWN_USERS_PER_HOUR = settings.A2A_SESSION_BURST = settings.A2A_ADDRESS_BURST = 0
    settings.MANAGEMENT_CALLS_PER_HOUR = 0
    settings.AGENTS, settings.AGGREGATOR = others["AGENTS"], others["AGGREGATOR"]
    monkeypatch.setattr(leaked_tokens, "_ANSWERS_AFTER", 0.0)


@pytest.fixture(scope="module")
def callers(app: str, django_db_setup: None, django_db_blocker: Any) -> Iterator[list[Caller]]:
    """One story for all the cases of an app's mode: each case is undone by itself.

    Django would close the connection after each call, and with it the transaction that undoes the story.
    """
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        with undone(django_db_blocker):
            yield callers_of(app)
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def sent_by(caller: Caller, case: Any) -> None:
    with transaction.atomic():
        answer = case.call(headers=caller.headers, params=caller.params, cookies=caller.cookies, timeout=AT_ONCE)
        transaction.set_rollback(True)
    answered[caller.name, answer.status_code] += 1
    assert answer.headers["cache-control"] == ["no-store"], caller.name
    assert not [name for name in answer.headers if name.startswith("access-control-")], caller.name
    if answer.headers.get("content-type") == [JSON_LD]:
        # told in words: as a second media type it would make the answer a union in the types of clients
        assert answer.status_code == 200, caller.name
        assert JSON_LD in case.operation.definition.raw["description"]
    else:
        case.validate_response(answer, checks=CHECKS)
    if not caller.is_let_in(case.operation.definition.raw.get("security", [])):
        assert answer.status_code >= 400, caller.name


def sent_by_some(callers: list[Caller], case: Any) -> None:
    """By one of those whom the operation may let in, and by one of the others: which ones, the case itself says."""
    security = case.operation.definition.raw.get("security", [])
    turn = zlib.crc32(repr((case.path_parameters, case.query, case.headers, case.body)).encode())
    welcome = [caller for caller in callers if caller.is_let_in(security)]
    others = [caller for caller in callers if caller not in welcome]
    for several in filter(None, (welcome, others)):
        sent_by(several[turn % len(several)], case)


@AT_LIVE_APP
@elsewhere.parametrize()
@FEW
def test_every_answer_is_one_that_the_document_names(case: Any, callers: list[Caller]) -> None:
    sent_by_some(callers, case)


@AT_TEST_APP
@of_test_apps.parametrize()
@DRAWN
def test_a_test_app_is_answered_as_the_document_says(case: Any, callers: list[Caller]) -> None:
    sent_by_some(callers, case)


@pytest.mark.long("every caller sends every case", only=True)
@AT_LIVE_APP
@elsewhere.parametrize()
@MANY
def test_every_answer_to_everybody(case: Any, callers: list[Caller]) -> None:
    for caller in callers:
        sent_by(caller, case)


@pytest.mark.long("every caller sends every case", only=True)
@AT_TEST_APP
@of_test_apps.parametrize()
@MANY
def test_every_answer_to_everybody_at_a_test_app(case: Any, callers: list[Caller]) -> None:
    for caller in callers:
        sent_by(caller, case)


@pytest.mark.long("counts what the others sent", only=True)
def test_so_many_cases_were_sent() -> None:
    lines = [f"{number:>7} answers {status} to {caller}" for (caller, status), number in sorted(answered.items())]
    print(f"\n{sum(answered.values())} cases", *lines, sep="\n")  # noqa: T201  # for whoever runs the long form

    assert sum(answered.values()) >= CASES
