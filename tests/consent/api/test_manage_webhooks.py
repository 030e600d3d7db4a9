"""An app's webhooks by program: what the portal's pages do, with a personal management token."""

from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from common import encryption
from consent.notices.models import WebhookDelivery
from developers.models import AppAuditEntry, AppMember, WebhookEndpoint
from tests.callers import JsonClient, manager
from tests.consent.api.addresses import problem
from tests.factories import (
    AppFactory,
    ManagementTokenFactory,
    MemberFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tests.factories.consent_requests import now
from tests.fakes.receiver import Receiver

URL = "https://trips.example/hook"
pytestmark = pytest.mark.django_db


@pytest.fixture
def program(member: AppMember) -> JsonClient:
    return manager(member.user)


def hooks(member: AppMember, rest: object = "") -> str:
    return f"/apps/{member.app.app_id}/webhooks" + (f"/{rest}" if rest else "")


def test_an_endpoint_is_made_listed_changed_and_deleted(program: JsonClient, member: AppMember) -> None:
    made = program.post(hooks(member), {"url": URL, "types": ["export.updated", "consent.denied"]})

    assert made.status_code == 201
    answer = made.json()
    row = WebhookEndpoint.objects.get()
    assert encryption.opened(row.secret) == answer.pop("secret")
    assert (answer["url"], answer["types"], answer["enabled"]) == (URL, ["consent.denied", "export.updated"], True)
    listed = program.get(hooks(member)).json()
    assert listed == {"items": [answer], "next_cursor": None}
    changed = program.send("PATCH", hooks(member, answer["endpoint_id"]), b'{"types": [], "enabled": false}').json()
    assert (changed["types"], changed["enabled"], changed["disabled_reason"]) == ([], False, "a member of the app")
    assert program.send("PATCH", hooks(member, answer["endpoint_id"]), b"{}").json() == changed
    assert program.delete(hooks(member, answer["endpoint_id"])).status_code == 204
    assert problem(program.delete(hooks(member, answer["endpoint_id"]))) == (404, "not_found")
    entries = list(AppAuditEntry.objects.order_by("pk").values_list("action", "member"))
    actions = ["webhook.added", "webhook.changed", "webhook.disabled", "webhook.deleted"]
    assert entries == [(action, member.user.pk) for action in actions]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "http://trips.example/"}, "url"),
        ({"url": "https://10.1.1.1/"}, "url"),
        ({"url": "https://trips.example/#x"}, "url"),
        ({"url": 7}, "url"),
        ({"url": URL, "types": ["consent.test"]}, "types"),
        ({"url": URL, "types": "consent.denied"}, "types"),
        ({"url": URL, "secret": "whsec_mine"}, "secret"),
    ],
)
def test_what_does_not_fit_makes_nothing(
    program: JsonClient, member: AppMember, body: dict[str, Any], field: str
) -> None:
    answer = program.post(hooks(member), body)

    assert problem(answer) == (400, "invalid_request")
    assert answer.json()["errors"][0]["field"].startswith(field)
    assert not WebhookEndpoint.objects.exists()


def test_a_change_that_does_not_fit_changes_nothing(program: JsonClient, member: AppMember) -> None:
    taken, row = (WebhookEndpointFactory(app=member.app) for _ in range(2))
    before = list(WebhookEndpoint.objects.values())

    for body in (b'{"url": "%s", "enabled": false}' % taken.url.encode(), b'{"enabled": 1}', b'{"app": "x"}', b"[]"):
        assert problem(program.send("PATCH", hooks(member, row.pk), body)) == (400, "invalid_request")

    assert list(WebhookEndpoint.objects.values()) == before


def test_a_secret_is_rotated_with_an_overlap(program: JsonClient, member: AppMember) -> None:
    row = WebhookEndpointFactory(app=member.app)

    first = program.post(hooks(member, f"{row.pk}/rotate-secret")).json()
    again = program.post(hooks(member, f"{row.pk}/rotate-secret"), {"overlap": 0}).json()

    assert first["old_secret_until"] is not None
    assert again["old_secret_until"] is None
    assert encryption.opened(WebhookEndpoint.objects.get().secret) == again["secret"] != first["secret"]
    for overlap in (-1, 2_592_001, "1", None):
        assert problem(program.post(hooks(member, f"{row.pk}/rotate-secret"), {"overlap": overlap}))[0] == 400
    assert encryption.opened(WebhookEndpoint.objects.get().secret) == again["secret"]


