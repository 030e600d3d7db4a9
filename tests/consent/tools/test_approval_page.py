"""request_consent on a host that opens pages: the page first, then the same request, and never an approval."""

from typing import Any

import pytest

from consent import actions
from consent.models import ConsentRequest
from developers.models import App
from tests.consent.api.addresses import asked
from tests.consent.decisions import approval
from tests.consent.tools.hosts import NEWEST, OPENS_PAGES, PREVIOUS, Host, error_of
from tests.factories import AppFactory, PersonFactory, Vault, give_vault

ANSWERS: list[Any] = [{"action": "accept"}, {"action": "decline"}, {"action": "cancel"}]


@pytest.fixture
def opener(host: Host) -> Host:
    """A host that declares that it opens pages."""
    host.able = OPENS_PAGES
    return host


def first_round(host: Host, arguments: dict[str, Any]) -> dict[str, Any]:
    result = host.call("request_consent", arguments)
    assert result["resultType"] == "input_required", result
    return result


def again(host: Host, arguments: dict[str, Any], first: dict[str, Any], answer: Any = None) -> dict[str, Any]:
    """The retry, with the host's answer to every page."""
    answers = dict.fromkeys(first["inputRequests"], ANSWERS[0] if answer is None else answer)
    return {"arguments": arguments, "inputResponses": answers, "requestState": first["requestState"]}


def test_the_page_comes_first_and_the_request_stands_already(opener: Host, vault: Vault) -> None:
    result = first_round(opener, asked(vault.user))

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
def test_whatever_the_host_answers_the_retry_tells_of_the_same_request(answer: Any, opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    retry = again(opener, asked(vault.user), first, answer)

    told = opener.told("request_consent", **retry)

    request = ConsentRequest.objects.get()
    assert (told["request_id"], told["status"], request.status) == (request.request_id, "pending", "pending")
    opener.able = None
    at_once = opener.told("request_consent", asked(vault.user))
    told.pop("expires_in"), at_once.pop("expires_in")
    assert told == at_once


def test_a_decision_in_between_is_told_and_nothing_new_is_asked(opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    request = ConsentRequest.objects.get()
    actions.approve(request_id=request.request_id, by=vault.user, body=approval(request, vault))

    told = opener.told("request_consent", **again(opener, asked(vault.user), first))

    assert (told["request_id"], told["status"]) == (request.request_id, "approved")
    assert ConsentRequest.objects.count() == 1


def test_every_process_opens_the_state_of_another(opener: Host, vault: Vault) -> None:
    from consent.tools.server import engine

    first = first_round(opener, asked(vault.user))
    engine.cache_clear()  # as good as another process: the keys are made from the settings anew

    assert opener.told("request_consent", **again(opener, asked(vault.user), first))["status"] == "pending"


def test_state_of_the_key_before_opens_after_a_rotation(opener: Host, vault: Vault, settings: Any) -> None:
    from cryptography.fernet import Fernet

    from consent.tools.server import engine

    first = first_round(opener, asked(vault.user))
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]
    engine.cache_clear()
    try:
        assert opener.told("request_consent", **again(opener, asked(vault.user), first))["status"] == "pending"
    finally:
        engine.cache_clear()


def refused_state(host: Host, retry: dict[str, Any]) -> None:
    answer = host.send("tools/call", {"name": "request_consent", **retry})
    assert error_of(answer) == (400, -32602)


def test_state_is_bound_to_the_app(opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    stranger = Host.of(AppFactory())
    stranger.able = OPENS_PAGES

    refused_state(stranger, again(opener, asked(vault.user), first))


def test_another_token_of_the_same_app_may_go_on(opener: Host, app: App, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    colleague = Host.of(app)

    assert colleague.told("request_consent", **again(opener, asked(vault.user), first))["status"] == "pending"


def test_state_is_bound_to_the_person_and_to_every_argument(opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    other = give_vault(PersonFactory())

    refused_state(opener, again(opener, asked(other.user), first))
    refused_state(opener, again(opener, asked(vault.user, purpose="Something else entirely"), first))
    refused_state(opener, again(opener, asked(vault.user, max_reads=1), first))


@pytest.mark.parametrize(
    "spoil", [lambda state: state[:-2] + "AA", lambda state: "v1.AAAA", lambda state: "", str.upper]
)
def test_spoilt_state_is_refused(spoil: Any, opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    retry = again(opener, asked(vault.user), first)

    refused_state(opener, {**retry, "requestState": spoil(retry["requestState"])})


def test_state_of_this_tool_is_no_use_to_another(opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))

    answer = opener.send(
        "tools/call", {"name": "end_consent", "requestState": first["requestState"], "arguments": {"request_id": "x"}}
    )

    assert error_of(answer) == (400, -32602)


def test_answers_without_state_end_the_rounds(opener: Host, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    retry = again(opener, asked(vault.user), first)
    del retry["requestState"]

    assert opener.told("request_consent", **retry)["status"] == "pending"
    assert ConsentRequest.objects.count() == 1


@pytest.mark.parametrize("able", [None, {}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_a_host_that_opens_no_pages_is_answered_at_once(able: Any, host: Host, vault: Vault) -> None:
    host.able = able

    assert host.told("request_consent", asked(vault.user))["status"] == "pending"


def test_the_previous_revision_is_answered_at_once(opener: Host, vault: Vault) -> None:
    opener.revision = PREVIOUS

    assert opener.told("request_consent", asked(vault.user))["status"] == "pending"


def test_a_refusal_opens_no_page(opener: Host, vault: Vault) -> None:
    assert opener.revision == NEWEST
    assert opener.refused("request_consent", asked(vault.user, purpose="x"))["code"] == "invalid_request"


def test_a_token_that_lost_its_permission_gets_no_second_round(opener: Host, app: App, vault: Vault) -> None:
    first = first_round(opener, asked(vault.user))
    reader = Host.of(app, permissions=["read"])

    problem = reader.refused("request_consent", **again(opener, asked(vault.user), first))

    assert problem["code"] == "insufficient_scope"
