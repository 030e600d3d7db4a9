"""A host connects: from a 401 to the tools, for an app of a developer and for a person alone."""

import base64
import hashlib
from typing import Any

import pytest
from django.test import Client

from accounts.models import OutgoingMail
from consent.connections import actions as connection_actions
from consent.connections.models import Connection
from consent.connector_keys.actions import remove_key
from consent.requests.models import ConsentRequest
from consent.requests.named_keys import key_of_nobody
from developers.models import App, AppPerson, DeveloperToken
from pkm.sealed import check_connector_key
from tests.callers import Developer
from tests.consent.tools.hosts import Host
from tests.factories import AppFactory, MemberFactory, PersonFactory, give_vault, invitation_of
from tests.oauth.hosts import MCP, ORIGIN, REST, OAuthHost, browser_of, register
from tests.vouched import registered

pytestmark = pytest.mark.django_db


def mine(user: Any, **fields: Any) -> App:
    app: App = AppFactory(**fields)
    MemberFactory(app=app, user=user, role="member")
    return app


def test_a_host_without_a_token_learns_where_to_get_one() -> None:
    refused = Host("").send("tools/list")
    metadata = Client().get("/.well-known/oauth-protected-resource/mcp")
    server = Client().get("/.well-known/oauth-authorization-server")

    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == (
        f'Bearer resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="discover request read"'
    )
    assert metadata.json()["resource"] == MCP
    assert metadata.json()["authorization_servers"] == [ORIGIN]
    assert server.json()["issuer"] == ORIGIN
    assert server.json()["code_challenge_methods_supported"] == ["S256"]
    assert server.json()["token_endpoint_auth_methods_supported"] == ["none"]
    assert server.json()["client_id_metadata_document_supported"] is True
    assert server.json()["authorization_response_iss_parameter_supported"] is True
    assert server.json()["scopes_supported"] == ["discover", "request", "read"]


def test_for_an_app_of_mine_the_token_is_that_apps() -> None:
    user = PersonFactory()
    app = mine(user, proved_domain="shop.example", domain_proved_at="2026-01-01T00:00:00Z")
    host = OAuthHost.registered(client_name="Some host")

    tokens = host.connect(user, act_as=app.app_id, permissions=["discover", "request"])
    listed = Host(tokens["access_token"]).send("tools/list")

    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 3600
    assert tokens["scope"] == "discover request"
    request = next(tool for tool in listed.json()["result"]["tools"] if tool["name"] == "request_consent")
    assert "connector_public_key" not in request["inputSchema"]["properties"]
    assert "user_id" in request["inputSchema"]["required"]
    assert Host(tokens["access_token"]).call("list_scope_catalog")["isError"] is False
    row = DeveloperToken.objects.get(client__isnull=False)
    assert (row.app, row.created_by, row.label) == (app, user, "Some host")
    assert [mail.template for mail in OutgoingMail.objects.filter(user=user)] == ["developers/mail/host_allowed"]


def test_for_me_the_host_becomes_an_app_that_asks_me_alone() -> None:
    user, other = PersonFactory(), PersonFactory()
    give_vault(user)
    give_vault(other)
    host = OAuthHost.registered(client_name="My helper")

    tokens = host.connect(user)
    me = Host(tokens["access_token"])
    listed = {tool["name"]: tool["inputSchema"] for tool in me.send("tools/list").json()["result"]["tools"]}
    found = me.answer("discover_user_scopes")
    refused = me.call("discover_user_scopes", {"user_id": invitation_of(other)})

    app = App.objects.get(mode="personal")
    assert (app.person, app.verified, app.name) == (user, False, "My helper")
    assert tokens["scope"] == "discover request"  # it said of no key that it has
    assert "user_id" not in listed["discover_user_scopes"]["properties"]
    assert "user_id" not in listed["request_consent"]["properties"]
    assert found["user_id"] == AppPerson.objects.get(app=app).pairwise_id
    assert refused["structuredContent"]["code"] == "unknown_user"


