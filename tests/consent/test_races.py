"""Approve, deny, cancel and expiry fired at one request at once: exactly one wins, and the chains hold.

RACE_ROUNDS sets how many requests are raced; a thousand: `RACE_ROUNDS=1000 ./run test tests/consent/test_races.py`.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from common.clock import database_now
from common.problems import Problem
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from consent.exports import actions as export_actions
from consent.exports import reads
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import Receipt
from consent.notices.models import Notice
from consent.requests import actions as request_actions
from consent.requests import creation, own_rules
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.schemas import ExportBody, RequestConsentBody
from consent.states import Actor, RequestStatus
from consent_bridge import sealed
from developers.authentication import AppContext
from developers.models import App
from pkm.registry.models import ScopeEntry
from tests.chains import entries_about
from tests.consent.decisions import approval, refreshed
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    PersonFactory,
    StaffFactory,
    TokenFactory,
    give_vault,
    known_as,
)
from tests.locks import somebody_waits_for_a_lock
from tests.patience import MOST_SECONDS, eventually
from tests.staff import at_the_admin

ROUNDS = int(os.environ.get("RACE_ROUNDS", "40"))
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),  # each thread has a connection of its own
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="rows are raced for on PostgreSQL"),
]


def in_parts(parts: int, rounds: int = ROUNDS) -> pytest.MarkDecorator:
    """So many rounds in as many tests, each of which is over soon."""
    shares = [pytest.param(len(range(part, rounds, parts)), id=f"part {part + 1}") for part in range(parts)]
    return pytest.mark.parametrize("rounds", shares)


def expire(request: ConsentRequest) -> None:
    with transaction.atomic():
        close_request(request_pk=request.pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=database_now())


def question(name: str, key: dict[str, str]) -> RequestConsentBody:
    """What an app asks of the person whom it calls so."""
    return RequestConsentBody.model_validate(
        {
            "user_id": name,
            "scope": "attr.lifestyle.food.*",
            "purpose": "Suggest restaurants that you would like",
            "connector_public_key": key,
            "connector_key_id": "key-1",
            "connector_wrapping_alg": "ECDH-ES+A256KW",
        }
    )


def fire(calls: list[Callable[[], object]], pool: ThreadPoolExecutor) -> None:
    """All at once, from a thread and a connection each; refusals are expected, anything else is not."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        barrier.wait()
        with contextlib.suppress(Problem):
            call()

    for future in [pool.submit(run, call) for call in calls]:
        future.result()


def close_connections(pool: ThreadPoolExecutor, size: int) -> None:
    barrier = threading.Barrier(size)

    def close() -> None:
        barrier.wait()
        connection.close()

    for future in [pool.submit(close) for _ in range(size)]:
        future.result()


@in_parts(4)
def test_one_decision_wins(rounds: int) -> None:
    app, person = AppFactory(), PersonFactory()
    vault = give_vault(person)
    winners: dict[str, int] = {}
    with ThreadPoolExecutor(8) as pool:
        for _ in range(rounds):
            # the deadline falls into the race; the digest speaks of whole seconds either way
            deadline = datetime.now(UTC) + timedelta(milliseconds=25)
            created = deadline - timedelta(minutes=1)
            request = ConsentRequestFactory(app=app, user=person, created_at=created, expires_at=deadline)
            body = approval(request, vault)
            calls: list[Callable[[], object]] = [
                lambda r=request, b=body: decision_actions.approve(request_id=r.request_id, by=person, body=b),
                lambda r=request: decision_actions.deny(request_id=r.request_id, by=person),
                lambda r=request: decision_actions.end_consent(app_pk=app.pk, request_id=r.request_id),
                lambda r=request: expire(r),
            ] * 2
            time.sleep(max(0, (deadline - datetime.now(UTC)).total_seconds() - 0.004))
            fire(calls, pool)
            expire(request)  # whoever lost to a deadline that had not quite come
            status = ConsentRequest.objects.get(pk=request.pk).status
            winners[status] = winners.get(status, 0) + 1
            # a cancel may follow an approval as a release: that ends the grant, not the decision
            decided = (
                entries_about("app:")
                .with_facts(request_id=request.request_id)
                .filter(kind__in=["approved", "denied", "cancelled", "expired"])
            )
            assert list(decided.values_list("kind", flat=True)) == [status]
            assert (
                Receipt.objects.filter(
                    request=request, event__in=["approved", "denied", "cancelled", "expired"]
                ).count()
                == 1
            )
            assert Grant.objects.filter(request=request).exists() == (status == "approved")
        close_connections(pool, 8)
    assert sum(winners.values()) == rounds
    assert "pending" not in winners
    sequences = list(Notice.objects.filter(app=app).order_by("sequence").values_list("sequence", flat=True))
    assert sequences == list(range(1, len(sequences) + 1))
    assert list(verifying.verify()) == []


