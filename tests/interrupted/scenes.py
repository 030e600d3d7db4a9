"""For every address that takes a POST from a page: what must be there for it, what is sent, and how to see it done."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from accounts.models import ActorProfile, AlertSettings, PushSubscription, SharingId, User
from common.clock import database_now
from consent.connections.models import Connection
from consent.decisions import actions as decision_actions
from consent.decisions.models import AppReport, BlockedApp
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from developers.models import App
from pkm.registry.models import HiddenScope
from pkm.vault.models import KeyWrapper, VaultKey
from tests.addresses import ALERTS
from tests.consent.api.addresses import request_body
from tests.factories import (
    BlockedAppFactory,
    ConnectionFactory,
    ConsentRequestFactory,
    DiscoveryFactory,
    GrantFactory,
    HostTokenFactory,
    PushSubscriptionFactory,
    give_vault,
)


@dataclass
class Stage:
    """What a scene may use; what it opens is closed after the test."""

    person: User
    settings: Any
    after: ExitStack


@dataclass
class Scene:
    """`page` holds the button; `typed` is what the person enters, ticks and presses; `title` that of what waits."""

    path: str
    page: str
    title: str
    done: Callable[[], Any]
    typed: dict[str, str] = field(default_factory=dict)
    shows: str = ""  # of what was typed, what is on the page again


Make = Callable[[Stage], Scene]


def deny(stage: Stage) -> Scene:
    consent_request = ConsentRequestFactory(user=stage.person)
    here = f"/consent/requests/{consent_request.request_id}/"

    def done() -> bool:
        row = ConsentRequest.objects.get(pk=consent_request.pk)
        return (row.status, row.decision_note) == ("denied", "Not before the trip")

    typed = {"reason": "Not before the trip"}
    title = f"Deny: {consent_request.app_name}"
    return Scene(f"{here}deny/", here, title, done, typed, "Not before the trip")


def deny_several(stage: Stage) -> Scene:
    consent_requests = ConsentRequestFactory.create_batch(2, user=stage.person)
    ids = [request.request_id for request in consent_requests]
    done = ConsentRequest.objects.filter(request_id__in=ids, status="denied").count
    page = f"/consent/inbox/deny/?request={ids[0]}&request={ids[1]}"
    typed = {"requests": " ".join(ids)}
    return Scene("/consent/inbox/deny/", page, "Deny all of these", lambda: done() == 2, typed)


def grant_move(move: str, label: str, becomes: str, before: str = "active", **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        made = GrantFactory(request__user=stage.person, status=before)
        title = f"{label}: {made.app.name}"

        def done() -> bool:
            return Grant.objects.get(pk=made.pk).status == becomes

        here = f"/consent/apps/{made.app.app_id}/"
        return Scene(f"/consent/grants/{made.grant_id}/{move}/", here, title, done, typed)

    return make


def keep(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person, request__refresh_policy="continuous")
    done = Grant.objects.filter(pk=made.pk, kept_current=False).exists
    title, here = f"Stop updates: {made.app.name}", f"/consent/apps/{made.app.app_id}/"
    return Scene(f"/consent/grants/{made.grant_id}/keep/", here, title, done, {"kept": "no"})


def keep_unused(stage: Stage) -> Scene:
    ends_at = database_now() + timedelta(days=7)
    announced = {"unused_ends_at": ends_at, "unused_look_at": ends_at, "expires_at": ends_at + timedelta(days=90)}
    made = GrantFactory(request__user=stage.person, **announced)
    done = Grant.objects.filter(pk=made.pk, unused_ends_at=None).exists
    return Scene(f"/consent/grants/{made.grant_id}/keep-unused/", "/consent/", f"Keep: {made.app.name}", done)


def choose_unused(stage: Stage) -> Scene:
    done = ActorProfile.objects.filter(user=stage.person, unused_days=180).exists
    return Scene("/consent/apps/unused/", "/consent/apps/", "Save", done, {"days": "180"})


def pause_everything(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    done = Grant.objects.filter(pk=made.pk, status="paused").exists
    return Scene("/consent/pause/", "/consent/pause/", "Pause everything", done)


def pause_app(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    done = Grant.objects.filter(pk=made.pk, status="paused").exists
    return Scene(f"{here}pause/", here, f"Pause: {made.app.name}", done)


def block(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"

    def done() -> bool:
        return BlockedApp.objects.exists() and Grant.objects.get(pk=made.pk).status == "revoked"

    title = f"Block: {made.app.name}"
    return Scene(f"{here}block/", here, title, done, {"stop": "yes"})


def stop_everything(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    title = f"Stop everything: {made.app.name}"
    return Scene(f"{here}stop/", here, title, lambda: Grant.objects.get(pk=made.pk).status == "revoked")


def connect_by_code(stage: Stage) -> Scene:
    made = ConnectionFactory(return_url="", code="7KXQ4MPW")
    done = Connection.objects.filter(pk=made.pk, expires_at__gt=made.expires_at).exists
    return Scene("/connect/", "/connect/", "Continue", done, {"code": "7KXQ4MPW"}, "7KXQ4MPW")


def connection_answer(stage: Stage) -> Scene:
    give_vault(stage.person)
    riding = {name: value for name, value in request_body(stage.person).items() if name != "user_id"}
    made = ConnectionFactory(app__origins=["https://shop.example"], asked=riding)
    here = f"/connect/{made.connection_id}/"
    done = Connection.objects.filter(pk=made.pk, status="connected", user=stage.person).exists
    return Scene(here, here, f"Connect: {made.app.name}", done, {"decision": "connect"})


def disconnect(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    title = f"Disconnect: {made.app.name}"
    return Scene(f"{here}disconnect/", here, title, lambda: Grant.objects.get(pk=made.pk).status == "revoked")


def stop_host(stage: Stage) -> Scene:
    made = HostTokenFactory(app__person=stage.person)
    title = f"Stop it: {made.label}"

    def done() -> bool:
        return App.objects.get(pk=made.app_id).status == "closed"

    return Scene(f"/consent/hosts/{made.prefix}/stop/", "/consent/apps/", title, done)


def save_alerts(stage: Stage) -> Scene:
    here = "/consent/alerts/"
    done = AlertSettings.objects.filter(user=stage.person, requests="mail", zone="Europe/Berlin").exists
    return Scene(here, here, "Save", done, ALERTS, "A heron")


def stop_devices(stage: Stage) -> Scene:
    PushSubscriptionFactory(user=stage.person)
    here = "/consent/alerts/"
    done = PushSubscription.objects.filter(user=stage.person).exists
    return Scene(f"{here}devices/stop/", here, "Stop on all devices", lambda: not done())


def unblock(stage: Stage) -> Scene:
    made = BlockedAppFactory(user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    DiscoveryFactory(user=stage.person, app=made.app)
    title = f"Unblock: {made.app.name}"
    return Scene(f"{here}unblock/", here, title, lambda: not BlockedApp.objects.exists())


def report(stage: Stage) -> Scene:
    consent_request = ConsentRequestFactory(user=stage.person)
    here = f"/consent/apps/{consent_request.app.app_id}/"
    text = "It pretends to be my bank.\nTwice."
    return Scene(
        f"{here}report/", here, f"Send the report: {consent_request.app.name}",
        lambda: [words.replace("\r", "") for words in AppReport.objects.values_list("text", flat=True)] == [text],
        {"text": text}, "It pretends to be my bank.\nTwice.",
    )  # fmt: skip


def verify_history(stage: Stage) -> Scene:
    decision_actions.deny(request_id=ConsentRequestFactory(user=stage.person).request_id, by=stage.person)
    return Scene("/consent/history/verify/", "/consent/history/", "Check this history", lambda: True)


def discovery(stage: Stage) -> Scene:
    give_vault(stage.person)
    typed = {"scope": "attr.lifestyle.food.*", "hide": "1"}
    title = "Hide from apps: Food and drink"
    return Scene("/vault/discovery/", "/vault/data/lifestyle/", title, HiddenScope.objects.exists, typed)


def sharing_id(stage: Stage) -> Scene:
    give_vault(stage.person)
    title = "Make a sharing ID"
    return Scene("/vault/sharing-id/", "/vault/", title, SharingId.objects.exists, {"then": "make"})


def setup_done(stage: Stage) -> Scene:
    give_vault(stage.person)
    done = VaultKey.objects.filter(user=stage.person, pre_onboarding_completed=True).exists
    return Scene("/vault/setup/done/", "/vault/setup/preview/", "Finish", done)


def give_up_vault(stage: Stage) -> Scene:
    give_vault(stage.person)
    here = "/account/security/reset/"
    done = VaultKey.objects.filter(user=stage.person, vault_status="locked_out").exists
    return Scene(here, here, "Erase and start over", done, {"understood": "yes"})


def keep_vault(stage: Stage) -> Scene:
    from pkm.reset.actions import request_reset

    give_vault(stage.person)
    request_reset(by=stage.person)
    done = VaultKey.objects.filter(user=stage.person, vault_status="active").exists
    here = "/account/security/reset/"
    return Scene(f"{here}keep/", here, "Keep my data", done)


def remove_wrapper(stage: Stage) -> Scene:
    give_vault(stage.person, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    path = f"/account/security/wrappers/{wrapper.wrapper_id}/remove/"
    done = KeyWrapper.objects.filter(pk=wrapper.pk, removed_at__isnull=False).exists
    typed = {"only_recovery": "yes"}
    return Scene(path, path, "Remove it: Passphrase", done, typed)


def restore_wrapper(stage: Stage) -> Scene:
    from pkm.vault.actions import remove_wrapper as remove

    scene = remove_wrapper(stage)
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    remove(by=stage.person, wrapper_id=wrapper.wrapper_id, allow_only_recovery=True)
    path = scene.path.replace("/remove/", "/restore/")

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None

    return Scene(path, "/account/security/", "Put back: Passphrase", done)


SCENES: dict[str, Make] = {
    "consent:deny": deny,
    "consent:deny-several": deny_several,
    "consent:stop": grant_move("stop", "Stop sharing", "revoked"),
    "consent:pause": grant_move("pause", "Pause", "paused"),
    "consent:keep": keep,
    "consent:keep-unused": keep_unused,
    "consent:choose-unused": choose_unused,
    "consent:pause-everything": pause_everything,
    "consent:pause-app": pause_app,
    "consent:block": block,
    "consent:stop-host": stop_host,
    "consent:stop-everything": stop_everything,
    "consent:connect": connect_by_code,
    "consent:connection": connection_answer,
    "consent:disconnect": disconnect,
    "consent:alerts": save_alerts,
    "consent:stop-devices": stop_devices,
    "consent:unblock": unblock,
    "consent:report": report,
    "consent:verify-history": verify_history,
    "vault:discovery": discovery,
    "vault:setup-done": setup_done,
    "vault:sharing-id": sharing_id,
    "vault-reset": give_up_vault,
    "vault-reset-keep": keep_vault,
    "wrapper-remove": remove_wrapper,
    "wrapper-restore": restore_wrapper,
}
