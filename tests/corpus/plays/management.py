"""What management answers that depends on who is in the team and how often they come. The rest: programs, callers."""

from typing import Any

from allauth.account.models import EmailAddress
from django.test import override_settings

from tests import factories
from tests.corpus.stage import Caller, Stage

MANAGE = "/api/v1/manage"
# primary keys, which are told, and which no sequence of a database reaches
_ENDPOINT, _DELIVERY = 918_273_645, 718_273_645


def play(stage: Stage) -> None:
    owner, member = factories.PersonFactory(), factories.PersonFactory()
    app = factories.AppFactory()
    factories.MemberFactory(app=app, user=owner)
    factories.MemberFactory(app=app, user=member, role="member")
    owning = Caller.with_token("owner", factories.ManagementTokenFactory(user=owner).secret)
    belonging = Caller.with_token("member", factories.ManagementTokenFactory(user=member).secret)
    _team(stage, app, owning, belonging, owner)
    _destinations(stage, app, owning)
    _webhooks(stage, app, owning)
    _test_app(stage, owner, owning)


def _confirmed() -> Any:
    """A person who showed that their address is theirs, and so may be added to a team."""
    person = factories.PersonFactory()
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    return person


def _team(stage: Stage, app: Any, owning: Caller, belonging: Caller, owner: Any) -> None:
    members, newcomer = f"{MANAGE}/apps/{app.app_id}/members", _confirmed()
    body = {"user_id": newcomer.public_id}
    stage.call("for owners", belonging, "POST", members, body)
    stage.call("for owners", belonging, "DELETE", f"{members}/{owner.public_id}")
    stage.call("the last owner", owning, "DELETE", f"{members}/{owner.public_id}")
    stage.call("no such person", owning, "POST", members, {"user_id": "usr_unknown"})
    stage.call("added", owning, "POST", members, body)
    stage.call("added twice", owning, "POST", members, body)
    stage.call("the team", owning, "GET", members)
    stage.call("taken out", owning, "DELETE", f"{members}/{newcomer.public_id}")
    with override_settings(INVITATIONS_PER_DAY=1):
        another = _confirmed()
        stage.call("too many on one day", owning, "POST", members, {"user_id": another.public_id})


def _test_app(stage: Stage, owner: Any, owning: Caller) -> None:
    app = factories.TestAppFactory()
    factories.MemberFactory(app=app, user=owner)
    stage.call("renamed", owning, "PATCH", f"{MANAGE}/apps/{app.app_id}", {"name": "Lunch Finder"})


def _webhooks(stage: Stage, app: Any, owning: Caller) -> None:
    endpoint = factories.WebhookEndpointFactory(app=app, url="https://127.0.0.1/hook", pk=_ENDPOINT)
    notice = factories.NoticeFactory(app=app, request=factories.ConsentRequestFactory(app=app), sequence=1000)
    factories.WebhookDeliveryFactory(endpoint=endpoint, notice=notice, pk=_DELIVERY)
    here, replay = f"{MANAGE}/apps/{app.app_id}/webhooks/{_ENDPOINT}", f"{MANAGE}/deliveries/{_DELIVERY}/replay"
    stage.call("one", owning, "GET", f"{MANAGE}/apps/{app.app_id}/webhooks")
    stage.call("tried", owning, "POST", f"{here}/test", {})
    for number in range(11):
        stage.call(f"tried again, {number}", owning, "POST", f"{here}/test", {})
    for number in range(2):
        stage.call(f"sent anew, {number}", owning, "POST", replay, {})
    while stage.ask(owning, "POST", replay, b"{}").status != 429:
        pass  # 120 an hour
    stage.call("sent anew too often", owning, "POST", replay, {})
    stage.call("switched off", owning, "PATCH", here, {"enabled": False})
    stage.call("switched off before", owning, "POST", replay, {})
    app.status = "suspended"
    app.save()
    stage.call("suspended", owning, "POST", f"{here}/test", {})


def _destinations(stage: Stage, app: Any, owning: Caller) -> None:
    here = f"{MANAGE}/apps/{app.app_id}/destinations"
    body = {"name": "Trips CRM", "url": "https://trips.example/crm"}
    made = stage.call("made", owning, "POST", here, body).json()["destination_id"]
    stage.call("made twice", owning, "POST", here, body)
    stage.call("an address inside", owning, "POST", here, {**body, "url": "https://127.0.0.1/crm"})
    stage.call("one", owning, "GET", here)
    one = f"{here}/{made}"
    stage.call("switched off", owning, "PATCH", one, {"enabled": False})
    stage.call("switched on", owning, "PATCH", one, {"enabled": True})
    stage.call("a new secret", owning, "POST", f"{one}/rotate-secret", {})
    stage.call("removed", owning, "DELETE", one)
    for method, path, sent in (
        ("PATCH", one, {"enabled": True}),
        ("DELETE", one, {}),
        ("POST", f"{one}/rotate-secret", {}),
    ):
        stage.call("not there", owning, method, path, sent)
