"""The checks of contract 1.1 at every developer address, and their order."""

from datetime import timedelta
from io import BytesIO

import pytest
from django.test import Client
from django.utils import timezone

from developers.models import App, AppStatus, DeveloperToken
from tests.callers import API, Developer, JsonClient
from tests.consent.api.addresses import ADDRESSES, OPEN, POSTS, Address, name_of, problem
from tests.consent.api.test_budgets import rate_limits
from tests.factories import AppFactory

every_address = pytest.mark.parametrize("address", ADDRESSES, ids=name_of)
every_post = pytest.mark.parametrize("address", POSTS, ids=name_of)
stranger = JsonClient(Client(), prefix=API)


def with_query_token(address: Address, token: str) -> str:
    return f"{'&' if '?' in address.path else '?'}token={token}"


@every_address
def test_a_good_token_gets_through_in_the_header_and_in_the_query(address: Address, api: Developer) -> None:
    in_header = address.call(api)
    in_query = address.call(stranger, suffix=with_query_token(address, api.token))

    assert in_header.status_code not in (401, 403, 405)
    assert (in_query.status_code, in_query.get("WWW-Authenticate")) == (in_header.status_code, None)


@every_address
@pytest.mark.parametrize(
    "token",
    ["", "nonsense", "cr_live_12345678_" + "x" * 43, "%00", "%F0%9F%92%A9", "%ff", "cr_live_" + "A" * 5000],
    ids=["empty", "no form", "unknown", "NUL", "emoji", "no UTF-8", "long"],
)
def test_a_token_that_is_none_is_401_before_anything_else(address: Address, token: str, db: None) -> None:
    answer = address.call(stranger, suffix=with_query_token(address, token), body=b"not json", media_type="text/plain")

    assert problem(answer) == (401, "invalid_token")
    assert answer["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@every_address
def test_no_token_and_a_foreign_scheme_are_401(address: Address, db: None) -> None:
    assert problem(address.call(stranger)) == (401, "invalid_token")
    assert problem(address.call(stranger, headers={"Authorization": "Basic eDp5"})) == (401, "invalid_token")
    assert problem(address.call(stranger, headers={"Authorization": "Bearer"})) == (401, "invalid_token")
    assert problem(address.call(stranger, headers={"Authorization": "Bearer \x00\xff"})) == (401, "invalid_token")


@every_address
@pytest.mark.parametrize(
    "fields",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now() - timedelta(seconds=1)},
        {"app_status": AppStatus.CLOSED},
    ],
    ids=["expired", "revoked", "closed app"],
)
def test_a_token_that_is_over_is_401(address: Address, fields: dict[str, object], db: None) -> None:
    app = AppFactory(status=fields.get("app_status", AppStatus.ACTIVE))
    over = Developer.of(app, **{name: value for name, value in fields.items() if name != "app_status"})

    assert problem(address.call(over)) == (401, "invalid_token")


def test_revocation_is_immediate_and_an_overlap_is_honoured(api: Developer) -> None:
    assert api.get("/scope-catalog").status_code == 200

    DeveloperToken.objects.update(revoked_at=timezone.now() + timedelta(hours=24))
    assert api.get("/scope-catalog").status_code == 200

    DeveloperToken.objects.update(revoked_at=timezone.now())
    assert problem(api.get("/scope-catalog")) == (401, "invalid_token")


@every_address
def test_both_at_once_or_a_repeated_one_is_400(address: Address, api: Developer) -> None:
    once = with_query_token(address, api.token)
    header = {"Authorization": f"Bearer {api.token}, Bearer {api.token}"}

    assert problem(address.call(api, suffix=once)) == (400, "invalid_request")
    assert problem(address.call(api, suffix=with_query_token(address, ""))) == (400, "invalid_request")
    assert problem(address.call(stranger, suffix=f"{once}&token={api.token}")) == (400, "invalid_request")
    assert problem(address.call(stranger, headers=header)) == (400, "invalid_request")


