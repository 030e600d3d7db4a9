"""What somebody tries who wants another's tokens, another's people, or another's browser."""

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from accounts.hooks import access_taken_back
from accounts.models import User
from common.limits import Limit
from consent.errors import UnknownUser
from developers.members.actions import remove_member
from developers.models import App, DeveloperToken, OAuthClient, OAuthSecret
from developers.oauth import actions, clients
from developers.tokens.leaks import report_leak
from tests.consent.tools.hosts import Host
from tests.factories import MemberFactory, PersonFactory, give_vault, invitation_of
from tests.oauth.hosts import MCP, ORIGIN, REST, OAuthHost, brought_back, browser_of, offered_back, register, send_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    found: User = PersonFactory()
    return found


@pytest.fixture
def host() -> OAuthHost:
    return OAuthHost.registered(client_name="Some host")


def works(token: str) -> bool:
    return Host(token).send("tools/list").status_code == 200


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


# --- code injection ---------------------------------------------------------------------------------------------------
def test_a_stolen_code_gives_nothing_without_its_verifier(user: User, host: OAuthHost) -> None:
    code = host.authorize(user)["code"]

    stolen = host.redeem(code, code_verifier="w" * 50)
    without = host.redeem(code, code_verifier="")
    plain = host.redeem(code, code_verifier=host.query()["code_challenge"])

    assert [refusal(one) for one in (stolen, without, plain)] == [(400, "invalid_grant")] * 3
    assert host.redeem(code).status_code == 200


def test_a_code_of_one_client_gives_another_nothing(user: User, host: OAuthHost) -> None:
    other = OAuthHost.registered()

    assert refusal(other.redeem(host.authorize(user)["code"])) == (400, "invalid_grant")


def test_a_code_sent_elsewhere_gives_nothing(user: User, host: OAuthHost) -> None:
    code = host.authorize(user)["code"]

    assert refusal(host.redeem(code, redirect_uri="http://127.0.0.1:1/callback")) == (400, "invalid_grant")


def test_a_code_that_comes_twice_ends_what_it_gave(user: User, host: OAuthHost) -> None:
    code = host.authorize(user)["code"]
    tokens = host.redeem(code).json()

    again = host.redeem(code)

    assert refusal(again) == (400, "invalid_grant")
    assert not works(tokens["access_token"])
    assert refusal(host.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


def test_a_code_lives_a_minute(user: User, host: OAuthHost) -> None:
    code = host.authorize(user)["code"]
    OAuthSecret.objects.filter(kind="code").update(expires_at=timezone.now() - timedelta(seconds=1))

    assert refusal(host.redeem(code)) == (400, "invalid_grant")


def test_nothing_but_s256_is_taken(user: User, host: OAuthHost) -> None:
    for changed in (
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge": "short"},
    ):
        assert offered_back(host.look(user, **changed))["error"] == "invalid_request"


# --- mix-up -----------------------------------------------------------------------------------------------------------
def test_every_answer_names_its_issuer(user: User, host: OAuthHost) -> None:
    answers = [
        host.authorize(user),
        brought_back(host.answer(user, answer="no")),
        offered_back(host.look(user, response_type="token")),
        offered_back(host.look(user, scope="openid person")),
        offered_back(host.look(user, resource=None)),
    ]

    assert [answer["iss"] for answer in answers] == [ORIGIN] * 5
    assert [answer["state"] for answer in answers] == ["as it was"] * 5
    assert [answer.get("error") for answer in answers] == [
        None, "access_denied", "unsupported_response_type", "invalid_scope", "invalid_target",
    ]  # fmt: skip


# --- open redirect ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/callback",
        "http://127.0.0.1:33418/other",
        "http://127.0.0.1:33418/callback/../other",
        "http://127.0.0.1:33418/callback?more=1",
        "http://127.0.0.1:51000/other",
        "http://127.0.0.1:33418@evil.example/callback",
        "http://localhost:33418/callback",
        "https://127.0.0.1:33418/callback",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1:33418/callback#x",
        "//evil.example/callback",
        "javascript:alert(1)",
    ],
)
def test_nobody_is_sent_to_an_address_that_was_not_named(user: User, host: OAuthHost, address: str) -> None:
    shown = host.look(user, redirect_uri=address)
    sent = host.answer(user, redirect_uri=address)

    assert (shown.status_code, sent.status_code) == (400, 400)
    assert "Location" not in shown.headers
    assert not DeveloperToken.objects.filter(client__isnull=False).exists()


