"""Unknown people: what an app may miss, whom that leaves alone, and hints of its own callers (contract 1.2)."""

from typing import Any

import pytest

from accounts.models import User
from consent.discovery import unknown_users
from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.consent.api.addresses import problem, request_body
from tests.consent.tools.hosts import Host
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory, Vault, give_vault, known_as


def look(api: Developer, user_id: str, hint: str | None = None) -> Any:
    return api.get(f"/user-scopes/{user_id}", headers={} if hint is None else {"X-Client-Hint": hint})


def guess(api: Developer, times: int, hint: str | None = None) -> list[int]:
    return [look(api, f"usr_guess{number}", hint).status_code for number in range(times)]


@pytest.fixture
def known(app: Any) -> User:
    """Somebody whom the app asked, and who refused."""
    person: User = give_vault(PersonFactory()).user
    ConsentRequestFactory(app=app, user=person, status="denied")
    return person


def test_people_whom_the_app_knows_are_never_refused(api: Developer, known: User, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR, settings.DENIAL_COOLDOWN_SECONDS = 3, 0
    granted = GrantFactory(request__app=api.app, request__user=give_vault(PersonFactory()).user).user

    assert guess(api, 6) == [404, 404, 404, 429, 429, 429]

    assert [look(api, known_as(api.app, person)).status_code for person in (known, granted)] == [200, 200]
    assert api.post("/request-consent", request_body(known)).status_code == 201


def test_over_the_limit_strangers_and_nobody_get_the_same_bytes(api: Developer, vault: Vault, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 1
    unknown = PersonFactory.build(public_id="usr_unknown")
    assert problem(api.post("/request-consent", request_body(unknown))) == (404, "unknown_user")
    guess(api, 1)
    same = {"X-Request-Id": "the-same-id"}

    looked = [api.get(f"/user-scopes/{one}", headers=same) for one in (known_as(api.app, vault.user), "usr_nobody")]
    nobody = PersonFactory.build(public_id="usr_nobody")
    posted = [api.post("/request-consent", request_body(one), headers=same) for one in (vault.user, nobody)]

    for pair in (looked, posted):
        assert [problem(answer) for answer in pair] == [(429, "too_many_requests")] * 2
        assert pair[0].content == pair[1].content
        assert set(pair[0].headers) == set(pair[1].headers)
    assert 3500 <= int(looked[0]["Retry-After"]) <= 3600


def test_somebody_known_who_left_is_404_and_never_counts(api: Developer, known: User, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2
    known.is_active = False
    known.save()

    answers = [look(api, known_as(api.app, known)) for _ in range(5)]

    assert [problem(answer) for answer in answers] == [(404, "unknown_user")] * 5
    assert unknown_users.peek(api.app.pk, "").used == 0


def test_each_hint_has_a_limit_of_its_own(api: Developer, vault: Vault, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2

    assert guess(api, 4, "somebody at a form") == [404, 404, 429, 429]

    stranger = known_as(api.app, vault.user)
    assert look(api, stranger, "somebody at a form").status_code == 429
    assert look(api, stranger, "somebody else").status_code == 200
    assert look(api, stranger).status_code == 200
    assert guess(api, 3) == [404, 404, 429]
    assert look(api, stranger, "somebody else").status_code == 200
    in_question = {"X-Client-Hint": "somebody at a form"}
    assert problem(api.post("/request-consent", request_body(vault.user), headers=in_question)) == (
        429,
        "too_many_requests",
    )
    assert api.post("/request-consent", request_body(vault.user), headers={"X-Client-Hint": "x"}).status_code == 201


def test_an_app_has_so_many_counters_however_many_hints_are_made_up() -> None:
    """A flood of hints fills what is counted in no further."""
    counters = {unknown_users.counter_of(1, f"maria{number}@example.org") for number in range(200_000)}

    assert 60_000 < len(counters) <= 65_536
    assert "maria" not in "".join(counters)


@pytest.mark.parametrize("hint", ["", "h" * 129, "a\x07b", "a\x7fb"])
def test_a_hint_that_does_not_fit_is_400(hint: str, api: Developer, vault: Vault) -> None:
    answers = [
        look(api, known_as(api.app, vault.user), hint),
        api.post("/request-consent", request_body(vault.user), headers={"X-Client-Hint": hint}),
    ]

    for answer in answers:
        assert problem(answer) == (400, "invalid_request")
        assert answer.json()["errors"][0]["field"] == "X-Client-Hint"


@pytest.mark.parametrize("hint", ["h" * 128, "\xc3\xbc" * 128, "\xff" * 128, "a,b", " "])
def test_any_other_text_is_a_hint(hint: str, api: Developer, vault: Vault) -> None:
    assert look(api, known_as(api.app, vault.user), hint).status_code == 200


@pytest.mark.parametrize("name", ["no-such-user", "ada@example.org", "sh_<b>", "@Ada"])
def test_a_name_of_anothers_making_is_a_guess_in_a_body_too(
    name: str, api: Developer, vault: Vault, settings: Any
) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2
    body = {**request_body(vault.user), "user_id": name}

    answers = [api.post("/request-consent", body) for _ in range(3)]

    assert [problem(answer) for answer in answers] == [(404, "unknown_user")] * 2 + [(429, "too_many_requests")]
    assert not ConsentRequest.objects.exists()


def test_zero_turns_it_off(api: Developer, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 0

    assert guess(api, 40) == [404] * 40
    assert not look(api, "usr_nobody").has_header("RateLimit")


def test_every_answer_says_what_is_left(api: Developer, vault: Vault, known: User, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2

    left = [
        look(api, known_as(api.app, known)),
        look(api, "usr_nobody"),
        look(api, known_as(api.app, vault.user)),
        api.get(f"/user-scopes/{known_as(api.app, known)}", x="1"),
        look(api, "usr_nobody"),
        look(api, "usr_nobody"),
        look(api, known_as(api.app, known)),
    ]

    assert [answer.status_code for answer in left] == [200, 404, 200, 400, 404, 429, 200]
    assert {answer["RateLimit-Policy"] for answer in left} == {'"unknown-users";q=2;w=3600'}
    assert [answer["RateLimit"].partition(";t=")[0] for answer in left] == [
        f'"unknown-users";r={remaining}' for remaining in (2, 1, 1, 1, 0, 0, 0)
    ]
    assert left[0]["RateLimit"].endswith(";t=3600")


def test_the_tools_share_it_hints_and_all(api: Developer, vault: Vault, known: User, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2
    host = Host.of(api.app)

    def call(user_id: str, **headers: str) -> tuple[Any, Any]:
        given = {"name": "discover_user_scopes", "arguments": {"user_id": user_id}}
        answer = host.send("tools/call", given, **headers)
        return answer, answer.json()["result"]["structuredContent"]

    hint = {"X-Client-Hint": "at the form"}
    codes = [call("usr_nobody", **hint)[1].get("code") for _ in range(3)]
    assert codes == ["unknown_user", "unknown_user", "too_many_requests"]
    assert look(api, known_as(api.app, vault.user), "at the form").status_code == 429

    assert call(known_as(api.app, vault.user), **hint)[1]["code"] == "too_many_requests"
    assert call(known_as(api.app, known), **hint)[1]["user_id"] == known_as(api.app, known)
    answer, content = call(known_as(api.app, vault.user))
    assert content["user_id"] == known_as(api.app, vault.user)
    assert answer["RateLimit"] == '"unknown-users";r=2;t=3600'
    assert call(known_as(api.app, vault.user), **{"X-Client-Hint": "h" * 129})[1]["code"] == "invalid_request"
