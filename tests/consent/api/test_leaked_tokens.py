"""`POST /leaked-tokens`: anybody ends a token that they found; nobody learns whether it was one."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Erasure, OutgoingMail
from consent.api import leaked_tokens
from developers.authentication import find_token
from developers.models import AppAuditEntry, DeveloperToken, ManagementToken
from tests.factories import ManagementTokenFactory, MemberFactory, PersonFactory, TokenFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
PATH = "/api/v1/leaked-tokens"
UNKNOWN = f"cr_live_abcdefgh_{'x' * 43}"


class Clock:
    """One that moves where somebody sleeps, and by a little more with each call of what it is `taking` along."""

    def __init__(self) -> None:
        self.now, self._calls = 0.0, 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def taking(self, call: Callable[..., None]) -> Callable[..., None]:
        def timed(**given: str) -> None:
            self._calls += 1
            self.now += self._calls / 64
            call(**given)

        return timed


def report(body: Any, client: Client | None = None, **headers: str) -> Any:
    return (client or Client()).post(PATH, body, content_type="application/json", headers=headers)


def test_a_real_token_is_revoked_at_once_and_its_members_are_told() -> None:
    app = MemberFactory(user__email="ana@example.org", user__language="de").app
    MemberFactory(app=app, user__email="bo@example.org", role="member")
    MemberFactory(app=app, user__email="gone@example.org", user__is_active=False)
    token, other = TokenFactory(app=app, label="backend"), TokenFactory(app=app)

    answer = report({"token": token.secret}, Origin="https://scanner.example")

    assert (answer.status_code, answer.json()) == (202, {})
    assert [find_token(one.secret) is None for one in (token, other)] == [True, False]
    assert AppAuditEntry.objects.values_list("app", "member", "action", "facts").get() == (
        app.pk, None, "token.leaked", {"prefix": token.prefix, "label": "backend"},
    )  # fmt: skip
    assert [send_mails(), send_mails()] == [2, 0]
    assert sorted(sent.to[0] for sent in mail.outbox) == ["ana@example.org", "bo@example.org"]
    assert all(token.prefix in sent.body and token.secret not in sent.body for sent in mail.outbox)
    assert all(f"/developers/apps/{app.app_id}/tokens/" in sent.body for sent in mail.outbox)


def test_a_management_token_too() -> None:
    token = ManagementTokenFactory(user=PersonFactory(email="ana@example.org"))

    assert report({"token": token.secret}).status_code == 202

    row = ManagementToken.objects.get()
    assert row.revoked_at is not None
    assert row.leaked_at == row.revoked_at
    assert [send_mails(), send_mails()] == [1, 0]
    assert (mail.outbox[0].to, token.secret in mail.outbox[0].body) == (["ana@example.org"], False)


@pytest.mark.parametrize("make", [TokenFactory, ManagementTokenFactory])
def test_token_ends_even_where_its_mail_cannot_be_written(
    make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = make()
    if isinstance(token, DeveloperToken):
        MemberFactory(app=token.app)
    monkeypatch.setattr(OutgoingMail.objects, "create", lambda **_: Erasure.objects.create())  # breaks its transaction

    assert report({"token": token.secret}).status_code == 202

    token.refresh_from_db()
    assert token.leaked_at is not None


def test_one_in_its_overlap_ends_now_and_one_that_had_ended_stays_as_it_was() -> None:
    now = timezone.now()
    rotated = TokenFactory(revoked_at=now + timedelta(hours=3))
    ended = [TokenFactory(revoked_at=now - timedelta(hours=3)), TokenFactory(expires_at=now - timedelta(hours=3))]
    for token in (rotated, *ended):
        report({"token": token.secret})

    assert find_token(rotated.secret) is None
    assert DeveloperToken.objects.filter(leaked_at__isnull=False).get() == rotated


def test_an_unknown_one_is_answered_with_the_same_bytes_after_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    token, clock = TokenFactory(), Clock()
    monkeypatch.setattr(leaked_tokens, "time", clock)
    monkeypatch.setattr(leaked_tokens, "report_leak", clock.taking(leaked_tokens.report_leak))
    answers, took = [], []
    for text in (token.secret, token.secret, UNKNOWN, "hunter2", "é" * 1000):
        began = clock.now
        answer = report({"token": text})
        took.append(clock.now - began)
        answers.append((answer.status_code, answer.content, sorted(set(answer.headers) - {"X-Request-Id"})))

    assert len({str(one) for one in answers}) == 1
    assert took == pytest.approx([leaked_tokens._ANSWERS_AFTER] * 5)
    assert AppAuditEntry.objects.count() == 1


@pytest.mark.parametrize("body", ["{}", "[]", '{"token": ""}', '{"token": 1}', '{"token": "a", "b": 1}', "nonsense"])
def test_what_does_not_fit_is_told(body: str) -> None:
    answer = report(body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


def test_any_text_is_taken_as_what_a_scanner_found() -> None:
    answer = report(json.dumps({"token": "cr_live_" + "x" * 20_000}))

    assert (answer.status_code, answer.json()) == (202, {})


def test_other_methods_and_media_types_are_refused() -> None:
    assert [Client().get(PATH).status_code, Client().delete(PATH).status_code] == [405, 405]
    assert Client().post(PATH, {"token": UNKNOWN}).status_code == 415


def test_one_network_may_report_only_so_often(settings: Any) -> None:
    settings.LEAKED_TOKENS_PER_HOUR = 2
    token = TokenFactory()

    answers = [report({"token": text}) for text in (UNKNOWN, UNKNOWN, token.secret)]

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert int(answers[2]["Retry-After"]) > 3000
    assert answers[0]["RateLimit"].startswith('"leaked-tokens";r=1')
    assert find_token(token.secret) is not None
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert report({"token": token.secret}, elsewhere).status_code == 202
