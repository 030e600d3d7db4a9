"""No tool, with whatever arguments, state or answers of a host, ever approves."""

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.api.addresses import request_body
from tests.consent.tools.hosts import NEWEST, PREVIOUS, TOOLS, URL_ELICITATION, Host
from tests.factories import ConsentRequestFactory, Vault

NAMES = st.sampled_from(
    [
        "request_id", "user_id", "scope", "wait_seconds", "decision", "approve", "approved", "status", "jwe", "sources",
        "approved_attributes", "request_digest", "access_duration", "purpose", "receipt_id", "grant", "_meta",
        "requestState", "inputResponses", "template_id", "refresh_policy", "max_reads",
    ]
)  # fmt: skip
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=30),
)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def untouched() -> None:
    assert not ConsentRequest.objects.filter(status="approved").exists()
    assert not Grant.objects.exists()
    assert not Export.objects.exists()


@pytest.fixture
def waiting(app: App, vault: Vault) -> ConsentRequest:
    request: ConsentRequest = ConsentRequestFactory(app=app, user=vault.user)
    return request


def words(request: ConsentRequest) -> st.SearchStrategy[Any]:
    """What somebody who wants an approval would try, with everything that they can know."""
    return st.sampled_from(
        [
            request.request_id, request.user.public_id, request.scope, request.request_digest, "approve", "approved",
            "accept", True, 1, 0, list(request.attributes), {"decision": "approve"}, {"action": "accept"},
            {"status": "approved"}, request.connector_public_key, request.connector_key_id, "ECDH-ES+A256KW",
        ]
    )  # fmt: skip


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_arguments_approve(data: st.DataObject, app: App, host: Host, waiting: ConsentRequest, vault: Vault) -> None:
    tool = data.draw(st.sampled_from(TOOLS))
    base = data.draw(st.sampled_from([{}, {"request_id": waiting.request_id}, request_body(vault.user)]))
    more = data.draw(st.dictionaries(NAMES, words(waiting) | VALUES, max_size=4))
    wanted = {**base, **more}
    if isinstance(wanted.get("wait_seconds"), int):
        wanted["wait_seconds"] = 0  # what is held is held elsewhere
    host.revision = data.draw(st.sampled_from([NEWEST, PREVIOUS]))
    host.capabilities = data.draw(st.sampled_from([None, URL_ELICITATION]))

    answer = host.send("tools/call", {"name": tool, "arguments": wanted})

    assert answer.status_code in (200, 400, 413), answer.content
    assert b"-32603" not in answer.content
    untouched()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_answer_of_a_host_approves(data: st.DataObject, host: Host, waiting: ConsentRequest, vault: Vault) -> None:
    host.capabilities = URL_ELICITATION
    given_ = request_body(vault.user)
    first = host.call("request_consent", given_)
    (page,) = first["inputRequests"]
    action = data.draw(st.sampled_from(["accept", "decline", "cancel", "approve", "approved", ""]))
    content = data.draw(st.none() | st.dictionaries(NAMES, PLAIN, max_size=3))
    state = data.draw(st.sampled_from([first["requestState"], None]) | st.text(max_size=40))
    answers = {data.draw(st.sampled_from([page, "approval", "x"])): {"action": action, "content": content}}

    answer = host.send(
        "tools/call",
        {"name": "request_consent", "arguments": given_, "inputResponses": answers, "requestState": state},
    )

    assert answer.status_code in (200, 400), answer.content
    assert b"-32603" not in answer.content
    untouched()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(method=st.sampled_from(["tools/call", "tools/approve", "approve", "elicitation/create", "tasks/update"]),
       params=VALUES)  # fmt: skip
def test_no_message_approves_or_breaks(method: str, params: Any, host: Host, waiting: ConsentRequest) -> None:
    for revision in (NEWEST, PREVIOUS):
        body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = host.post(body, **{"MCP-Protocol-Version": revision})

        assert answer.status_code in (200, 202, 400, 404), answer.content
        assert b"-32603" not in answer.content
    untouched()