@every_address
def test_a_header_only_token_is_refused_in_the_query(address: Address, app: App) -> None:
    careful = Developer.of(app, header_only=True)

    assert problem(address.call(stranger, suffix=with_query_token(address, careful.token))) == (401, "invalid_token")
    assert address.call(careful).status_code not in (401, 403)


@every_address
@pytest.mark.parametrize(
    "header", [{"Origin": "https://app.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-origin"}]
)
def test_a_browser_is_refused_before_its_token_is_looked_at(
    address: Address, header: dict[str, str], api: Developer
) -> None:
    for caller in (api, stranger):
        answer = address.call(caller, headers=header)
        assert problem(answer) == (403, "browser_path_refused")
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@every_address
def test_a_preflight_gets_no_cors_header(address: Address, db: None) -> None:
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": address.method}

    answer = address.call(stranger, method="OPTIONS", headers=headers)

    assert problem(answer) == (405, "method_not_allowed")
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@every_address
def test_a_suspended_app_is_403_before_its_permissions(address: Address, db: None) -> None:
    suspended = Developer.of(AppFactory(status=AppStatus.SUSPENDED), permissions=[])

    assert problem(address.call(suspended)) == (403, "app_suspended")


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("GET", "/consent-status", "status-polls"),
        ("GET", "/consent-events", "streams-and-waits"),
        ("GET", "/people", "people-searches"),
        ("POST", "/connections", "connections"),
        ("GET", "/connections/con_a", "status-polls"),
    ],
)
def test_whoever_may_not_call_is_told_of_the_limit_too(method: str, path: str, limit: str, db: None) -> None:
    suspended = Developer.of(AppFactory(status=AppStatus.SUSPENDED))

    for caller in (suspended, Developer.of(AppFactory(), permissions=[])):
        answer = caller.send(method, path)
        assert (answer.status_code, list(rate_limits(answer))) == (403, [limit])


@every_address
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"])
def test_another_method_is_405_before_the_token(address: Address, method: str, db: None) -> None:
    if method == address.method:
        return
    answer = address.call(stranger, method=method, headers={"Origin": "https://app.example"})

    assert (answer.status_code, answer["Allow"]) == (405, address.method)
    if method != "HEAD":
        assert problem(answer) == (405, "method_not_allowed")


@every_address
def test_a_trailing_slash_is_404_and_never_a_redirect(address: Address, api: Developer) -> None:
    path, _, query = address.path.partition("?")
    for extra in ("/", "//", "/more", "%2F"):
        answer = api.send(address.method, f"{path}{extra}?{query}", b"{}")
        assert problem(answer) in ((404, "not_found"), (404, "unknown_user"), (404, "unknown_receipt")), extra
        assert answer.status_code == 404


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/user-scopes", "/user-scopes/", "/receipts/"])
def test_an_unknown_path_is_404_for_strangers_too(path: str, db: None) -> None:
    assert problem(stranger.get(path)) == (404, "not_found")


