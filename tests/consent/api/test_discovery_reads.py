"""A person is found with the token that asks or discovers, and exactly as without it (decision 0046)."""

from collections.abc import Callable
from dataclasses import fields
from datetime import timedelta

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consent.api import discovery_reads
from consent.api.discovery_reads import AppWithPerson, token_and_person
from consent.discovery.person_read import read_person
from developers.apps.models import AppStatus
from developers.authentication import AppContext, find_token
from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import asked, problem
from tests.factories import AppFactory, PersonFactory, TestAppFactory, Vault, give_vault
from tests.factories.asked import now

MALFORMED = {"X-Client-Hint": "h" * 129}


@pytest.mark.parametrize("factory", [AppFactory, TestAppFactory], ids=["live app", "test app"])
@pytest.mark.parametrize("hint", ["", "caller"])
@pytest.mark.parametrize("nobody", [False, True])
def test_both_are_what_two_reads_find(factory: type, hint: str, nobody: bool, vault: Vault) -> None:
    api = Developer.of(factory())
    asked = ("usr_nobody" if nobody else vault.user.public_id, hint)
    app = token_and_person(api.token, lambda: asked)
    assert app is not None
    assert not isinstance(app, AppWithPerson)  # nothing was known of the token yet

    with CaptureQueriesContext(connection) as made:
        together = token_and_person(api.token, lambda: asked)

    assert len(made) == 1
    assert isinstance(together, AppWithPerson)
    assert {field.name: getattr(together, field.name) for field in fields(AppContext)} == {
        field.name: getattr(find_token(api.token), field.name) for field in fields(AppContext)
    }
    given = {"user_id": asked[0], "hint": hint}
    assert together.person == read_person(app_pk=app.app_pk, is_test=app.is_test, **given)
    with CaptureQueriesContext(connection) as made:
        assert discovery_reads.person_of(app=together, **given) == together.person
    assert len(made) == 0


def test_what_was_read_for_one_is_not_told_of_another(api: Developer, vault: Vault) -> None:
    for _ in range(2):
        app = token_and_person(api.token, lambda: (vault.user.public_id, ""))
    assert isinstance(app, AppWithPerson)

    found = discovery_reads.person_of(app=app, user_id="usr_nobody", hint="")

    assert found is not None
    assert found.user_pk is None


def test_a_token_under_the_name_of_another_app_finds_its_own_and_no_person(api: Developer, vault: Vault) -> None:
    hashed = discovery_reads.digest(api.token)
    discovery_reads._known[hashed] = (AppFactory().pk, False)

    app = token_and_person(api.token, lambda: (vault.user.public_id, ""))

    assert app == find_token(api.token)
    assert not isinstance(app, AppWithPerson)
    assert discovery_reads._known[hashed] == (api.app.pk, False)  # type: ignore[union-attr]  # it has one


def revoke(api: Developer, app: App) -> None:
    app.tokens.update(revoked_at=now() - timedelta(minutes=1))


def expire(api: Developer, app: App) -> None:
    app.tokens.update(expires_at=now() - timedelta(seconds=1))


def close(api: Developer, app: App) -> None:
    App.objects.filter(pk=app.pk).update(status=AppStatus.CLOSED)


@pytest.mark.parametrize("end", [revoke, expire, close])
def test_a_token_that_ended_is_refused_by_the_very_next_call(end, api: Developer, app: App, vault: Vault) -> None:
    for _ in range(2):
        assert api.get(f"/user-scopes/{vault.user.public_id}").status_code == 200

    end(api, app)

    assert problem(api.get(f"/user-scopes/{vault.user.public_id}")) == (401, "invalid_token")


def test_a_malformed_hint_is_refused_after_the_token(api: Developer, app: App, vault: Vault) -> None:
    path = f"/user-scopes/{vault.user.public_id}"
    api.get(path)

    assert problem(api.get(path, headers=MALFORMED)) == (400, "invalid_request")

    revoke(api, app)
    assert problem(api.get(path, headers=MALFORMED)) == (401, "invalid_token")


def changed(person: Vault, **members: object) -> bytes:
    return orjson.dumps({**asked(person.user), **members})


BODIES: dict[str, Callable[[Vault], bytes]] = {
    "fits": changed,
    "longer than what is looked into": lambda person: changed(person, purpose="Suggest restaurants").ljust(3000),
    "nobody's ID": lambda person: changed(person, user_id="usr_nobody"),
    "a NUL": lambda person: changed(person, user_id="usr_\0"),
    "no text": lambda person: changed(person, user_id=7),
    "an ID twice": lambda person: changed(person).replace(b"{", b'{"user_id": "usr_nobody", ', 1),
    "another scope": lambda person: changed(person, scope="attr.nothing.*"),
    "a list": lambda person: b"[]",
    "no JSON": lambda person: b"{",
    "no UTF-8": lambda person: b'{"user_id": "\xff"}',
    "nothing": lambda person: b"",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("hint", [{}, {"X-Client-Hint": "caller"}, MALFORMED], ids=["no hint", "hint", "malformed"])
def test_a_request_is_answered_as_where_nothing_was_known_of_the_token(
    body: Callable[[Vault], bytes], hint: dict[str, str], api: Developer
) -> None:
    def answer() -> tuple[int, object, dict[str, str]]:
        response = api.send("POST", "/request-consent", body(give_vault(PersonFactory())), headers=hint)
        told = response.json()
        kept = {name: value for name, value in told.items() if name in ("status", "scope", "code", "errors", "detail")}
        limits = {name: value.split(";")[0] for name, value in response.headers.items() if name.startswith("RateLimit")}
        return response.status_code, kept, limits

    unknown = answer()
    assert discovery_reads.digest(api.token) in discovery_reads._known

    known = answer()

    assert known == unknown


def test_asking_with_a_known_token_takes_a_query_less(api: Developer) -> None:
    queries = []
    for _ in range(2):
        body = asked(give_vault(PersonFactory()).user)
        with CaptureQueriesContext(connection) as made:
            assert api.post("/request-consent", body).status_code == 201
        queries.append([query["sql"] for query in made if "UPDATE developer_tokens" not in query["sql"]])

    assert len(queries[1]) == len(queries[0]) - 1


def test_a_token_that_ended_asks_nobody(api: Developer, app: App, vault: Vault) -> None:
    api.get(f"/user-scopes/{vault.user.public_id}")
    revoke(api, app)

    assert problem(api.post("/request-consent", asked(vault.user))) == (401, "invalid_token")
    assert problem(api.send("POST", "/request-consent", b"{")) == (401, "invalid_token")