@pytest.mark.parametrize(
    "address",
    [
        "https://\u212aevil.example/callback",  # the Kelvin sign, whose lower case is an ASCII letter
        "https://evil.example;script-src/callback",
        "https://evil.example,default-src/callback",
        "https://*/callback",
        "https://'unsafe-inline'/callback",
        "search-ms:query=a",
        "ms-msdt:/id",
    ],
)
def test_nobody_registers_an_address_that_browsers_read_otherwise(address: str) -> None:
    """A redirect address becomes a source of the page's policy, and a header."""
    answer = register(redirect_uris=[address])

    assert refusal(answer) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_a_program_on_this_device_may_listen_at_any_port(user: User, name: str) -> None:
    host = OAuthHost.registered(f"http://{name}/callback")

    answer = host.answer(user, redirect_uri=f"http://{name}:51000/callback")

    assert answer["Location"].startswith(f"http://{name}:51000/callback?code=")


def test_another_port_of_a_site_is_another_address(user: User) -> None:
    host = OAuthHost.registered("https://host.example/callback")

    assert host.look(user).status_code == 200
    for address in ("https://host.example:8443/callback", "https://host.example:443/callback"):
        assert host.look(user, redirect_uri=address).status_code == 400


@pytest.mark.parametrize("changed", [{"response_type": "token"}, {"scope": "openid"}, {"code_challenge": None}])
def test_a_malformed_question_sends_nobody_anywhere_by_itself(user: User, changed: dict[str, Any]) -> None:
    """Whoever registers a client names its address too: a link with a mistake would lead there (RFC 9700, 4.11.2)."""
    host = OAuthHost.registered("https://evil.example:8443/callback")

    page = host.look(user, **changed)
    sent = host.answer(user, **changed)

    assert offered_back(page)["state"] == offered_back(sent)["state"] == "as it was"
    assert "Go back to evil.example:8443" in page.content.decode()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host.example:8443/callback", "<strong>host.example:8443</strong>"),
        ("http://127.0.0.1:33418/callback", "A program on this device: <strong>127.0.0.1:33418</strong>"),
        ("com.example.app:/callback", "<strong>com.example.app:</strong>"),
    ],
)
def test_the_page_shows_where_the_answer_goes(user: User, address: str, shown: str) -> None:
    page = OAuthHost.registered(address).look(user).content.decode()

    assert shown in page.replace("<wbr>", "")


def test_nobody_is_sent_anywhere_before_they_signed_in(host: OAuthHost) -> None:
    answer = Client().get("/oauth/authorize/", host.query(response_type="token"))

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


def test_the_page_is_always_shown_and_wants_a_sign_in_of_the_last_minutes(user: User, host: OAuthHost) -> None:
    host.connect(user)

    again, old = host.look(user), host.look(user, seconds_ago=700)

    assert again.status_code == 200
    assert "Some host" in again.content.decode()
    assert old.status_code == 302
    assert old["Location"].startswith("/accounts/reauthenticate/")
    assert "form-action 'self' http://127.0.0.1:33418" in again["Content-Security-Policy"].split("; ")


def test_an_old_session_allows_nothing(user: User, host: OAuthHost) -> None:
    form = {"act_as": "me", "permission": ["discover"], "answer": "allow"}

    answer = browser_of(user, seconds_ago=700).post("/oauth/authorize/", form, query_params=host.query())

    assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert not App.objects.filter(mode="personal").exists()


def test_nobody_acts_for_an_app_of_others(user: User, host: OAuthHost) -> None:
    from tests.factories import AppFactory

    answer = host.answer(user, act_as=AppFactory().app_id)

    assert answer.status_code == 400
    assert not DeveloperToken.objects.filter(client__isnull=False).exists()


# --- a client's own document ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/client.json",
        "https://[::1]/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/client.json",
    ],
)
def test_no_document_is_fetched_from_inside(user: User, address: str) -> None:
    answer = OAuthHost(address).look(user)

    assert answer.status_code == 401
    assert not OAuthClient.objects.exists()


