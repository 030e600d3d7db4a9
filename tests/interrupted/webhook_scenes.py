"""The scenes of an app's webhooks and destinations (see scenes.py)."""

from collections.abc import Callable
from typing import Any

from agents_proxy.destinations.models import Destination
from consent.notices.models import WebhookDelivery
from developers.models import WebhookEndpoint
from tests.factories import DestinationFactory, MemberFactory, WebhookDeliveryFactory, WebhookEndpointFactory
from tests.factories.consent_requests import now
from tests.fakes.receiver import receiving
from tests.interrupted.scenes import Make, Scene, Stage

URL = "https://trips.example/new"


def _endpoint(stage: Stage, **values: Any) -> tuple[WebhookEndpoint, str]:
    """One of an app that the person manages, and the address of its page."""
    made = WebhookEndpointFactory(app=MemberFactory(user=stage.person).app, **values)
    return made, f"/developers/apps/{made.app.app_id}/webhooks/{made.pk}/"


def add(stage: Stage) -> Scene:
    app = MemberFactory(user=stage.person).app
    here = f"/developers/apps/{app.app_id}/webhooks/"
    typed = {"url": URL, "type-consent.denied": "on", "type-export.updated": "on"}

    def done() -> bool:
        return list(WebhookEndpoint.objects.values_list("url", "types")) == [
            (URL, ["consent.denied", "export.updated"])
        ]

    return Scene(here, here, f"Add the endpoint: {app.name}", done, typed, URL)


def change(stage: Stage) -> Scene:
    made, here = _endpoint(stage)
    title = f"Save: {made.url}"
    typed = {"url": URL, "type-consent.denied": "on", "type-consent.paused": "on"}

    def done() -> bool:
        row = WebhookEndpoint.objects.get()
        return (row.url, row.types) == (URL, ["consent.denied", "consent.paused"])

    return Scene(f"{here}change/", here, title, done, typed, URL)


def switch(stage: Stage) -> Scene:
    made, here = _endpoint(stage)
    title = f"Disable: {made.url}"
    typed = {"enabled": "no"}
    return Scene(f"{here}switch/", here, title, lambda: WebhookEndpoint.objects.get().disabled_at is not None, typed)


def renew(stage: Stage) -> Scene:
    made, here = _endpoint(stage)
    title = f"Renew the secret: {made.url}"
    return Scene(
        f"{here}secret/", here, title, lambda: WebhookEndpoint.objects.get().secret != made.secret, {"overlap": "1h"}
    )


def test(stage: Stage) -> Scene:
    receiver = stage.after.enter_context(receiving(stage.settings))
    made, here = _endpoint(stage, url=receiver.url)
    title = f"Send a test: {made.url}"
    return Scene(f"{here}test/", here, title, lambda: len(receiver.arrived) == 1)


def delete(stage: Stage) -> Scene:
    made, here = _endpoint(stage)
    title = f"Delete the endpoint: {made.url}"
    return Scene(f"{here}delete/", f"{here}delete/", title, lambda: not WebhookEndpoint.objects.exists())


def replays(path: Callable[[WebhookDelivery], str], title: str, **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        made, here = _endpoint(stage)
        given_up = WebhookDeliveryFactory(endpoint=made, status="given_up", attempt=13, finished_at=now())
        done = WebhookDelivery.objects.filter(status="waiting").exists
        return Scene(f"{here}{path(given_up)}", here, title.format(url=made.url), done, typed)

    return make


def add_destination(stage: Stage) -> Scene:
    app = MemberFactory(user=stage.person).app
    here = f"/developers/apps/{app.app_id}/destinations/"
    typed = {"name": "Trips CRM", "url": URL}
    title = f"Add the destination: {app.name}"
    return Scene(here, here, title, lambda: Destination.objects.filter(url=URL).exists(), typed, URL)


def _destination(stage: Stage) -> tuple[Destination, str]:
    made = DestinationFactory(app=MemberFactory(user=stage.person).app)
    return made, f"/developers/apps/{made.app.app_id}/destinations/"


def switch_destination(stage: Stage) -> Scene:
    made, here = _destination(stage)
    title = f"Disable: {made.name}"
    done = Destination.objects.filter(disabled_at__isnull=False).exists
    return Scene(f"{here}{made.destination_id}/switch/", here, title, done, {"enabled": "no"})


def renew_destination(stage: Stage) -> Scene:
    made, here = _destination(stage)
    title = f"Renew the secret: {made.name}"
    path = f"{here}{made.destination_id}/secret/"
    return Scene(path, here, title, lambda: Destination.objects.get().secret != made.secret)


def remove_destination(stage: Stage) -> Scene:
    made, here = _destination(stage)
    path = f"{here}{made.destination_id}/remove/"
    title = f"Remove the destination: {made.name}"
    return Scene(path, path, title, lambda: Destination.objects.get().removed_at is not None)


SCENES: dict[str, Make] = {
    "portal:destinations": add_destination,
    "portal:destination-switch": switch_destination,
    "portal:destination-renew": renew_destination,
    "portal:destination-remove": remove_destination,
    "portal:webhooks": add,
    "portal:webhook-change": change,
    "portal:webhook-switch": switch,
    "portal:webhook-renew": renew,
    "portal:webhook-test": test,
    "portal:webhook-delete": delete,
    "portal:webhook-replay": replays(lambda row: f"deliveries/{row.pk}/replay/", "Send again: {url}"),
    "portal:webhook-replay-failed": replays(lambda row: "replay/", "Send again what failed: {url}", hours="24"),
}