@every_post
def test_the_media_type_comes_after_permission_and_before_size(address: Address, app: App, api: Developer) -> None:
    big = b" " * (64 * 1024 + 1)
    lacking = Developer.of(app, permissions=["read"])

    for media_type in ("", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"):
        answer = address.call(api, body=big, media_type=media_type)
        assert problem(answer) == (415, "unsupported_media_type"), media_type
    assert problem(address.call(lacking, media_type="text/plain")) == (403, "insufficient_scope")
    squeezed = address.call(api, headers={"Content-Encoding": "gzip"})
    assert problem(squeezed) == (415, "unsupported_media_type")


@every_post
def test_the_size_comes_before_the_content(address: Address, api: Developer) -> None:
    assert problem(address.call(api, body=b" " * (64 * 1024 + 1))) == (413, "payload_too_large")
    assert problem(address.call(api, body=b" " * (64 * 1024))) == (400, "invalid_request")


@every_post
def test_a_charset_of_utf8_is_fine(address: Address, api: Developer) -> None:
    answer = address.call(api, media_type='Application/JSON; charset="UTF-8"')

    assert answer.status_code != 415


@every_address
@pytest.mark.parametrize(
    "suffix", ["bogus=1", "token2=x", "a=1&a=1", "%ff=1", "x=%00", "x=%ED%A0%80"],
    ids=["unknown", "like a token", "repeated", "no UTF-8", "NUL", "surrogate"],
)  # fmt: skip
def test_a_member_that_does_not_belong_in_the_query_is_400(address: Address, suffix: str, api: Developer) -> None:
    answer = address.call(api, suffix=("&" if "?" in address.path else "?") + suffix)

    assert problem(answer) == (400, "invalid_request")
    assert len(answer.json()["errors"]) == 1


@pytest.mark.parametrize("name", ["request_id", "limit"])
def test_a_repeated_known_member_is_400(name: str, api: Developer) -> None:
    path = "/consent-requests" if name == "limit" else "/consent-status"

    answer = api.get(f"{path}?{name}=1&{name}=1")

    assert problem(answer) == (400, "invalid_request")
    assert answer.json()["errors"] == [{"field": name, "code": "repeated", "message": "Give this member once."}]


@every_address
def test_every_answer_is_named_and_not_stored(address: Address, api: Developer) -> None:
    for answer in (
        address.call(api),
        address.call(stranger),
        address.call(stranger, method="DELETE"),
        api.get("/nothing"),
    ):
        assert len(answer["X-Request-Id"]) >= 8
        assert answer["Cache-Control"] == "no-store"
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
        assert "Set-Cookie" not in answer.headers
        assert not answer.cookies


def test_a_given_request_id_is_kept_where_it_has_the_form(api: Developer) -> None:
    kept = api.get("/scope-catalog", headers={"X-Request-Id": "trip-2026.11.20_a"})
    replaced = api.get("/scope-catalog", headers={"X-Request-Id": "<script>alert(1)</script>"})

    assert kept["X-Request-Id"] == "trip-2026.11.20_a"
    assert "<" not in replaced["X-Request-Id"]


@pytest.mark.parametrize("path", OPEN)
def test_the_open_addresses_take_get_from_anybody_and_nothing_else(path: str, db: None) -> None:
    anybody = JsonClient(Client())

    assert anybody.get(path).status_code == (404 if "checkpoint" in path else 200)
    assert problem(anybody.post(path)) == (405, "method_not_allowed")
    assert anybody.post(path)["Allow"] == "GET, HEAD"
    assert problem(anybody.get(f"{path}?bogus=1")) == (400, "invalid_request")
    answer = anybody.get(path, headers={"Origin": "https://app.example"})
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_the_use_of_a_token_is_written_hourly(api: Developer, django_assert_num_queries: object) -> None:
    def last_used() -> object:
        return DeveloperToken.objects.values_list("last_used_at", flat=True).get()

    api.get("/scope-catalog")
    first = last_used()
    api.get("/scope-catalog")
    assert first is not None
    assert last_used() == first

    DeveloperToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=61))
    api.get("/scope-catalog")
    assert last_used() > timezone.now() - timedelta(minutes=1)


@every_post
@pytest.mark.parametrize(("size", "status"), [(64 * 1024, 400), (64 * 1024 + 1, 413), (500_000, 413)])
def test_a_body_that_comes_in_chunks_is_read_and_bounded_too(
    address: Address, size: int, status: int, api: Developer
) -> None:
    """Chunked bodies have no Content-Length; the server hands the stream over and ends it by itself."""
    body = b'{"bogus": "' + b"x" * (size - 13) + b'"}'

    answer = api.client.generic(
        address.method,
        API + address.path,
        headers={**api.headers, "Content-Type": "application/json", "Transfer-Encoding": "chunked"},
        **{"wsgi.input": BytesIO(body)},
    )

    assert len(body) == size
    assert problem(answer)[0] == status
    if status == 400:
        assert "empty" not in answer.json()["detail"]