def test_a_name_that_leads_inside_is_refused_with_all_its_addresses(user: User, monkeypatch: Any) -> None:
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inside)

    assert OAuthHost("https://rebinds.example/client.json").look(user).status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        "http://host.example/client.json",
        "https://host.example/",
        "https://host.example",
        "https://host.example/a/../client.json",
        "https://host.example/client.json#x",
        "https://user@host.example/client.json",
        "https://host.example/" + "a" * 2048,
    ],
)
def test_not_every_address_is_a_client(user: User, monkeypatch: Any, address: str) -> None:
    monkeypatch.setattr(clients, "fetch_document", lambda _: pytest.fail("it was fetched"))

    assert OAuthHost(address).look(user).status_code == 401


# --- tokens -----------------------------------------------------------------------------------------------------------
def test_refresh_tokens_rotate_and_a_late_reuse_ends_them_all(user: User, host: OAuthHost) -> None:
    first = host.connect(user)
    second = host.refresh(first["refresh_token"]).json()
    sibling = host.refresh(first["refresh_token"])

    assert sibling.status_code == 200
    assert len({first["refresh_token"], second["refresh_token"], sibling.json()["refresh_token"]}) == 3
    assert works(first["access_token"])
    assert works(second["access_token"])

    OAuthSecret.objects.filter(used_at__isnull=False).update(used_at=timezone.now() - timedelta(seconds=31))
    late = host.refresh(first["refresh_token"])

    assert refusal(late) == (400, "invalid_grant")
    assert not works(second["access_token"])
    assert refusal(host.refresh(second["refresh_token"])) == (400, "invalid_grant")


def test_one_authorization_makes_so_many_pairs_an_hour(user: User, host: OAuthHost, monkeypatch: Any) -> None:
    monkeypatch.setattr(actions, "_PAIRS", Limit("token-pairs", 3, 3600))
    first = host.connect(user)
    second = host.refresh(first["refresh_token"]).json()
    third = host.refresh(second["refresh_token"]).json()
    kept = OAuthSecret.objects.count()

    chained, sibling = host.refresh(third["refresh_token"]), host.refresh(second["refresh_token"])

    assert [refusal(one) for one in (chained, sibling)] == [(429, "too_many_requests")] * 2
    assert 0 < int(chained["Retry-After"]) <= 3600
    assert chained["Access-Control-Allow-Origin"] == "*"
    assert OAuthSecret.objects.count() == kept
    assert works(third["access_token"])
    assert "access_token" in host.connect(user)  # what was authorized beside it is another
    monkeypatch.setattr(actions, "_PAIRS", Limit("token-pairs", 9, 3600))
    assert host.refresh(third["refresh_token"]).status_code == 200


def test_a_late_reuse_ends_all_however_many_pairs_there_were(user: User, host: OAuthHost, monkeypatch: Any) -> None:
    monkeypatch.setattr(actions, "_PAIRS", Limit("token-pairs", 2, 3600))
    first = host.connect(user)
    second = host.refresh(first["refresh_token"]).json()
    OAuthSecret.objects.filter(used_at__isnull=False).update(used_at=timezone.now() - timedelta(seconds=31))

    assert refusal(host.refresh(first["refresh_token"])) == (400, "invalid_grant")
    assert not works(second["access_token"])


