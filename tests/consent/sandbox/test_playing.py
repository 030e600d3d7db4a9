"""What an app does in a sandbox person's place, with its token and with a member's session."""

from typing import Any

import orjson
import pytest

from accounts.models import User
from consent.grants.models import Grant
from consent_bridge import sealed
from developers.models import App
from pkm.vault.models import VaultKey
from tests.callers import Developer, JsonClient, signed_in
from tests.consent.decisions import approval_body, refreshed, resumption
from tests.consent.sandbox.conftest import of
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    MemberFactory,
    PersonFactory,
    SandboxPersonFactory,
    TestAppFactory,
    Vault,
    give_vault,
)
from tests.pkm.sealed_segments import segment

UNFIT: list[tuple[str, str, Any]] = [
    ("POST", "/keys", {"key_id": 1}),
    ("POST", "/wrappers", {"kind": "passphrase"}),
    ("PUT", "/segments/lifestyle/food", {"jwe": ""}),
    ("POST", "/requests/req_a/decision", {"decision": "perhaps"}),
    *(("POST", f"/grants/grt_a/{move}", {"why": "so"}) for move in ("revoke", "pause", "resume")),
    ("PUT", "/signing-key", {"why": "so"}),
    ("PUT", "/grants/grt_a/export", {"revision": 1}),
    ("POST", "/clock", {"seconds": 0}),
]


@pytest.fixture
def member(app: App, played: User) -> JsonClient:
    """A member of the test app, signed in long ago, at the sandbox person's addresses of the portal."""
    client = signed_in(MemberFactory(app=app, role="member").user, seconds_ago=3600)
    client.prefix = portal(app, played)
    return client


@pytest.fixture
def program(api: Developer, played: User) -> JsonClient:
    return JsonClient(api.client, f"{api.prefix}{of(played)}", api.headers)


@pytest.fixture(params=["token", "session"])
def player(request: pytest.FixtureRequest) -> JsonClient:
    """Either of the two, at the person's addresses."""
    found: JsonClient = request.getfixturevalue("program" if request.param == "token" else "member")
    return found


def portal(app: App, person: User) -> str:
    return f"/developers/apps/{app.app_id}/sandbox/people/{person.public_id}"


def test_a_vault_is_made_filled_read_and_emptied(player: JsonClient, played: User) -> None:
    key, code = sealed.generate_vault_key(), sealed.generate_recovery_code()
    wrapper = {"kind": "recovery", "label": "Recovery", "jwe": sealed.wrap(key, "recovery", code, played.public_id)}
    root, members = sealed.new_root(key.secret, key.key_id, played.public_id)
    made = player.post("/keys", {"key_id": key.key_id, "wrappers": [wrapper], **members})
    vault = Vault(played, key, code, None, {}, root)
    second = player.post("/wrappers", wrapper)
    gone = player.delete(f"/wrappers/{second.json()['wrapper_id']}")
    written = player.put("/segments/lifestyle/food", segment(vault, "lifestyle", "food", {"favorite_cuisine": "Thai"}))
    listed = player.get("/segments", scope="attr.lifestyle.*").json()["segments"]
    header = sealed.SegmentHeader(key.key_id, played.public_id, "lifestyle", "food", 1)
    deleted = player.delete("/segments/lifestyle/food", base_content_revision="1")

    assert [made.status_code, second.status_code, gone.status_code, written.status_code] == [201, 201, 204, 200]
    assert sealed.open_segment(listed[0]["jwe"], key.secret, header) == {"favorite_cuisine": "Thai"}
    assert deleted.json()["content_revision"] == 2
    assert player.get("/keys").json()["vault_status"] == "active"


def test_a_request_is_looked_at_and_approved_even_restricted_data(player: JsonClient, app: App, vault: Vault) -> None:
    vault.write("financial", "signals", {"spend_bracket": "low"})
    financial_vault = Vault(
        vault.user, vault.key, "", None, {("financial", "signals"): {"spend_bracket": "low"}}, vault.root
    )
    request = ConsentRequestFactory(app=app, user=vault.user, scope="attr.financial.signals.*")

    data = player.get(f"/requests/{request.request_id}/data")
    approved = player.post(f"/requests/{request.request_id}/decision", approval_body(request, financial_vault))

    assert data.json()["scope_entry"]["sensitivity_tier"] == "restricted"
    assert approved.json()["status"] == "approved", approved.content


