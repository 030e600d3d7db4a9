"""Making, listing and deleting sandbox people, and who may."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client

from accounts.models import User
from common.problems import Problem
from consent.exports.models import Export
from consent.ledger import verifying
from consent.notices.models import Notice
from consent.sandbox import actions
from consent.sandbox.models import SandboxPerson
from developers.app_events import ProcessingEvent
from developers.models import App
from pkm.segments.models import Blob
from pkm.vault.models import KeyWrapper, VaultKey
from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.consent.sandbox.conftest import of
from tests.factories import ConsentRequestFactory, ExportFactory, SandboxPersonFactory, TestAppFactory, Vault
from tests.outbox import send_mails
from tests.patience import MOST_SECONDS

PEOPLE = "/sandbox/people"
UNFIT: list[Any] = [{"label": 1}, {"label": "a\nb"}, {"label": "x" * 81}, {"name": "Ada"}, [], "Ada"]


def test_a_sandbox_person_is_made_and_listed(api: Developer) -> None:
    made = [api.post(PEOPLE, body) for body in ({"label": "Ada, who likes Thai"}, {})]

    assert [answer.status_code for answer in made] == [201, 201]
    first, second = (answer.json() for answer in made)
    assert first == {"user_id": first["user_id"], "label": "Ada, who likes Thai"}
    assert second["label"] == ""
    assert api.get(PEOPLE).json() == {"people": [second, first]}
    assert api.get(of(User.objects.get(public_id=first["user_id"]), "/keys")).json()["vault_status"] == "absent"


def test_a_label_may_be_null_and_the_body_left_out(api: Developer) -> None:
    made = [api.post(PEOPLE, {"label": None}), api.send("POST", PEOPLE, media_type="")]

    assert [(answer.status_code, answer.json()["label"]) for answer in made] == [(201, "")] * 2


@pytest.mark.parametrize("body", UNFIT)
def test_a_body_that_does_not_fit_makes_nobody(api: Developer, body: Any) -> None:
    answer = api.post(PEOPLE, body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert not SandboxPerson.objects.exists()


def test_the_sandbox_takes_no_more_than_twenty(api: Developer, app: App) -> None:
    for _ in range(20):
        SandboxPersonFactory(app=app)
    SandboxPersonFactory(app=TestAppFactory())

    assert api.post(PEOPLE).json()["code"] == "too_many_sandbox_people"
    api.delete(of(SandboxPerson.objects.filter(app=app).first().user))
    assert api.post(PEOPLE).status_code == 201


@pytest.mark.parametrize(
    ("limit", "path", "body"),
    [("_MADE", PEOPLE, {}), ("_EVENTS", "/sandbox/events", {"type": "analysis.completed"})],
)
def test_a_test_app_makes_so_many_people_and_events_and_no_more(
    api: Developer, app: App, monkeypatch: pytest.MonkeyPatch, limit: str, path: str, body: dict[str, str]
) -> None:
    few = replace(getattr(actions, limit), allowed=2)
    monkeypatch.setattr(actions, limit, few)
    answers = []
    for _ in range(3):
        answers.append(api.post(path, body))
        for person in SandboxPerson.objects.filter(app=app):
            api.delete(of(person.user))

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].json()["code"] == "too_many_requests"
    assert 0 < int(answers[2]["Retry-After"]) <= few.seconds
    assert answers[1]["RateLimit"].startswith(f'"{few.name}";r=0;t=')
    assert Notice.objects.count() + User.objects.filter(email__contains="sandbox").count() == 2
    assert Developer.of(TestAppFactory()).post(path, body).status_code == 201


@pytest.mark.django_db(transaction=True)  # each thread has a connection of its own
def test_many_at_once_make_exactly_twenty() -> None:
    app, outcomes = TestAppFactory(), []
    barrier = threading.Barrier(8)

    def work() -> None:
        try:
            barrier.wait(MOST_SECONDS)
            for _ in range(4):
                try:
                    actions.make_person(app_pk=app.pk)
                    outcomes.append("made")
                except Problem as refused:
                    outcomes.append(refused.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["made"] * 20 + ["too_many_sandbox_people"] * 12
    assert SandboxPerson.objects.filter(app=app).count() == 20


def test_a_live_token_is_told_that_it_needs_test_mode(live_api: Developer, played: User) -> None:
    answers = [
        live_api.get(PEOPLE),
        live_api.post(PEOPLE),
        live_api.delete(of(played)),
        live_api.get(of(played, "/keys")),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "test_mode_required")] * 4


def test_the_token_needs_the_permission_to_ask(app: App, played: User) -> None:
    reader = Developer.of(app, permissions=["discover", "read"])

    assert reader.post(PEOPLE).json()["code"] == "insufficient_scope"
    assert reader.get(of(played, "/keys")).json()["code"] == "insufficient_scope"


def test_a_deleted_person_shares_nothing_and_is_unknown_from_then_on(api: Developer, app: App, vault: Vault) -> None:
    waiting = ConsentRequestFactory(app=app, user=vault.user)
    export = ExportFactory(grant__request__app=app, grant__request__user=vault.user)

    assert api.delete(of(vault.user)).status_code == 204

    waiting.refresh_from_db()
    export.refresh_from_db()
    assert (waiting.status, waiting.decided_by) == ("expired", "system")
    assert (export.grant.status, export.grant.ended_by, export.ciphertext) == ("terminated", "system", None)
    assert sorted(Notice.objects.values_list("kind", flat=True)) == ["consent.expired", "consent.terminated"]
    assert not any(kept.objects.filter(user=vault.user).exists() for kept in (Blob, KeyWrapper, VaultKey))
    assert list(verifying.verify()) == []
    assert api.delete(of(vault.user)).status_code == 404
    assert api.get(f"/user-scopes/{vault.user.public_id}").status_code == 404
    assert api.get("/consent-status", request_id=waiting.request_id).json()["status"] == "expired"
    assert Export.objects.count() == 1


def test_a_deleted_person_does_not_become_somebody_whom_live_apps_reach(
    api: Developer, live_api: Developer, vault: Vault
) -> None:
    api.delete(of(vault.user))

    assert live_api.get(f"/user-scopes/{vault.user.public_id}").json()["code"] == "unknown_user"
    assert live_api.post("/request-consent", request_body(vault.user)).json()["code"] == "unknown_user"


def test_nobody_signs_in_as_them_and_no_mail_is_sent_to_them(api: Developer, app: App, vault: Vault) -> None:
    made = User.objects.get(public_id=api.post(PEOPLE, {"label": "Ada"}).json()["user_id"])
    ConsentRequestFactory(app=app, user=made)

    assert not made.has_usable_password()
    assert made.emailaddress_set.count() == 0
    assert send_mails() == 0
    for path in ("/accounts/password/reset/", "/accounts/signup/"):
        Client().post(path, {"email": made.email, "password1": "a-long-password-1", "password2": "a-long-password-1"})
    Client().post("/accounts/login/", {"login": made.email, "password": ""})
    assert mail.outbox == []


@pytest.mark.parametrize("event", ProcessingEvent)
def test_a_test_app_is_told_of_any_event_of_agents(api: Developer, app: App, event: ProcessingEvent) -> None:
    answer = api.post("/sandbox/events", {"type": event.value})

    notice = Notice.objects.get(app=app)
    assert (answer.status_code, answer.json()) == (201, notice.facts)
    assert (notice.kind, notice.request, notice.facts["sequence"]) == (event.value, None, notice.sequence)
    assert api.post("/sandbox/events", {"type": "consent.approved"}).json()["code"] == "invalid_request"