def test_a_refresh_token_of_one_client_gives_another_nothing(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)

    assert refusal(OAuthHost.registered().refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert works(tokens["access_token"])


def test_tokens_are_for_the_resource_that_was_authorized(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)

    other = host.refresh(tokens["refresh_token"], resource=REST)
    secret = host.refresh(tokens["refresh_token"], resource=f"{MCP}?token=hidden-word")

    assert refusal(other) == (400, "invalid_target")
    assert refusal(secret) == (400, "invalid_target")
    assert "hidden-word" not in secret.content.decode()
    assert host.refresh(tokens["refresh_token"], resource=f"{MCP}/").status_code == 200


@pytest.mark.parametrize("resource", [f"{MCP}?x=1", f"{MCP}//", f"{MCP}/tools", ORIGIN, "https://other.example/mcp"])
def test_a_resource_is_named_exactly(user: User, host: OAuthHost, resource: str) -> None:
    assert offered_back(host.look(user, resource=resource))["error"] == "invalid_target"


def test_a_code_gives_no_token_of_another_resource(user: User, host: OAuthHost) -> None:
    assert refusal(host.redeem(host.authorize(user)["code"], resource=REST)) == (400, "invalid_target")


def test_tokens_end_by_themselves(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)
    expires = dict(OAuthSecret.objects.values_list("kind", "expires_at"))

    assert timedelta(minutes=59) < expires["access"] - timezone.now() <= timedelta(hours=1)
    assert timedelta(days=29) < expires["refresh"] - timezone.now() <= timedelta(days=30)
    OAuthSecret.objects.filter(kind="access").update(expires_at=timezone.now() - timedelta(seconds=1))
    assert not works(tokens["access_token"])


@pytest.mark.parametrize(
    "end",
    [
        lambda user, host, tokens: access_taken_back.send(sender=User, user=user),
        lambda user, host, tokens: host.revoke(tokens["refresh_token"]),
        lambda user, host, tokens: host.revoke(tokens["access_token"]),
        lambda user, host, tokens: report_leak(token=tokens["access_token"]),
        lambda user, host, tokens: new_password(user),
    ],
    ids=["signed out everywhere", "refresh token revoked", "access token revoked", "leaked", "new password"],
)
def test_what_ends_it_ends_both_tokens(user: User, host: OAuthHost, end: Callable[..., Any]) -> None:
    tokens = host.connect(user)

    end(user, host, tokens)

    assert not works(tokens["access_token"])
    assert refusal(host.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


def new_password(user: User) -> None:
    from tests.factories.accounts import PASSWORD

    new = "another good password 7"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert browser_of(user).post("/accounts/password/change/", form).status_code == 302


def test_another_client_revokes_nothing(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)

    answer = OAuthHost.registered().revoke(tokens["refresh_token"])

    assert answer.status_code == 200
    assert works(tokens["access_token"])


def test_secrets_are_kept_as_digests(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)

    kept = str(list(OAuthSecret.objects.values())) + str(list(DeveloperToken.objects.values()))

    # The random part holds "_" itself: all of it is looked for, not what follows the last.
    assert not any(secret.split("_", 3)[3] in kept for secret in (tokens["access_token"], tokens["refresh_token"]))


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, (400, "invalid_request")),
        ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"grant_type": "refresh_token"}, (400, "invalid_grant")),
        ({"grant_type": "authorization_code", "client_secret": "x"}, (401, "invalid_client")),
        ({"grant_type": "authorization_code", "client_id": "client_nobody"}, (401, "invalid_client")),
    ],
)
def test_what_no_grant_is(host: OAuthHost, form: dict[str, str], error: tuple[int, str]) -> None:
    assert refusal(host.post("/oauth/token", form)) == error


def test_a_form_is_read_strictly(host: OAuthHost) -> None:
    twice = Client().post("/oauth/token", "grant_type=a&grant_type=b", content_type="application/x-www-form-urlencoded")
    as_json = Client().post("/oauth/token", "{}", content_type="application/json")

    assert refusal(twice) == (400, "invalid_request")
    assert as_json.status_code == 415
    with_secret = send_form("/oauth/token", {"client_id": host.client_id}, Authorization="Basic eA==")
    assert refusal(with_secret) == (401, "invalid_client")
    assert with_secret["WWW-Authenticate"] == 'Basic realm="oauth"'
    unknown = send_form("/oauth/token", {"client_id": "client_nobody"})
    assert (refusal(unknown), unknown.has_header("WWW-Authenticate")) == ((401, "invalid_client"), False)


