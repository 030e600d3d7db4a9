"""`GET /user-scopes/{user_id}` and `GET /scope-catalog` (contract 1.2)."""

import pytest
from django.db import connection
from django.utils import timezone

from consent.discovery import unknown_users
from consent.discovery.models import Discovery
from pkm.registry import copy as registry_copy
from pkm.registry.models import RegistryVersion, ScopeEntry
from tests.callers import Developer
from tests.consent.api.addresses import FOOD, problem, request_body
from tests.factories import AppFactory, HiddenScopeFactory, PersonFactory, Vault, give_vault, known_as

RUNTIME = {
    "can_approve": True,
    "wrapping_algorithms": ["ECDH-ES+A256KW"],
    "connector_curves": ["X25519", "P-256"],
    "refresh_policies": ["snapshot", "continuous"],
    "access_duration": {"default": 86400, "min": 300, "max": 31536000},
    "interval": 5,
}


def test_a_person_with_food_could_be_asked_for_food(api: Developer, vault: Vault) -> None:
    answer = api.get(f"/user-scopes/{known_as(api.app, vault.user)}")

    body = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert list(body) == ["user_id", "available_domains", "scopes", "scope_entries", "runtime"]
    assert (body["user_id"], body["available_domains"], body["runtime"]) == (
        known_as(api.app, vault.user), ["lifestyle"], RUNTIME,
    )  # fmt: skip
    assert FOOD in body["scopes"]
    assert "attr.lifestyle.*" in body["scopes"]
    assert "pkm.read" not in body["scopes"]
    assert body["scopes"] == [entry["scope"] for entry in body["scope_entries"]]
    entry = next(entry for entry in body["scope_entries"] if entry["scope"] == FOOD)
    stored = ScopeEntry.objects.get(scope=FOOD)
    assert entry == {
        "scope": FOOD,
        "scope_handle": stored.scope_handle,
        "label": stored.scope_label,
        "description": stored.description,
        "domain": "lifestyle",
        "sensitivity_tier": "standard",
        "attributes": [
            "lifestyle.food.diet_preference",
            "lifestyle.food.favorite_cuisine",
            "lifestyle.food.coffee_or_tea",
        ],
        "max_access_duration": 31536000,
        "updated_at": stored.updated_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def test_it_tells_nothing_of_which_attributes_somebody_has(api: Developer) -> None:
    little, much = PersonFactory(), PersonFactory()
    give_vault(little, {("lifestyle", "food"): {"favorite_cuisine": "Thai"}})
    give_vault(much, {("lifestyle", "food"): {"favorite_cuisine": "Thai", "diet_preference": "Vegan"}})

    bodies = [api.get(f"/user-scopes/{known_as(api.app, person)}").json() for person in (little, much)]

    assert [body.pop("user_id") for body in bodies] == [known_as(api.app, little), known_as(api.app, much)]
    assert bodies[0] == bodies[1]


def test_hidden_and_withdrawn_scopes_are_absent(api: Developer, vault: Vault) -> None:
    HiddenScopeFactory(user=vault.user, scope=FOOD)
    assert FOOD not in api.get(f"/user-scopes/{known_as(api.app, vault.user)}").json()["scopes"]

    ScopeEntry.objects.filter(scope="attr.lifestyle.*").update(exposure_enabled=False)
    body = api.get(f"/user-scopes/{known_as(api.app, vault.user)}").json()
    assert "attr.lifestyle.*" not in body["scopes"]


def test_a_person_without_a_vault_offers_nothing(api: Developer) -> None:
    body = api.get(f"/user-scopes/{known_as(api.app, PersonFactory())}").json()

    assert (body["scopes"], body["available_domains"], body["runtime"]["can_approve"]) == ([], [], False)


def test_the_person_is_told_who_looked(api: Developer, vault: Vault) -> None:
    began = timezone.now().date()
    api.get(f"/user-scopes/{known_as(api.app, vault.user)}")

    app_id, user_id, day = Discovery.objects.values_list("app__app_id", "user__public_id", "day").get()
    assert (app_id, user_id) == (api.app.app_id, vault.user.public_id)
    assert began <= day <= timezone.now().date()


@pytest.mark.parametrize(
    "user_id", ["usr_unknown", "x", "%00", "a%00b", "%20", "usr_%F0%9F%92%A9", "%ff", "%ED%A0%80", "u" * 500, "..%2f"]
)
def test_an_unknown_person_is_404_and_counted(user_id: str, api: Developer) -> None:
    answer = api.get(f"/user-scopes/{user_id}")

    if "%2f" in user_id:  # a slash, encoded or not, is another path
        assert problem(answer) == (404, "not_found")
        return
    assert problem(answer) == (404, "unknown_user")
    assert "sharing ID" in answer.json()["detail"]  # what to do, and not the title once more
    assert unknown_users.peek(api.app.pk, "").used == 1


def test_an_inactive_person_is_unknown(api: Developer) -> None:
    person = PersonFactory(is_active=False)

    assert problem(api.get(f"/user-scopes/{known_as(api.app, person)}")) == (404, "unknown_user")


def test_another_apps_guesses_do_not_count(api: Developer, vault: Vault, settings: object) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 1
    another = Developer.of(AppFactory())
    assert [another.get("/user-scopes/usr_nobody").status_code for _ in range(3)] == [404, 429, 429]

    assert api.get(f"/user-scopes/{known_as(api.app, vault.user)}").status_code == 200


def test_the_catalogue_holds_every_exposed_scope_and_no_user(api: Developer) -> None:
    body = api.get("/scope-catalog").json()

    exposed = ScopeEntry.objects.filter(exposure_enabled=True).values_list("scope", flat=True)
    assert list(body) == ["scope_entries"]
    assert {entry["scope"] for entry in body["scope_entries"]} == set(exposed)
    assert "pkm.read" not in exposed


def test_a_change_of_the_registry_is_seen_by_the_next_call(api: Developer) -> None:
    api.get("/scope-catalog")

    ScopeEntry.objects.filter(scope=FOOD).update(scope_label="Eating and drinking")

    entries = api.get("/scope-catalog").json()["scope_entries"]
    assert next(entry["label"] for entry in entries if entry["scope"] == FOOD) == "Eating and drinking"


@pytest.mark.parametrize("path", ["/user-scopes/{user_id}", "/scope-catalog"])
def test_without_a_registry_it_is_500_with_its_code(path: str, api: Developer, vault: Vault) -> None:
    RegistryVersion.objects.all().delete()

    answer = api.get(path.format(user_id=known_as(api.app, vault.user)))

    assert problem(answer) == (500, "scope_registry_unavailable")


@pytest.mark.sqlite  # where PostgreSQL has a kind of error of its own for it
@pytest.mark.parametrize("table", ["pkm_registry_version", "pkm_scope_registry"])
def test_a_registry_without_its_table_is_no_database_that_is_away(
    table: str, api: Developer, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_copy._Current, "copy", None)
    name = known_as(api.app, vault.user)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO moved_away")

    answers = [
        api.get(f"/user-scopes/{name}"),
        api.get("/scope-catalog"),
        api.post("/request-consent", request_body(vault.user)),
    ]

    assert {problem(answer) for answer in answers} == {(500, "scope_registry_unavailable")}
