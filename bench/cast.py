"""Who takes part in a measurement of whole trips: apps with tokens, and people who sign in and seal for themselves."""

import secrets
from dataclasses import dataclass
from typing import Any

from consent_bridge.client import Client
from consent_bridge.owner import Owner

PASSWORD = "a-password-of-benchmarks"
FOOD = {"diet_preference": "vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea"}
SCOPE = "attr.lifestyle.food.*"
PURPOSE = "Suggest restaurants that you would like"


@dataclass(frozen=True)
class AppPart:
    """One app: its rows' keys and its token."""

    pk: int
    app_id: str
    token: str

    def client(self, site: str, **limits: Any) -> Client:
        return Client(f"{site}/api/v1", self.token, **limits)


@dataclass(frozen=True)
class PersonPart:
    """One person's account."""

    user_id: str
    email: str

    def arrive(self, site: str, **limits: Any) -> Owner:
        """Signed in over HTTP, with a vault that holds some food."""
        owner = Owner(site, **limits)
        if owner.sign_in(self.email, PASSWORD).vault_status == "absent":
            owner.create_vault(secrets.token_urlsafe(16))
            owner.write("lifestyle", "food", FOOD, base=0)
        return owner


def make_people(count: int) -> list[PersonPart]:
    """Accounts whose address is confirmed; needs Django set up on the database of the measurement."""
    from allauth.account.models import EmailAddress

    from accounts.models import User

    made = []
    for number in range(count):
        user = User.objects.create_user(f"bench{number}@example.org", PASSWORD, display_name=f"Person {number}")
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        made.append(PersonPart(user.public_id, user.email))
    return made


def make_apps(count: int) -> list[AppPart]:
    """Verified apps with a token of all permissions each."""
    from accounts.models import User
    from developers.applications.actions import make_app
    from developers.tokens.actions import mint_token

    staff = User.objects.create_user("staff@bench.example", PASSWORD, is_staff=True)
    made = []
    for number in range(count):
        app = make_app(
            name=f"Bench {number}", legal_name="Bench", website="https://bench.example", verified=True, owner=staff,
            privacy_policy="https://bench.example/privacy", contact_email="bench@bench.example", by=staff,
        )  # fmt: skip
        _, token = mint_token(app=app, label="bench", by=staff)
        made.append(AppPart(app.pk, app.app_id, token))
    return made