def test_a_test_says_what_was_answered(program: JsonClient, member: AppMember, receiver: Receiver) -> None:
    made = program.post(hooks(member), {"url": receiver.url}).json()
    receiver.answers = [204, 503]
    here = hooks(member, f"{made['endpoint_id']}/test")

    good, bad = program.post(here).json(), program.post(here).json()

    assert (good["delivered"], good["status_code"], good["error"]) == (True, 204, None)
    assert 0 <= good["ms"] < 8000
    assert (bad["delivered"], bad["status_code"], bad["error"]) == (False, 503, "it answered 503")
    headers, body = receiver.arrived[0]
    assert Webhook(made["secret"]).verify(body, headers)["type"] == "consent.test"
    answers = [program.post(here) for _ in range(9)]
    assert problem(answers[-1]) == (429, "too_many_requests")
    assert int(answers[-1]["Retry-After"]) > 0


def test_deliveries_are_listed_in_pages_and_replayed(program: JsonClient, member: AppMember) -> None:
    row = WebhookEndpointFactory(app=member.app)
    gone = {"status": "given_up", "attempt": 13, "failure": "it answered 500", "status_code": 500, "ms": 12}
    made = [WebhookDeliveryFactory(endpoint=row, finished_at=now(), tried_at=now(), **gone) for _ in range(3)]
    here = hooks(member, f"{row.pk}/deliveries")

    first = program.get(here, limit=2).json()
    rest = program.get(here, limit=2, cursor=first["next_cursor"]).json()

    assert [item["delivery_id"] for item in first["items"] + rest["items"]] == [str(one.pk) for one in made[::-1]]
    assert rest["next_cursor"] is None
    one = first["items"][0]
    assert (one["status"], one["attempts"], one["status_code"], one["ms"], one["error"], one["next_at"]) == (
        "given_up", 13, 500, 12, "it answered 500", None,
    )  # fmt: skip
    assert problem(program.get(here, cursor="nonsense")) == (400, "invalid_request")
    again = program.post(f"/deliveries/{one['delivery_id']}/replay").json()
    assert (again["status"], again["attempts"], again["webhook_id"]) == ("waiting", 0, one["webhook_id"])
    assert WebhookDelivery.objects.filter(status="waiting").get() == made[-1]
    WebhookEndpoint.objects.update(disabled_at=now(), reason="x")
    assert problem(program.post(f"/deliveries/{one['delivery_id']}/replay")) == (409, "endpoint_disabled")


def test_what_has_no_form_of_a_name_is_not_there(program: JsonClient, member: AppMember) -> None:
    mine = WebhookEndpointFactory(app=member.app)

    for name in (mine.pk + 1000, "x", "-1", "१", 10**30, f"{mine.pk}%20"):
        answers = [
            program.send("PATCH", hooks(member, name), b'{"enabled": false}'),
            program.delete(hooks(member, name)),
            program.post(hooks(member, f"{name}/test")),
            program.post(hooks(member, f"{name}/rotate-secret")),
            program.get(hooks(member, f"{name}/deliveries")),
            program.post(f"/deliveries/{name}/replay"),
        ]
        assert {problem(answer) for answer in answers} == {(404, "not_found")}, name


def test_a_token_for_another_app_of_the_person_replays_nothing_here(member: AppMember) -> None:
    delivery = WebhookDeliveryFactory(endpoint=WebhookEndpointFactory(app=member.app), status="given_up",
                                      finished_at=now())  # fmt: skip
    other = MemberFactory(user=member.user, app=AppFactory()).app
    for permissions in ({other.app_id: ["read", "write"]}, {member.app.app_id: ["read"], other.app_id: ["write"]}):
        token = ManagementTokenFactory(user=member.user, permissions=permissions).secret
        program = manager(member.user)
        program.headers = {"Authorization": f"Bearer {token}"}

        assert problem(program.post(f"/deliveries/{delivery.pk}/replay")) == (404, "not_found")

    assert WebhookDelivery.objects.get().status == "given_up"
