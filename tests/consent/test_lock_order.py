"""What takes locks in an order of its own beside somebody's decision: both come through, whoever is first."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from accounts.erasure.actions import erase, order_erasure
from accounts.models import User
from common.problems import Problem
from consent.decisions import actions as decision_actions
from consent.errors import UnknownRequest
from consent.grants.models import Grant
from consent.notices.models import Notice, WebhookDelivery
from consent.requests.models import ConsentRequest
from developers.apps import actions as app_actions
from developers.models import App, DeveloperApplication, DeveloperToken, WebhookEndpoint
from developers.tokens.actions import rotate_token
from developers.webhooks.actions import delete_endpoint
from tests.consent.decisions import approval
from tests.factories import (
    ConsentRequestFactory,
    MemberFactory,
    PersonFactory,
    StaffFactory,
    TokenFactory,
    WebhookEndpointFactory,
    give_vault,
)
from tests.locks import somebody_waits_for_a_lock
from tests.patience import MOST_SECONDS, eventually

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),  # each thread has a connection of its own
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="row locks need PostgreSQL"),
]


def meanwhile(act: Callable[[], object], *, before: Callable[[], object]) -> list[BaseException]:
    """Do `before` in a transaction, and `act` in another that begins before it commits and meets its locks.

    What `act` raised.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        before()
        thread.start()
        eventually(lambda: somebody_waits_for_a_lock() or not thread.is_alive(), "the wait for the first")
    thread.join(MOST_SECONDS)
    return raised


def test_somebody_decides_while_what_is_said_of_the_app_changes() -> None:
    first, other = (ConsentRequestFactory(app=app) for app in [MemberFactory().app] * 2)
    staff = StaffFactory()

    def change() -> None:
        with app_actions.changing_app(app_pk=first.app_id, by=staff):
            DeveloperApplication.objects.filter(app=first.app_id).update(legal_name="Another GmbH")

    raised = meanwhile(change, before=lambda: decision_actions.deny(request_id=first.request_id, by=first.user))

    assert raised == []
    assert ConsentRequest.objects.get(pk=first.pk).status == "denied"
    assert ConsentRequest.objects.get(pk=other.pk).status == "cancelled"


def test_a_decision_is_told_nowhere_that_is_deleted_meanwhile() -> None:
    request = ConsentRequestFactory()
    endpoint, by = WebhookEndpointFactory(app=request.app), StaffFactory()

    raised = meanwhile(
        lambda: delete_endpoint(endpoint=endpoint, by=by),
        before=lambda: decision_actions.deny(request_id=request.request_id, by=request.user),
    )

    assert raised == []
    assert ConsentRequest.objects.get(pk=request.pk).status == "denied"
    assert Notice.objects.filter(request=request).exists()
    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_what_is_approved_while_the_account_goes_ends_with_it() -> None:
    vault = give_vault(PersonFactory())
    request = ConsentRequestFactory(user=vault.user)
    body, erasure = approval(request, vault), order_erasure(of=vault.user)

    raised = meanwhile(
        lambda: erase(erasure_pk=erasure.pk),
        before=lambda: decision_actions.approve(request_id=request.request_id, by=vault.user, body=body),
    )

    assert raised == []
    assert Grant.objects.get().status == "revoked"


def test_whose_account_was_closed_a_moment_ago_approves_nothing() -> None:
    vault = give_vault(PersonFactory())
    request = ConsentRequestFactory(user=vault.user)
    body = approval(request, vault)
    User.objects.update(is_active=False)

    with pytest.raises(UnknownRequest):
        decision_actions.approve(request_id=request.request_id, by=vault.user, body=body)


def test_an_app_is_closed_while_its_token_is_rotated() -> None:
    """Who closes it has the app's row, and then takes its tokens'."""
    token = TokenFactory()
    by = MemberFactory(app=token.app).user
    refused: list[str] = []

    def rotate() -> None:
        try:
            rotate_token(token=token, by=by)
        except Problem as problem:
            refused.append(problem.code)

    def close() -> None:
        App.objects.select_for_update(no_key=True).get(pk=token.app_id)
        thread.start()
        eventually(somebody_waits_for_a_lock, "the wait for the app")
        app_actions.close_app(app=token.app, by=by)

    def run() -> None:
        rotate()
        connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        close()
    thread.join(MOST_SECONDS)

    assert refused == ["invalid_request"]
    assert not DeveloperToken.objects.filter(app=token.app_id, revoked_at=None).exists()