@in_parts(2, max(4, ROUNDS // 4))
def test_no_read_that_starts_after_a_revocation_succeeds(rounds: int) -> None:
    reads_after = 0
    with ThreadPoolExecutor(8) as pool:
        for _ in range(rounds):
            grant = ExportFactory().grant
            app = app_context(grant)
            ended = threading.Event()
            late: list[bool] = []

            def read(
                grant: Grant = grant, app: AppContext = app, ended: threading.Event = ended, late: list[bool] = late
            ) -> None:
                for _ in range(10):
                    began_after = ended.is_set()
                    reads.read_export(
                        app=app,
                        request_id=grant.request.request_id,
                        accept_jose=False,
                        if_none_match=None,
                        idempotency_key=None,
                        address="127.0.0.1",
                    )
                    late.append(began_after)

            def revoke(grant: Grant = grant, ended: threading.Event = ended) -> None:
                grant_actions.revoke(grant_id=grant.grant_id, by=grant.user)
                ended.set()

            fire([read] * 7 + [revoke], pool)
            reads_after += sum(late)
            grant.refresh_from_db()
            assert grant.reads == grant.read_log.count() == len(late)
        close_connections(pool, 8)
    assert reads_after == 0


@in_parts(8)
def test_blocking_an_app_that_is_cancelling_meanwhile(rounds: int) -> None:
    app, person = AppFactory(), PersonFactory()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            requests = [ConsentRequestFactory(app=app, user=person) for _ in range(12)]

            def cancel(requests: list[ConsentRequest] = requests) -> None:
                for request in reversed(requests):
                    decision_actions.end_consent(app_pk=app.pk, request_id=request.request_id)

            fire([lambda: blocked_apps.block_app(app_id=app.app_id, by=person, stop=True), cancel], pool)
            blocked_apps.unblock_app(app_id=app.app_id, by=person)
        close_connections(pool, 2)
    assert not ConsentRequest.objects.exclude(status="cancelled").exists()
    assert list(verifying.verify()) == []


@in_parts(4)
def test_two_questions_at_once_where_an_app_may_ask_once_a_week(rounds: int) -> None:
    app = AppFactory()
    context = asking_context(app)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            person = give_vault(PersonFactory()).user
            own_rules.save_rules(by=person, only_checked=False, weekly=True)
            name = known_as(app, person)

            def ask(name: str = name) -> None:
                key = sealed.public_half(sealed.generate_connector_key())
                creation.request_consent(app=context, body=question(name, key), idempotency_key=None)

            fire([ask, ask], pool)
            assert ConsentRequest.objects.filter(user=person).count() == 1
            assert own_rules.rules_of(person).weekly_count == 1
        close_connections(pool, 2)


@in_parts(4)
def test_approving_anew_while_the_older_approval_is_refreshed(rounds: int) -> None:
    app, person = AppFactory(), PersonFactory()
    vault = give_vault(person)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            older = ConsentRequestFactory(app=app, user=person, refresh_policy="continuous")
            decision_actions.approve(request_id=older.request_id, by=person, body=approval(older, vault))
            newer = ConsentRequestFactory(app=app, user=person)
            grant = Grant.objects.get(request=older)
            body, export = approval(newer, vault), ExportBody.model_validate(refreshed(vault, grant))
            grant_id = grant.grant_id
            fire(
                [
                    lambda r=newer, b=body: decision_actions.approve(request_id=r.request_id, by=person, body=b),
                    lambda g=grant_id, e=export: export_actions.refresh_export(grant_id=g, by=person, body=e),
                ],
                pool,
            )
            assert Grant.objects.get(request=newer).status == "active"
        close_connections(pool, 2)
    assert list(verifying.verify()) == []


@in_parts(2, max(4, ROUNDS // 4))
@pytest.mark.parametrize("how", ["grants", "requests"])
def test_staff_end_for_several_people_who_decide_meanwhile(how: str, rounds: int) -> None:
    """All of one app, so that each needs a head of its own and then the same one."""
    app, staff = AppFactory(), StaffFactory(is_superuser=True)
    page = at_the_admin(staff)
    with ThreadPoolExecutor(5) as pool:
        for _ in range(rounds):
            requests = [ConsentRequestFactory(app=app) for _ in range(4)]
            live = [ExportFactory(grant__request=ConsentRequestFactory(app=app, user=each.user, status="approved"))
                    for each in requests]  # fmt: skip
            chosen = {"action": "end", "_selected_action": [each.grant.pk for each in live], "reason": "Terms broken"}
            by_staff: dict[str, Callable[[], object]] = {
                "grants": lambda c=chosen: page.post("/admin/consent/grant/", c),  # type: ignore[misc]
                "requests": lambda: request_actions.cancel_requests_of_app(app_pk=app.pk, by=staff),
            }
            denials: list[Callable[[], object]] = [
                lambda r=request: decision_actions.deny(request_id=r.request_id, by=r.user) for request in requests
            ]
            fire([by_staff[how], *reversed(denials)], pool)
            assert {Grant.objects.get(pk=each.grant.pk).status for each in live} == {
                "terminated" if how == "grants" else "active"
            }
            assert not ConsentRequest.objects.filter(app=app, status="pending").exists()
        close_connections(pool, 5)
    assert list(verifying.verify()) == []


def app_context(grant: Grant) -> AppContext:
    return asking_context(grant.app)


def test_what_is_asked_while_staff_change_the_scope_is_asked_as_it_is_then() -> None:
    app, person = AppFactory(), PersonFactory()
    give_vault(person)
    key = sealed.public_half(sealed.generate_connector_key())
    context = asking_context(app)
    body = question(known_as(app, person), key)
    answers: list[dict[str, object]] = []

    def ask() -> None:
        answers.append(creation.request_consent(app=context, body=body, idempotency_key=None)[0])
        connection.close()

    with transaction.atomic():
        entry = ScopeEntry.objects.select_for_update().get(scope="attr.lifestyle.food.*")
        asking = threading.Thread(target=ask)
        asking.start()
        eventually(somebody_waits_for_a_lock, "the wait for the staff to be done")
        entry.attributes = entry.attributes[:1]
        entry.save()
    asking.join(MOST_SECONDS)

    assert ConsentRequest.objects.get(request_id=answers[0]["request_id"]).attributes == entry.attributes


def asking_context(app: App) -> AppContext:
    return AppContext(
        app_pk=app.pk,
        app_id=app.app_id,
        app_name=app.name,
        token_pk=TokenFactory(app=app).pk,
        permissions=frozenset({"request"}),
        suspended=False,
        verified=True,
        header_only=False,
    )