def test_reading_is_offered_only_where_something_can_be_read() -> None:
    host, user = OAuthHost.registered(), PersonFactory()

    offered = [host.look(user, scope=scope).content.decode() for scope in ("request read", "read")]

    assert [page.count('name="permission"') for page in offered] == [1, 0]
    assert ["can read nothing: it has no key of its own" in page for page in offered] == [False, True]
    assert ['value="allow"' in page for page in offered] == [True, False]


@pytest.mark.parametrize("is_personal", [True, False])
def test_a_host_without_a_key_asks_and_learns_the_decision_alone(is_personal: bool) -> None:
    user, somebody = PersonFactory(), PersonFactory()
    person = user if is_personal else somebody
    vault = give_vault(person)
    app = None if is_personal else mine(user)
    tokens = OAuthHost.registered().connect(user, act_as=app.app_id if app else "me")
    host = Host(tokens["access_token"])
    question = {"scope": "attr.lifestyle.food.*", "purpose": "Plan a week of meals"}

    answer = host.answer("request_consent", question | ({} if is_personal else {"user_id": invitation_of(somebody)}))
    made = ConsentRequest.objects.select_related("app").get()
    sheet = browser_of(person).get(f"/consent/requests/{answer['request_id']}/").content.decode()
    read = host.send("tools/call", {"name": "get_encrypted_export", "arguments": {"request_id": answer["request_id"]}})

    assert tokens["scope"] == "discover request"
    assert (answer["status"], answer["connector_key_id"]) == ("pending", "nobody")
    assert made.connector_public_key == key_of_nobody(made.app.app_id)
    assert "It has no key: it learns what you decide, and cannot read anything." in sheet
    assert 'href=""' not in sheet  # a personal app has neither website nor privacy notice
    assert read.status_code == 403
    assert host.answer("check_consent_status", {"request_id": answer["request_id"]})["status"] == "pending"
    assert vault


def riding_of_a_host(user: Any, app: App, **key: Any) -> Connection:
    """A connection that a host began for this app, answered by somebody; the host has said which key."""
    token = OAuthHost.registered().connect(user, act_as=app.app_id, permissions=["request"], resource=REST)
    riding = {"scope": "attr.lifestyle.food.*", "purpose": "Plan a week of meals",
              "connector_wrapping_alg": "ECDH-ES+A256KW", **key}  # fmt: skip
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    begun = Client().post("/api/v1/connections", {"request": riding}, "application/json", headers=headers)
    assert begun.status_code == 201, begun.content
    return Connection.objects.get(connection_id=begun.json()["connection_id"])


@pytest.mark.parametrize("removed", [False, True])
def test_what_rides_on_a_hosts_connection_uses_the_key_as_it_is_when_somebody_connects(removed: bool) -> None:
    user, somebody = PersonFactory(), PersonFactory()
    app = mine(user)
    key = registered(app, by=user)
    waiting = riding_of_a_host(user, app, connector_key_id=key.key_id, connector_public_key=key.jwk)
    if removed:
        remove_key(key=key, by=user)

    made = connection_actions.connect(connection=waiting, by=somebody)

    assert made.refusal == ("connector_key_required" if removed else "")
    assert ConsentRequest.objects.count() == (0 if removed else 1)


def test_what_rides_for_a_host_without_a_key_is_asked() -> None:
    user = PersonFactory()
    app = mine(user)
    waiting = riding_of_a_host(user, app, connector_key_id="nobody")

    made = connection_actions.connect(connection=waiting, by=PersonFactory())

    assert (made.refusal, made.request.connector_public_key) == ("", key_of_nobody(app.app_id))


