"""A token that ended is refused by the very next call, before anything else that is wrong with it."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from developers.apps.models import AppStatus
from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import problem, request_body
from tests.factories import Vault, known_as
from tests.factories.consent_requests import now

MALFORMED = {"X-Client-Hint": "h" * 129}


def revoke(app: App) -> None:
    app.tokens.update(revoked_at=now() - timedelta(minutes=1))


def expire(app: App) -> None:
    app.tokens.update(expires_at=now() - timedelta(seconds=1))


def close(app: App) -> None:
    App.objects.filter(pk=app.pk).update(status=AppStatus.CLOSED)


@pytest.mark.parametrize("end", [revoke, expire, close])
def test_a_token_that_ended_discovers_and_asks_nobody(
    end: Callable[[App], None], api: Developer, app: App, vault: Vault
) -> None:
    path = f"/user-scopes/{known_as(api.app, vault.user)}"
    for _ in range(2):
        assert api.get(path).status_code == 200

    end(app)

    assert problem(api.get(path)) == (401, "invalid_token")
    assert problem(api.post("/request-consent", request_body(vault.user))) == (401, "invalid_token")
    assert problem(api.send("POST", "/request-consent", b"{")) == (401, "invalid_token")


def test_a_malformed_hint_is_refused_after_the_token(api: Developer, app: App, vault: Vault) -> None:
    path = f"/user-scopes/{known_as(api.app, vault.user)}"
    assert problem(api.get(path, headers=MALFORMED)) == (400, "invalid_request")

    revoke(app)

    assert problem(api.get(path, headers=MALFORMED)) == (401, "invalid_token")
