"""Two apps cannot tell from what they are told that they know the same person (docs/adr/0056)."""

import base64
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.models import SharingId, User
from common import encryption
from consent.approvals.models import ApprovalKey
from consent.decisions import actions as decision_actions
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.notices.models import Notice
from consent.notices.webhooks import deliver_due
from consent.requests import creation
from consent.requests.models import ConsentRequest
from consent.schemas import RequestConsentBody
from consent_bridge import sealed
from consent_bridge.signing import signed_rotation
from developers.models import App, AppPerson, WebhookEndpoint
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import request_body
from tests.consent.decisions import approval, refreshed, resumption
from tests.consent.test_races import asking_context, close_connections, fire
from tests.consent.test_webhooks import SECRET
from tests.consent.tools.hosts import Host
from tests.factories import AppFactory, ListedPersonFactory, PersonFactory, Vault, give_vault, invitation_of
from tests.fakes.receiver import Receiver, receiving
from tests.oauth.hosts import OAuthHost

pytestmark = pytest.mark.django_db(transaction=True)  # deliveries are made in threads
_VALUE = re.compile(r"[A-Za-z0-9_-]{8,}")  # shorter ones, and what stands between them, say nothing of anybody
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{10}\b"
)  # acts that reach all apps in one second link them: SECURITY.md
_PART = re.compile(r"eyJ[A-Za-z0-9_-]+")  # of a token: JSON in base64url


def values(text: str) -> set[str]:
    """What stands in an answer, tokens opened as far as anybody can."""
    inner = {one for part in _PART.findall(text) for one in _opened(part)}
    return set(_VALUE.findall(_TIME.sub("", text))) | inner


def _opened(part: str) -> Iterator[str]:
    try:
        content = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
    except ValueError:
        return
    yield from values(content)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving(settings) as server:
        yield server


def first_events(api: Developer) -> str:
    """What the stream of the app's events begins with, up to the newest."""
    newest, lines = Notice.objects.filter(app=api.app).count(), ""
    stream = api.get("/consent-events", headers={"Last-Event-ID": "0"})
    for chunk in stream.streaming_content:
        lines += chunk.decode() if isinstance(chunk, bytes) else chunk
        if f"\nid: {newest}\n" in lines:
            break
    stream.close()
    return lines


def capture(app: App, vault: Vault, handle: str, receiver: Receiver) -> set[str]:
    """Everything that the app is told, from the invitation on to the end: REST, tools, errors, events, webhooks."""
    api, host, received = Developer.of(app), Host.of(app), []
    WebhookEndpoint.objects.create(app=app, url=receiver.url, secret=encryption.sealed(SECRET))
    key = sealed.public_half(sealed.generate_connector_key())

    def call(answer: Any) -> Any:
        assert answer.status_code in (200, 201), answer.content
        received.append(answer.content.decode())
        return answer.json()

    invitation = invitation_of(vault.user)
    call(api.get(f"/user-scopes/{invitation}"))
    call(api.get("/people", query=handle))
    made = call(
        api.post("/request-consent", request_body(vault.user, connector_public_key=key, refresh_policy="continuous"))
    )
    request_id, user_id = made["request_id"], made["user_id"]
    received.append(json.dumps(host.answer("discover_user_scopes", {"user_id": user_id})))
    received.append(json.dumps(host.answer("check_consent_status", {"request_id": request_id})))
    request = ConsentRequest.objects.select_related("app").get(request_id=request_id)
    decision_actions.approve(request_id=request_id, by=vault.user, body=approval(request, vault))
    grant = Grant.objects.select_related("request", "app").get(request=request)
    call(api.get("/consent-export", request_id=request_id))
    owner = signed_in(vault.user)
    assert owner.put(f"/consent/grants/{grant.grant_id}/export", refreshed(vault, grant)).status_code == 200
    grant_actions.pause(grant_id=grant.grant_id, by=vault.user)
    nonce = owner.get(f"/consent/grants/{grant.grant_id}/nonce").json()["nonce"]
    assert owner.post(f"/consent/grants/{grant.grant_id}/resume", resumption(vault, grant, nonce)).status_code == 200
    received.append(json.dumps(host.answer("get_encrypted_export", {"request_id": request_id})))
    call(api.get("/consent-status", user_id=user_id, scope=request.scope))
    call(api.post("/end-consent", {"request_id": request_id}))
    call(api.get("/consent-requests"))
    refused = [
        api.get("/consent-export", request_id=request_id),
        api.get("/consent-status", request_id="req_unknown"),
        api.get(f"/user-scopes/{vault.user.public_id}"),
        api.post("/request-consent", {}),
    ]
    assert [answer.status_code for answer in refused] == [410, 404, 404, 400]
    received += [answer.content.decode() for answer in refused]
    received.append(json.dumps(connected(api, owner)))
    received.append(first_events(api))
    receipt_id = call(api.get("/consent-status", request_id=request_id))["receipt_id"]
    call(api.get(f"/receipts/{receipt_id}"))
    call(api.get(f"/receipts/{receipt_id}", format="jsonld"))
    receiver.arrived.clear()
    assert deliver_due() > 0
    received += [body.decode() for _, body in receiver.arrived] + [
        headers["webhook-id"] for headers, _ in receiver.arrived
    ]
    received.append(json.dumps(ApprovalKey.objects.get(app=app, user=vault.user).public_key))
    return {value for text in received for value in values(text)}


