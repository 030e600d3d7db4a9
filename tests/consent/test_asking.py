"""Asking: what the contract's addresses cannot show of it alone."""

from datetime import timedelta
from typing import Any

import pytest

from common.problems import InvalidRequest, TooManyRequests
from consent.decisions import actions as decision_actions
from consent.errors import InvalidScope, RecentlyDenied, RequestPending, UnknownUser
from consent.requests import creation
from consent.requests.models import ConsentRequest, ScopeTemplate
from consent.schemas import RequestConsentBody
from consent_bridge import sealed
from developers.authentication import AppContext
from developers.errors import IdempotencyConflict
from developers.models import App
from tests.factories import AppFactory, PersonFactory, StaffFactory, TokenFactory, Vault, give_vault
from tests.factories.asked import now

FOOD = "attr.lifestyle.food.*"


@pytest.fixture
def vault(db: None) -> Vault:
    return give_vault(PersonFactory())


@pytest.fixture
def caller(db: None) -> AppContext:
    return context(AppFactory())


def context(app: App) -> AppContext:
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


KEY = sealed.public_half(sealed.generate_connector_key())


def body(vault: Vault, **changes: Any) -> RequestConsentBody:
    return RequestConsentBody.model_validate(
        {
            "user_id": vault.user.public_id,
            "scope": FOOD,
            "purpose": "Suggest restaurants that you would like",
            "connector_public_key": KEY,
            "connector_key_id": "key-1",
            "connector_wrapping_alg": "ECDH-ES+A256KW",
            **changes,
        }
    )


def ask(caller: AppContext, asked: RequestConsentBody, key: str | None = None) -> tuple[dict[str, Any], bool]:
    return creation.request_consent(app=caller, body=asked, idempotency_key=key)


def test_what_is_asked_is_frozen_with_its_digest(caller: AppContext, vault: Vault) -> None:
    answer, created = ask(caller, body(vault))

    request = ConsentRequest.objects.get()
    assert created
    assert (
        answer["request_digest"]
        == request.request_digest
        == sealed.request_digest(
            {
                "request_id": answer["request_id"],
                "app_id": caller.app_id,
                "app_name": caller.app_name,
                "user_id": vault.user.public_id,
                "scope": FOOD,
                "attributes": [
                    "lifestyle.food.diet_preference",
                    "lifestyle.food.favorite_cuisine",
                    "lifestyle.food.coffee_or_tea",
                ],
                "purpose": "Suggest restaurants that you would like",
                "connector_thumbprint": sealed.thumbprint(KEY),
                "access_duration": 86400,
                "expires_at": answer["expires_at"],
                "required_attributes": None,
                "optional_attributes": None,
                "max_reads": None,
                "refresh_policy": "snapshot",
                "binding_message": None,
            }
        )
    )


def test_the_same_question_is_the_same_request_and_another_conflicts(caller: AppContext, vault: Vault) -> None:
    first, _ = ask(caller, body(vault))
    second, created = ask(caller, body(vault, requested_expiry=600))

    assert (second["request_id"], created) == (first["request_id"], False)
    with pytest.raises(RequestPending) as refused:
        ask(caller, body(vault, max_reads=3))
    assert refused.value.members == {"request_id": first["request_id"]}


def test_an_idempotency_key_repeats_the_first_answer(caller: AppContext, vault: Vault) -> None:
    first = ask(caller, body(vault), "k1")
    decision_actions.end_consent(app_pk=caller.app_pk, request_id=first[0]["request_id"])

    assert ask(caller, body(vault), "k1") == first
    with pytest.raises(IdempotencyConflict):
        ask(caller, body(vault, max_reads=3), "k1")