def test_a_request_is_denied(player: JsonClient, api: Developer, app: App, vault: Vault) -> None:
    request = ConsentRequestFactory(app=app, user=vault.user)

    denied = player.post(f"/requests/{request.request_id}/decision", {"decision": "deny", "reason": "not today"})

    assert denied.json() == api.get("/consent-status", request_id=request.request_id).json()
    assert denied.json()["status"] == "denied"


def test_an_approval_is_paused_resumed_refreshed_and_revoked(
    player: JsonClient, api: Developer, app: App, vault: Vault
) -> None:
    request = ConsentRequestFactory(app=app, user=vault.user, refresh_policy="continuous")
    player.post(f"/requests/{request.request_id}/decision", approval_body(request, vault))
    grant = Grant.objects.get()
    vault.write("lifestyle", "food", {**vault.segments["lifestyle", "food"], "coffee_or_tea": "Coffee"}, base=1)
    body = refreshed(vault, grant)

    def standing() -> str:
        found: str = api.get("/consent-status", request_id=request.request_id).json()["grant"]["status"]
        return found

    seen = [standing()]
    for move in ("pause", "resume"):
        nonce = player.get(f"/grants/{grant.grant_id}/nonce").json()["nonce"]
        signed = resumption(vault, grant, nonce) if move == "resume" else {}
        assert player.post(f"/grants/{grant.grant_id}/{move}", signed).status_code == 200
        seen.append(standing())
    renewed = player.put(f"/grants/{grant.grant_id}/export", body)
    player.send("POST", f"/grants/{grant.grant_id}/revoke", media_type="")

    assert [*seen, standing()] == ["active", "paused", "active", "revoked"]
    assert renewed.json()["grant"]["export_revision"] == 2


@pytest.mark.parametrize(("method", "address", "unfit"), UNFIT)
def test_a_body_that_does_not_fit_is_refused(player: JsonClient, method: str, address: str, unfit: Any) -> None:
    answer = player.send(method, address, orjson.dumps(unfit))

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


def test_a_stranger_makes_no_vault_of_somebodys(app: App, played: User) -> None:
    """Of the other addresses tests/access knows as much; bodies that fit these belong to the person."""
    other = TestAppFactory()
    theirs = signed_in(MemberFactory(app=other).user)
    key = sealed.generate_vault_key()
    way = {
        "kind": "recovery",
        "label": "R",
        "jwe": sealed.wrap(key, "recovery", sealed.generate_recovery_code(), "usr_a"),
    }
    _, root = sealed.new_root(key.secret, key.key_id, "usr_a")
    bodies = (
        ("POST", "/keys", {"key_id": key.key_id, "wrappers": [way]}),
        ("POST", "/wrappers", way),
        ("PUT", "/signing-key", root),
    )

    for caller, where in (
        (theirs, portal(other, played)),
        (theirs, portal(app, played)),
        (Developer.of(other), of(played)),
    ):
        for method, address, body in bodies:
            answer = caller.send(method, f"{where}{address}", orjson.dumps(body))
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_user"), where
    assert not VaultKey.objects.exists()


def test_what_is_another_persons_stays_theirs(player: JsonClient, app: App, vault: Vault) -> None:
    someone = give_vault(SandboxPersonFactory(app=app).user)
    request = ConsentRequestFactory(app=app, user=someone.user)
    grant = ExportFactory(grant__request__app=app, grant__request__user=someone.user).grant

    answers = [
        player.get(f"/requests/{request.request_id}/data"),
        player.post(f"/requests/{request.request_id}/decision", {"decision": "deny"}),
        player.send("POST", f"/grants/{grant.grant_id}/revoke", media_type=""),
        player.delete(f"/wrappers/{someone.user.key_wrappers.get().wrapper_id}"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404, 404]


def test_a_member_of_a_live_app_plays_nobody(played: User) -> None:
    live = AppFactory()
    SandboxPersonFactory(app=live, user=(person := PersonFactory()))
    member = signed_in(MemberFactory(app=live).user)

    assert member.get(f"{portal(live, person)}/keys").status_code == 404


@pytest.mark.parametrize("change", [{"Origin": "http://localhost:8000"}, {"Sec-Fetch-Site": "same-origin"}])
def test_a_token_does_not_come_from_a_browser(program: JsonClient, change: dict[str, str]) -> None:
    assert program.get("/keys", headers=change).json()["code"] == "browser_path_refused"


def test_a_suspended_test_app_plays_nobody(api: Developer, app: App, played: User) -> None:
    app.status = "suspended"
    app.save()

    assert api.get(of(played, "/keys")).json()["code"] == "app_suspended"
