"""Forms and where they came from: every page's policy is `no-referrer`, under which browsers post `Origin: null`."""

import pytest

from consent.requests.models import ConsentRequest
from tests.callers import signed_in
from tests.factories import ConsentRequestFactory

OWN = "http://testserver"


@pytest.fixture
def consent_request(person):
    return ConsentRequestFactory(user=person)


def _deny(consent_request, **headers):
    """The form of the review page, with its token, and what a browser says about where it came from."""
    caller = signed_in(consent_request.user, enforce_csrf=True)
    token = caller.get("/consent/").context["csrf_token"]
    address = f"/consent/requests/{consent_request.request_id}/deny/"
    answer = caller.client.post(address, {"csrfmiddlewaretoken": str(token)}, headers=headers)
    return answer.status_code, ConsentRequest.objects.get(pk=consent_request.pk).status


@pytest.mark.parametrize(
    "headers",
    [{"Origin": OWN}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}, {}],
    ids=["own", "null from ourselves", "no origin over plain HTTP"],
)
def test_form_of_our_own_page_is_taken(consent_request, headers):
    assert _deny(consent_request, **headers) == (302, "denied")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "null", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null", "Sec-Fetch-Site": "none"},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
    ids=str,
)
def test_form_of_another_page_is_refused_even_with_the_token(consent_request, headers):
    assert _deny(consent_request, **headers) == (403, "pending")


def test_token_is_needed_from_our_own_page_too(consent_request):
    answer = signed_in(consent_request.user, enforce_csrf=True).client.post(
        f"/consent/requests/{consent_request.request_id}/deny/",
        headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    )
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/livez", "/api/v1/scope-catalog", "/api/docs/"])
def test_no_address_is_told_to_others(client_json, db, path):
    answer = client_json.get(path)
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert b'name="referrer"' not in answer.content