def test_a_pending_request_that_is_over_makes_room(caller: AppContext, vault: Vault) -> None:
    first, _ = ask(caller, body(vault))
    ConsentRequest.objects.all()  # its deadline is frozen, so an old one is made beside it
    from tests.factories import ConsentRequestFactory

    asked = now() - timedelta(days=2)
    old = ConsentRequestFactory(
        app_id=caller.app_pk, app=App.objects.get(pk=caller.app_pk), user=vault.user,
        created_at=asked, expires_at=asked + timedelta(days=1), scope="attr.lifestyle.*",
    )  # fmt: skip

    again, created = ask(
        caller, body(vault, scope="attr.lifestyle.*", connector_public_key=sealed.public_half(old.connector))
    )

    assert created
    assert again["request_id"] not in (first["request_id"], old.request_id)
    assert ConsentRequest.objects.get(pk=old.pk).status == "expired"


def test_the_budget_of_pending_requests(caller: AppContext, vault: Vault, settings: Any) -> None:
    settings.PENDING_REQUESTS_PER_PERSON = 2
    for _ in range(2):
        ask(caller, body(vault, connector_public_key=sealed.public_half(sealed.generate_connector_key())))

    with pytest.raises(TooManyRequests) as refused:
        ask(caller, body(vault))

    assert 86000 < int(refused.value.headers["Retry-After"]) <= 86400


@pytest.mark.parametrize(
    ("scope", "refused"), [(FOOD, True), ("attr.lifestyle.*", True), ("attr.lifestyle.fitness.*", False)]
)
def test_a_denial_cools_overlapping_scopes_down(caller: AppContext, scope: str, refused: bool) -> None:
    vault = give_vault(
        PersonFactory(),
        {("lifestyle", "food"): {"favorite_cuisine": "Thai"}, ("lifestyle", "fitness"): {"gym_membership": "no"}},
    )
    first, _ = ask(caller, body(vault))
    decision_actions.deny(request_id=first["request_id"], by=vault.user)

    if refused:
        with pytest.raises(RecentlyDenied) as error:
            ask(caller, body(vault, scope=scope))
        assert 3500 < int(error.value.headers["Retry-After"]) <= 3601
    else:
        ask(caller, body(vault, scope=scope))


def test_blocked_hidden_and_empty_scopes_are_one_refusal(caller: AppContext, vault: Vault) -> None:
    from tests.factories import BlockedAppFactory, HiddenScopeFactory

    with pytest.raises(InvalidScope):
        ask(caller, body(vault, scope="attr.contact.*"))
    hidden = HiddenScopeFactory(user=vault.user, scope="attr.lifestyle.*")
    with pytest.raises(InvalidScope):
        ask(caller, body(vault))
    hidden.delete()
    BlockedAppFactory(user=vault.user, app_id=caller.app_pk, app=App.objects.get(pk=caller.app_pk))
    with pytest.raises(InvalidScope):
        ask(caller, body(vault))


def test_guessing_people_is_stopped_for_everyone_asked_about(caller: AppContext, vault: Vault, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 2
    for _ in range(2):
        with pytest.raises(UnknownUser):
            ask(caller, body(vault, user_id="usr_nobody"))
    with pytest.raises(TooManyRequests):
        ask(caller, body(vault, user_id="usr_nobody"))
    with pytest.raises(TooManyRequests):
        ask(caller, body(vault))


def test_a_request_stays_within_its_template(caller: AppContext, vault: Vault) -> None:
    template = ScopeTemplate.objects.create(
        template_id="dining", name="Dining", scope=FOOD, purpose="Suggest places to eat", max_access_duration=3600,
        max_reads=5, proposed_by=StaffFactory(), approved_by=StaffFactory(), approved_at=now(), active=True,
    )  # fmt: skip
    fitting = {"purpose": template.purpose, "access_duration": 3600, "max_reads": 5, "template_id": "dining"}

    with pytest.raises(InvalidRequest) as refused:
        ask(caller, body(vault, template_id="dining", scope="attr.lifestyle.*"))
    assert [error["field"] for error in refused.value.errors] == ["scope", "purpose", "access_duration", "max_reads"]
    with pytest.raises(InvalidRequest):
        ask(caller, body(vault, template_id="unheard_of"))
    assert ask(caller, body(vault, **fitting))[1]