def connected(api: Developer, owner: Any) -> list[Any]:
    """What the app is told of a connection that this person makes and the app ends, with the code of their return."""
    api.app.origins = ["https://shop.example"]
    api.app.save(update_fields=["origins"])
    made = api.post("/connections", {"return_url": "https://shop.example/back"}).json()
    page = f"/connect/{made['connection_id']}/"
    back = owner.client.post(page, {"decision": "connect"})["Location"]
    code = dict(parse_qsl(urlsplit(back).query))["connection_code"]
    done = api.post(f"/connections/{made['connection_id']}/complete", {"connection_code": code}).json()
    assert done["status"] == "connected", done
    again = api.get(f"/connections/{made['connection_id']}").json()
    return [made, back, done, again]


def capture_of_host(vault: Vault) -> set[str]:
    """Everything that a host is told which a person lets act for them alone: how it is let in, its tools, a refusal."""
    host = OAuthHost.registered()
    brought = host.authorize(vault.user)
    tokens = host.redeem(brought["code"]).json()
    received: list[Any] = [host.client_id, brought, tokens, host.refresh(tokens["refresh_token"]).json()]
    tools = Host(received[-1]["access_token"])
    question = {"scope": "attr.lifestyle.food.*", "purpose": "Plan a week of meals"}
    received += [tools.answer("discover_user_scopes"), tools.answer("request_consent", question)]
    named = {"request_id": received[-1]["request_id"]}
    received += [
        tools.answer("check_consent_status", named),
        tools.call("check_consent_status", {"request_id": "req_x"}),
    ]
    received += [tools.answer("end_consent", named), host.redeem(brought["code"]).json()]
    return {value for one in received for value in values(json.dumps(one))}


def person(handle: str) -> tuple[Vault, str]:
    vault = give_vault(PersonFactory())
    ListedPersonFactory(user=vault.user, handle=handle, display_name=handle)
    return vault, handle


def test_two_apps_share_nothing_of_one_person(receiver: Receiver) -> None:
    one, same, another = AppFactory(), AppFactory(), AppFactory()
    zoe, ben = person("zoe-of-tests"), person("ben-of-tests")

    first = capture(one, *zoe, receiver)
    vault, _ = zoe
    vault.user.sharing_id.delete()  # one serves one app
    second = capture(same, *zoe, receiver)
    strangers = capture(another, *ben, receiver)

    named = {"zoe-of-tests"}  # being listed says: apps can tell you are the same person
    assert first & second - strangers - named == set()
    for own in (vault.user.public_id, ben[0].user.public_id):
        assert not any(own in received for received in (first, second, strangers))
    assert {value for value in first if value.startswith("usr_")} != set()  # it looked where they are told


def test_two_hosts_share_nothing_of_one_person() -> None:
    vault, stranger = give_vault(PersonFactory()), give_vault(PersonFactory())

    first, second, strangers = capture_of_host(vault), capture_of_host(vault), capture_of_host(stranger)

    assert first & second - strangers == set()
    assert not any(vault.user.public_id in received for received in (first, second))
    assert {value for value in first if value.startswith("usr_")} != set()


def ask(app: App, user: User, name: str) -> None:
    key = sealed.public_half(sealed.generate_connector_key())
    body = RequestConsentBody.model_validate(request_body(user, user_id=name, connector_public_key=key))
    creation.request_consent(app=asking_context(app), body=body, idempotency_key=None)


def test_of_apps_that_use_one_invitation_at_once_one_does() -> None:
    apps = AppFactory.create_batch(3)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(5):
            user = give_vault(PersonFactory()).user
            name = invitation_of(user)
            fire([partial(ask, app, user, name) for app in apps], pool)

            met = AppPerson.objects.get(user=user)
            assert SharingId.objects.get(user=user).app == met.app
            assert ConsentRequest.objects.get(user=user).pairwise_id == met.pairwise_id
        close_connections(pool, 3)


def test_an_app_that_asks_twice_at_once_has_one_name() -> None:
    app = AppFactory()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(5):
            user = give_vault(PersonFactory()).user
            name = invitation_of(user)
            fire([partial(ask, app, user, name)] * 3, pool)

            names = set(ConsentRequest.objects.filter(user=user).values_list("pairwise_id", flat=True))
            assert names == {AppPerson.objects.get(user=user).pairwise_id}
            assert ConsentRequest.objects.filter(user=user).count() == 3
        close_connections(pool, 3)


def test_a_new_root_tells_each_app_its_own_name(receiver: Receiver) -> None:
    one, same = AppFactory(), AppFactory()
    vault, handle = person("zoe-of-tests")
    capture(one, vault, handle, receiver)
    vault.user.sharing_id.delete()
    capture(same, vault, handle, receiver)
    owner = signed_in(vault.user)
    keys = owner.get("/consent/approval-keys").json()
    new, members = sealed.new_root(vault.key.secret, vault.key.key_id, vault.user.public_id)
    apps = {key["app_id"]: (key["user_id"], key["seq"] + 1) for key in keys["keys"]}
    names = {"issuer": keys["issuer"], "user_id": vault.user.public_id, "root_seq": 1}

    swapped = dict(zip(apps, reversed(apps.values()), strict=True))
    unfit = signed_rotation(vault.root, new, **names, apps=swapped)
    assert owner.put("/vault/signing-key", {**members, "rotation": unfit}).json()["code"] == "approval_mismatch"
    rotation = signed_rotation(vault.root, new, **names, apps=apps)
    assert owner.put("/vault/signing-key", {**members, "rotation": rotation}).status_code == 200

    steps = [values(json.dumps(key.history)) for key in ApprovalKey.objects.order_by("pk")]
    assert [{value for value in step if value.startswith("usr_")} for step in steps] == [
        {user_id} for user_id, _ in apps.values()
    ]
