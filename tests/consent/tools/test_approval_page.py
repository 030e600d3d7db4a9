"""request_consent with URL elicitation: the approval page first, then the same request, and never an approval."""

from typing import Any

import pytest

from consent.decisions import actions as decision_actions
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.consent.api.addresses import request_body
from tests.consent.decisions import approval
from tests.consent.tools.hosts import NEWEST, PREVIOUS, URL_ELICITATION, Host, error_of
from tests.factories import AppFactory, PersonFactory, Vault, give_vault

ANSWERS: list[Any] = [{"action": "accept"}, {"action": "decline"}, {"action": "cancel"}]


@pytest.fixture
def eliciting_host(host: Host) -> Host:
    """A host that declares URL elicitation."""
    host.capabilities = URL_ELICITATION
    return host


def first_round(host: Host, arguments: dict[str, Any]) -> dict[str, Any]:
    result = host.call("request_consent", arguments)
    assert result["resultType"] == "input_required", result
    return result


def again(host: Host, arguments: dict[str, Any], first: dict[str, Any], answer: Any = None) -> dict[str, Any]:
    """The retry, with the host's answer to every page."""
    answers = dict.fromkeys(first["inputRequests"], ANSWERS[0] if answer is None else answer)
    return {"arguments": arguments, "inputResponses": answers, "requestState": first["requestState"]}


def test_the_page_comes_first_and_the_request_stands_already(eliciting_host: Host, vault: Vault) -> None:
    result = first_round(eliciting_host, request_body(vault.user))

    request = ConsentRequest.objects.get()
    ((_, page),) = result["inputRequests"].items()
    assert page["method"] == "elicitation/create"
    assert (page["params"]["mode"], page["params"]["url"]) == (
        "url",
        f"http://localhost:8000/consent/requests/{request.request_id}/",
    )
    assert request.status == "pending"
    assert request.request_id not in result["requestState"]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["action"])
def test_whatever_the_host_answers_the_retry_answers_with_the_same_request(
    answer: Any, eliciting_host: Host, vault: Vault
) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    retry = again(eliciting_host, request_body(vault.user), first, answer)

    second = eliciting_host.answer("request_consent", **retry)

    request = ConsentRequest.objects.get()
    assert (second["request_id"], second["status"], request.status) == (request.request_id, "pending", "pending")
    eliciting_host.capabilities = None
    at_once = eliciting_host.answer("request_consent", request_body(vault.user))
    second.pop("expires_in"), at_once.pop("expires_in")
    assert second == at_once


def test_a_decision_in_between_is_reported_and_nothing_new_is_asked(eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    request = ConsentRequest.objects.get()
    decision_actions.approve(request_id=request.request_id, by=vault.user, body=approval(request, vault))

    second = eliciting_host.answer("request_consent", **again(eliciting_host, request_body(vault.user), first))

    assert (second["request_id"], second["status"]) == (request.request_id, "approved")
    assert ConsentRequest.objects.count() == 1


def test_every_process_opens_the_state_of_another(eliciting_host: Host, vault: Vault) -> None:
    from consent.tools.server import server_of_tools

    first = first_round(eliciting_host, request_body(vault.user))
    server_of_tools.cache_clear()  # as good as another process: the keys are made from the settings anew

    assert (
        eliciting_host.answer("request_consent", **again(eliciting_host, request_body(vault.user), first))["status"]
        == "pending"
    )


def test_state_of_the_key_before_opens_after_a_rotation(eliciting_host: Host, vault: Vault, settings: Any) -> None:
    from cryptography.fernet import Fernet

    from consent.tools.server import server_of_tools

    first = first_round(eliciting_host, request_body(vault.user))
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]
    server_of_tools.cache_clear()
    try:
        assert (
            eliciting_host.answer("request_consent", **again(eliciting_host, request_body(vault.user), first))["status"]
            == "pending"
        )
    finally:
        server_of_tools.cache_clear()


def refused_state(host: Host, retry: dict[str, Any]) -> None:
    answer = host.send("tools/call", {"name": "request_consent", **retry})
    assert error_of(answer) == (400, -32602)


def test_state_is_bound_to_the_app(eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    stranger = Host.of(AppFactory())
    stranger.capabilities = URL_ELICITATION

    refused_state(stranger, again(eliciting_host, request_body(vault.user), first))


def test_another_token_of_the_same_app_may_go_on(eliciting_host: Host, app: App, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    colleague = Host.of(app)

    assert (
        colleague.answer("request_consent", **again(eliciting_host, request_body(vault.user), first))["status"]
        == "pending"
    )


def test_state_is_bound_to_the_person_and_to_every_argument(eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    other = give_vault(PersonFactory())

    refused_state(eliciting_host, again(eliciting_host, request_body(other.user), first))
    refused_state(
        eliciting_host, again(eliciting_host, request_body(vault.user, purpose="Something else entirely"), first)
    )
    refused_state(eliciting_host, again(eliciting_host, request_body(vault.user, max_reads=1), first))


@pytest.mark.parametrize(
    "spoil",
    [
        # six bits of the tag: the last letters may have been these already
        lambda state: state[:-10] + ("A" if state[-10] != "A" else "B") + state[-9:],
        lambda state: "v1.AAAA",
        lambda state: "",
        str.upper,
    ],
)
def test_spoilt_state_is_refused(spoil: Any, eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    retry = again(eliciting_host, request_body(vault.user), first)

    refused_state(eliciting_host, {**retry, "requestState": spoil(retry["requestState"])})


def test_state_of_this_tool_is_no_use_to_another(eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))

    answer = eliciting_host.send(
        "tools/call", {"name": "end_consent", "requestState": first["requestState"], "arguments": {"request_id": "x"}}
    )

    assert error_of(answer) == (400, -32602)


def test_answers_without_state_end_the_rounds(eliciting_host: Host, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    retry = again(eliciting_host, request_body(vault.user), first)
    del retry["requestState"]

    assert eliciting_host.answer("request_consent", **retry)["status"] == "pending"
    assert ConsentRequest.objects.count() == 1


@pytest.mark.parametrize("capabilities", [None, {}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_a_host_that_opens_no_pages_is_answered_at_once(capabilities: Any, host: Host, vault: Vault) -> None:
    host.capabilities = capabilities

    assert host.answer("request_consent", request_body(vault.user))["status"] == "pending"


def test_the_previous_revision_is_answered_at_once(eliciting_host: Host, vault: Vault) -> None:
    eliciting_host.revision = PREVIOUS

    assert eliciting_host.answer("request_consent", request_body(vault.user))["status"] == "pending"


def test_a_refusal_opens_no_page(eliciting_host: Host, vault: Vault) -> None:
    assert eliciting_host.revision == NEWEST
    assert eliciting_host.problem("request_consent", request_body(vault.user, purpose="x"))["code"] == "invalid_request"


def test_a_token_that_lost_its_permission_gets_no_second_round(eliciting_host: Host, app: App, vault: Vault) -> None:
    first = first_round(eliciting_host, request_body(vault.user))
    reader = Host.of(app, permissions=["read"])

    problem = reader.problem("request_consent", **again(eliciting_host, request_body(vault.user), first))

    assert problem["code"] == "insufficient_scope"