def test_a_key_of_nobody_is_a_point_that_a_hash_names() -> None:
    """Anybody can compute it, so that anybody sees that it was not drawn with a private half."""
    point = bytearray(hashlib.sha256(b"consent-runtime: a key that nobody has\x00app_1").digest())
    point[31] &= 127

    assert base64.urlsafe_b64decode(key_of_nobody("app_1")["x"] + "=") == bytes(point)
    assert check_connector_key(key_of_nobody("app_1")) == key_of_nobody("app_1")
    assert key_of_nobody("app_1") != key_of_nobody("app_2")


def test_only_hosts_name_the_key_of_nobody(api: Developer) -> None:
    body = {"user_id": "usr_x", "scope": "attr.lifestyle.food.*", "purpose": "Plan a week of meals"}
    named = {"connector_key_id": "nobody", "connector_wrapping_alg": "ECDH-ES+A256KW"}

    assert api.post("/request-consent", {**body, **named}).json()["code"] == "connector_key_required"


def test_a_token_opens_the_one_resource_that_it_was_made_for() -> None:
    user = PersonFactory()
    app = mine(user)
    host = OAuthHost.registered()

    of_mcp = host.connect(user, act_as=app.app_id, permissions=["discover"])["access_token"]
    of_rest = host.connect(user, act_as=app.app_id, permissions=["discover"], resource=REST)["access_token"]

    def rest(token: str) -> Any:
        return Client().get("/api/v1/scope-catalog", headers={"Authorization": f"Bearer {token}"})

    assert rest(of_rest).status_code == 200
    assert Host(of_mcp).send("tools/list").status_code == 200
    assert rest(of_mcp).status_code == 401
    assert Host(of_rest).send("tools/list").status_code == 401
    assert 'error="invalid_token"' in rest(of_mcp)["WWW-Authenticate"]
    assert (
        f'resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/api/v1"' in rest(of_mcp)["WWW-Authenticate"]
    )


def test_too_little_is_said_with_what_is_needed() -> None:
    user = PersonFactory()
    app = mine(user)
    token = OAuthHost.registered().connect(user, act_as=app.app_id, permissions=["discover"])["access_token"]

    by_tool = Host(token).send("tools/call", {"name": "end_consent", "arguments": {"request_id": "req_x"}})

    assert by_tool.status_code == 403
    assert by_tool["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", '
        f'resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="discover request"'
    )


def test_a_token_in_the_query_is_refused_and_leads_nowhere() -> None:
    user = PersonFactory()
    token = OAuthHost.registered().connect(user)["access_token"]

    for query in (f"?token={token}", "?token=cr_live_nobody"):
        answer = Host("").post(b"{}", query=query)
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_suspension_and_stopping_end_what_a_host_does() -> None:
    user = PersonFactory()
    app = mine(user)
    token = OAuthHost.registered().connect(user, act_as=app.app_id)["access_token"]

    App.objects.filter(pk=app.pk).update(status="suspended")
    suspended = Host(token).send("tools/list")
    App.objects.filter(pk=app.pk).update(status="active")
    row = DeveloperToken.objects.get(client__isnull=False)
    stopped = browser_of(user).post(f"/consent/hosts/{row.prefix}/stop/")
    after = Host(token).send("tools/list")

    assert suspended.status_code == 403
    assert stopped.status_code == 302
    assert after.status_code == 401


def test_registering_refuses_what_cannot_be_taken() -> None:
    answers = [
        register(redirect_uris=["http://shop.example/callback"]),
        register(redirect_uris=["javascript:alert(1)"]),
        register(redirect_uris=["https://host.example/callback#fragment"]),
        register(redirect_uris=["https://user@host.example/callback"]),
        register(redirect_uris=[]),
        register(redirect_uris=["https://host.example/cb"], client_name="A\u202e"),
        register(redirect_uris=["https://host.example/cb"], grant_types=["client_credentials"]),
    ]

    assert [(answer.status_code, answer.json()["error"]) for answer in answers] == [
        *([(400, "invalid_redirect_uri")] * 4),
        *([(400, "invalid_client_metadata")] * 3),
    ]
    assert register(redirect_uris=["com.example.app:/callback", "cursor://host/cb"]).status_code == 201
