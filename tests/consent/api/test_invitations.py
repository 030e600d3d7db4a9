"""How an app comes to know somebody: by an invitation that serves one app, or by a handle; and nobody else's name."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import SharingId
from accounts.sharing_id import end_sharing_id, make_sharing_id
from consent_bridge import sealed
from developers.models import AppPerson
from pkm import signatures
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import ANOTHERS, FOOD, problem, request_body
from tests.factories import (
    ActorProfileFactory,
    AppFactory,
    ListedPersonFactory,
    PublicProfileFactory,
    Vault,
    invitation_of,
    known_as,
)

SAME = {"X-Request-Id": "the-same-id"}


@pytest.fixture
def other(db: None) -> Developer:
    return Developer.of(AppFactory())


def bound_to() -> str | None:
    row = SharingId.objects.select_related("app").get()
    return row.app.app_id if row.app else None


def test_looking_begins_nothing_and_tells_no_name(api: Developer, other: Developer, vault: Vault) -> None:
    invitation = invitation_of(vault.user)

    for app in (api, other, api):
        found = app.get(f"/user-scopes/{invitation}")
        assert (found.status_code, "user_id" in found.json()) == (200, False)

    assert bound_to() is None
    assert not AppPerson.objects.exists()


def test_the_first_request_binds_it_and_names_the_person(api: Developer, other: Developer, vault: Vault) -> None:
    invitation = invitation_of(vault.user)

    made = api.post("/request-consent", request_body(vault.user)).json()

    user_id = AppPerson.objects.get(app=api.app, user=vault.user).pairwise_id
    assert (made["user_id"], made["request"]["user_id"]) == (user_id, user_id)
    assert user_id not in (vault.user.public_id, invitation)
    assert bound_to() == api.app.app_id
    for name in (invitation, user_id):
        assert api.get(f"/user-scopes/{name}").json()["user_id"] == user_id
        assert api.get("/consent-status", user_id=name, scope=FOOD).json()["user_id"] == user_id
        looked = [other.get(f"/user-scopes/{one}", headers=SAME) for one in (name, "usr_nobody")]
        sent = [
            other.post("/request-consent", request_body(vault.user, user_id=one), headers=SAME)
            for one in (name, "usr_nobody")
        ]
        for theirs, nobodys in (looked, sent):
            assert problem(theirs) == (404, "unknown_user")
            assert theirs.content == nobodys.content
        answers = [other.get("/consent-status", user_id=one, scope=FOOD, headers=SAME) for one in (name, "usr_nobody")]
        assert problem(answers[0]) == (404, "unknown_request")
        assert answers[0].content == answers[1].content


def test_an_app_parts_from_a_person_by_the_sharing_id_that_it_used(
    api: Developer, other: Developer, vault: Vault
) -> None:
    invitation, user_id = invitation_of(vault.user), known_as(api.app, vault.user)
    known_as(other.app, vault.user)

    unbound = api.delete(f"/connections/{invitation}")
    api.post("/request-consent", request_body(vault.user, user_id=invitation))
    answers = [app.delete(f"/connections/{invitation}") for app in (other, api, api)]

    assert problem(unbound) == (404, "unknown_user")
    assert [answer.status_code for answer in answers] == [404, 204, 404]
    assert AppPerson.objects.get(pairwise_id=user_id).ended_at is not None
    assert AppPerson.objects.get(app=other.app).ended_at is None


def test_what_is_refused_binds_nothing(api: Developer, other: Developer, vault: Vault) -> None:
    refused = api.post("/request-consent", request_body(vault.user, scope="attr.contact.*"))

    assert problem(refused)[1] == "invalid_scope"
    assert (bound_to(), AppPerson.objects.count()) == (None, 0)
    assert other.post("/request-consent", request_body(vault.user)).status_code == 201


def replaced(vault: Vault) -> None:
    make_sharing_id(by=vault.user)


def switched_off(vault: Vault) -> None:
    end_sharing_id(by=vault.user)


def expired(vault: Vault) -> None:
    SharingId.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("end", [replaced, switched_off, expired])
@pytest.mark.parametrize("is_bound", [False, True])
def test_one_that_ended_is_nobodys(end: Any, is_bound: bool, api: Developer, vault: Vault) -> None:
    body, invitation = request_body(vault.user), invitation_of(vault.user)
    if is_bound:
        made = api.post("/request-consent", body).json()
    end(vault)

    assert problem(api.get(f"/user-scopes/{invitation}")) == (404, "unknown_user")
    assert problem(api.post("/request-consent", body)) == (404, "unknown_user")
    assert problem(api.get("/consent-status", user_id=invitation, scope=FOOD)) == (404, "unknown_request")
    if is_bound:  # whom it knows by now it knows without
        assert api.get(f"/user-scopes/{made['user_id']}").json()["user_id"] == made["user_id"]
        assert api.get("/consent-status", user_id=made["user_id"], scope=FOOD).status_code == 200


def test_a_new_one_serves_another_app_and_the_names_differ(api: Developer, other: Developer, vault: Vault) -> None:
    first = api.post("/request-consent", request_body(vault.user)).json()["user_id"]
    make_sharing_id(by=vault.user)
    second = other.post("/request-consent", request_body(vault.user, **ANOTHERS)).json()["user_id"]

    assert first != second
    assert api.get(f"/user-scopes/{second}").status_code == 404
    assert other.get(f"/user-scopes/{first}").status_code == 404


def test_one_made_for_an_app_is_nobodys_for_others(api: Developer, other: Developer, vault: Vault) -> None:
    make_sharing_id(by=vault.user, for_app=api.app.app_id)
    invitation = invitation_of(vault.user)

    for one in (invitation, "sh_nobody"):
        assert problem(other.get(f"/user-scopes/{one}")) == (404, "unknown_user")
        assert problem(other.post("/request-consent", request_body(vault.user, user_id=one))) == (404, "unknown_user")

    assert not AppPerson.objects.exists()
    assert api.post("/request-consent", request_body(vault.user)).status_code == 201
    assert bound_to() == api.app.app_id


def test_the_invitation_that_was_used_is_part_of_what_the_person_signs_for(api: Developer, vault: Vault) -> None:
    invitation = invitation_of(vault.user)
    digest = signatures.sha256(invitation)

    made = api.post("/request-consent", request_body(vault.user, invitation_sha256=digest)).json()

    assert made["request"]["invitation_sha256"] == digest
    assert made["request_digest"] == sealed.request_digest(made["request"])
    page = signed_in(vault.user).client.get(f"/consent/requests/{made['request_id']}/").content.decode()
    assert f'data-shown="invitation_sha256">{digest}<' in page
    assert 'id="gave-invitation"' in page


def test_another_invitation_than_the_one_used_is_refused(api: Developer, vault: Vault) -> None:
    user_id = api.post("/request-consent", request_body(vault.user)).json()["user_id"]

    for name in (invitation_of(vault.user), user_id, "@zoe-q", "sh_zoë"):
        for other in ("sh_another", user_id):
            body = request_body(vault.user, user_id=name, invitation_sha256=signatures.sha256(other))
            assert problem(api.post("/request-consent", body)) == (400, "invalid_request")


def test_guesses_at_invitations_count(api: Developer, vault: Vault, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2
    answers = [api.get(f"/user-scopes/sh_{number}").status_code for number in range(4)]

    assert answers == [404, 404, 429, 429]
    assert api.get(f"/user-scopes/{invitation_of(vault.user)}").status_code == 429


def test_somebody_listed_is_named_by_their_handle(api: Developer, other: Developer, vault: Vault) -> None:
    ListedPersonFactory(user=vault.user, handle="zoe-q")
    ActorProfileFactory(user=PublicProfileFactory(handle="shown-only", is_discoverable=True).user)

    assert "user_id" not in api.get("/user-scopes/@zoe-q").json()
    keys: list[dict[str, Any]] = [{}, ANOTHERS]
    made = [
        app.post("/request-consent", request_body(vault.user, user_id="@zoe-q", **key)).json()
        for app, key in zip((api, other), keys, strict=True)
    ]

    assert [one["user_id"] for one in made] == [known_as(app.app, vault.user) for app in (api, other)]
    assert api.get("/consent-status", user_id="@zoe-q", scope=FOOD).json()["request_id"] == made[0]["request_id"]
    for nobody in ("@shown-only", "@nobody", "@", "@Zoe-Q", "@zoe-q ", "@zoë", f"@{'z' * 99}"):
        assert problem(api.get(f"/user-scopes/{nobody}")) == (404, "unknown_user"), nobody