# --- whose agent ------------------------------------------------------------------------------------------------------
def test_a_persons_agent_asks_nobody_else(user: User) -> None:
    somebody = PersonFactory()
    give_vault(user)
    give_vault(somebody)
    token = OAuthHost.registered().connect(user, resource=REST)["access_token"]
    rest = {"Authorization": f"Bearer {token}"}

    named = invitation_of(somebody)
    answers = [
        Client().get(f"/api/v1/user-scopes/{named}", headers=rest),
        Client().get(f"/api/v1/user-scopes/{somebody.public_id}", headers=rest),
        Client().get(f"/api/v1/user-scopes/{user.public_id}", headers=rest),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert Client().get("/api/v1/people", headers=rest).json()["people"] == []


def test_a_persons_agent_connects_with_nobody(user: User) -> None:
    """Neither an agent that begins a connection, nor a connection that is there, leads to anybody else."""
    from consent.connections import actions
    from consent.connections.models import Connection

    token = OAuthHost.registered().connect(user, resource=REST)["access_token"]
    rest = {"Authorization": f"Bearer {token}"}

    answer = Client().post("/api/v1/connections", "{}", content_type="application/json", headers=rest)

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_user")
    app, now = App.objects.get(mode="personal"), timezone.now()
    open_one = {"connection_id": "con_1", "code_digest": "0" * 64, "created_at": now}
    made = Connection.objects.create(app=app, expires_at=now + timedelta(minutes=5), **open_one)
    with pytest.raises(UnknownUser):
        actions.connect(connection=made, by=PersonFactory())
    assert app.people.get().user == user


def test_who_left_the_team_left_their_hosts_too(user: User) -> None:
    """The host is theirs, not the app's: nobody else could stop it, or knows that it is there."""
    owner = MemberFactory(role="owner")
    member = MemberFactory(app=owner.app, user=user, role="member")
    host = OAuthHost.registered()
    tokens = host.connect(user, act_as=owner.app.app_id, permissions=["discover"])
    for_me = host.connect(user, permissions=["discover"])
    assert works(tokens["access_token"])

    remove_member(member=member, by=owner.user)

    assert not works(tokens["access_token"])
    assert refusal(host.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert works(for_me["access_token"])


def test_a_closed_account_has_no_hosts(user: User, host: OAuthHost) -> None:
    tokens = host.connect(user)

    User.objects.filter(pk=user.pk).update(is_active=False)

    assert not works(tokens["access_token"])
    assert refusal(host.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


def test_two_hosts_of_one_person_know_them_by_names_of_their_own(user: User) -> None:
    give_vault(user)
    known = [
        Host(OAuthHost.registered(client_name=name).connect(user)["access_token"]).answer("discover_user_scopes")
        for name in ("One", "Other")
    ]

    assert known[0]["user_id"] != known[1]["user_id"]


# --- clients ----------------------------------------------------------------------------------------------------------
def test_clients_that_nobody_connected_are_forgotten(user: User, host: OAuthHost) -> None:
    unused = OAuthHost.registered()
    host.connect(user)
    OAuthClient.objects.update(created_at=timezone.now() - timedelta(days=8))

    clients.forget_unused_clients()

    assert list(OAuthClient.objects.values_list("client_id", flat=True)) == [host.client_id]
    assert refusal(unused.refresh("cr_refresh_x")) == (401, "invalid_client")


def test_one_network_registers_so_many(settings: Any) -> None:
    answers = [register(redirect_uris=["https://host.example/cb"]).status_code for _ in range(61)]

    assert answers == [201] * 60 + [429]


def test_asking_whether_it_may_register_counts_for_nothing() -> None:
    for _ in range(61):
        assert Client().options("/oauth/register").status_code == 204

    assert register(redirect_uris=["https://host.example/cb"]).status_code == 201


def test_web_pages_may_call_what_hosts_call_without_credentials() -> None:
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource", "/oauth/token"):
        answer = Client().options(path, headers={"Origin": "https://host.example"})
        assert answer.status_code == 204
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["openid-configuration", "oauth-authorization-server/mcp", "oauth-protected-resource/other", "anything", "a/b"],
)
def test_what_is_not_there_is_said_in_json(path: str) -> None:
    answer = Client().get(f"/.well-known/{path}")

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_what_one_network_is_refused_takes_no_place_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    few, all_together = Limit("client-registrations", 2, 3600), Limit("client-registrations-of-all", 3, 3600)
    monkeypatch.setattr("developers.oauth.api._REGISTRATIONS", few)
    monkeypatch.setattr("developers.oauth.api._ALL_REGISTRATIONS", all_together)
    body = orjson.dumps({"redirect_uris": ["https://host.example/callback"]})

    def register(address: str) -> int:
        sent = Client(REMOTE_ADDR=address).post("/oauth/register", body, content_type="application/json")
        return int(sent.status_code)

    assert [register("203.0.113.1") for _ in range(9)] == [201] * 2 + [429] * 7
    assert [register(f"198.51.100.{number}") for number in range(1, 3)] == [201, 429]
