"""Destinations of real receivers, and apps that hold a token to send to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.test import Client

from accounts.models import User
from agents_proxy.activations import deliveries
from agents_proxy.activations.models import Activation
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.origins import app_of_origin
from agents_proxy.states import Purpose
from developers.models import App
from tests.agents_proxy.proxy_calls import owning
from tests.callers import JsonClient
from tests.fakes.crm import Crm, running_crm

ENTERPRISE = (Purpose.PROFILE, Purpose.ENRICHMENT, Purpose.BRAND_AFFINITY, Purpose.ACTIVATION)


@contextmanager
def receiving(settings: Any, app: App, name: str = "Trips CRM") -> Iterator[tuple[type[Crm], Destination]]:
    """A receiver that listens, and the app's destination that leads to it."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    with running_crm() as crm:
        destination, crm.secret = destination_actions.add_destination(app=app, name=name, url=crm.url, by=None)
        yield crm, destination


def token_of(person: User, app: App, *destinations: Destination, purposes: Any = ENTERPRISE) -> str:
    """What the app's site got when this person agreed on the hosted page."""
    origin = app.origins[0]
    known = app_of_origin(origin)
    assert known is not None
    return consents.give_to_site(
        by=owning(person), purposes=purposes, app=known, origin=origin, destinations=destinations
    ).secret


def backend(token: str) -> JsonClient:
    """An enterprise's own server: a token, and neither a session nor an origin."""
    return JsonClient(Client(enforce_csrf_checks=True), headers={"A2A-Consent": token})


def deliver() -> None:
    """What the worker does now."""
    for activation_pk in Activation.objects.order_by("pk").values_list("pk", flat=True):
        deliveries.send(activation_pk)
