"""What the benches stand on: a database of their own, and in it apps with tokens and people who can sign in."""

import argparse
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consent_bridge.client import Client
from consent_bridge.owner import Owner
from deploy.local import scratch
from deploy.local.place import manage

PASSWORD = "a-password-of-benchmarks"
FOOD = {"diet_preference": "vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea"}
SCOPE = "attr.lifestyle.food.*"
PURPOSE = "Suggest restaurants that you would like"
LIMITS_OFF = dict.fromkeys(
    (
        "PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY", "REQUEST_BUDGET_PER_HOUR", "STATUS_POLL_BURST",
        "DENIAL_COOLDOWN_SECONDS", "A2A_SESSION_BURST",
    ),
    "0",
)  # fmt: skip


@dataclass(frozen=True)
class StagedApp:
    """One app: its rows' keys and its token."""

    pk: int
    app_id: str
    token: str

    def client(self, site: str, **limits: Any) -> Client:
        return Client(f"{site}/api/v1", self.token, **limits)


@dataclass(frozen=True)
class StagedPerson:
    """One person's account; every app may ask them by the handle that they are listed under."""

    name: str
    email: str

    def arrive(self, site: str, **limits: Any) -> Owner:
        """Signed in over HTTP, with a vault that holds some food."""
        owner = Owner(site, **limits)
        if owner.sign_in(self.email, PASSWORD).vault_status == "absent":
            owner.create_vault(secrets.token_urlsafe(16))
            owner.write("lifestyle", "food", FOOD, base=0)
        return owner


def parse_options(bench: str, **options: Any) -> argparse.Namespace:
    """What the command line says: of each option its default, or what argparse takes of it."""
    described = sys.modules[f"bench.{bench}"].__doc__
    parser = argparse.ArgumentParser(
        f"./run bench {bench}", description=described, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, how in options.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", **(how if isinstance(how, dict) else {"type": type(how), "default": how})
        )
    return parser.parse_args()


@contextmanager
def own_database(suffix: str = "") -> Iterator[str]:
    """The address of a fresh database beside that of DATABASE_URL."""
    given = os.environ.get("DATABASE_URL") or "postgres://root@127.0.0.1:5432/postgres"
    if not given.startswith("postgres"):
        sys.exit("This is measured on PostgreSQL: set DATABASE_URL=postgres://…")
    name = f"consent_bench_{os.getpid()}{suffix}"
    try:
        yield scratch.make(given, name)
    finally:
        scratch.drop(given, name)


def prepare(home: Path | None = None) -> None:
    """Set Django up as the environment says, with fresh secrets in `home` where it is given, and migrate."""
    if home:
        manage("Making the secrets", "make_keys", "--directory", str(home))
    import django

    django.setup()
    from django.core.management import call_command

    print("Migrating a database of its own …", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("sync_registry", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    close_connections()


def close_connections() -> None:
    """Hold none while the database comes and goes, or while others are measured."""
    from django.db import connection

    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's connections


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of Playwright's; ends here where there is none."""
    from playwright.sync_api import sync_playwright

    from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

    executable = find_chromium() or sys.exit("No Chromium found; set CHROMIUM to its path.")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


def sign_in(page: Any, person: dict[str, str]) -> None:
    """On the site of the page's context, as far as the password takes them."""
    page.goto("/accounts/login/")
    page.fill("input[name=login]", person["email"])
    page.fill("input[name=password]", person["password"])
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


def make_people(count: int) -> list[StagedPerson]:
    """Accounts whose address is confirmed."""
    from allauth.account.models import EmailAddress

    from accounts.models import ActorProfile, MarketplacePublicProfile, User

    made = []
    for number in range(count):
        user = User.objects.create_user(f"bench{number}@example.org", PASSWORD, display_name=f"Person {number}")
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        MarketplacePublicProfile.objects.create(user=user, handle=f"bench-{number}", is_discoverable=True)
        ActorProfile.objects.create(user=user, discoverable=True)
        made.append(StagedPerson(f"@bench-{number}", user.email))
    return made


def make_apps(count: int) -> list[StagedApp]:
    """Verified apps with a token of all permissions each."""
    from accounts.models import User
    from developers.applications.actions import make_app
    from developers.tokens.actions import mint_token

    email = "staff@bench.example"
    staff = User.objects.filter(email=email).first() or User.objects.create_user(email, PASSWORD, is_staff=True)
    made = []
    for number in range(count):
        app = make_app(
            name=f"Bench {number}", legal_name="Bench", website="https://bench.example", verified=True, owner=staff,
            privacy_policy="https://bench.example/privacy", contact_email="bench@bench.example", by=staff,
        )  # fmt: skip
        _, token = mint_token(app=app, label="bench", by=staff)
        made.append(StagedApp(app.pk, app.app_id, token))
    return made


def add_webhook(app: StagedApp, url: str, secret: str) -> Any:
    """An endpoint of this app, of which the other side knows the secret."""
    from common import encryption
    from developers.models import WebhookEndpoint

    return WebhookEndpoint.objects.create(app_id=app.pk, url=url, secret=encryption.sealed(secret))


def consent_to_agents(app: StagedApp, person: StagedPerson, site: str) -> str:
    """The token of an agreement that this person gave to a website of the app, for all analyses."""
    from accounts.models import User
    from agents_proxy.agents import ANALYSIS_PURPOSES
    from agents_proxy.processing_consent import actions
    from agents_proxy.processing_consent.origins import app_of_origin
    from developers.models import App

    App.objects.filter(pk=app.pk).update(origins=[site])
    registered, user = app_of_origin(site), User.objects.get(email=person.email)
    assert registered
    return actions.give_to_site(by=user, purposes=list(ANALYSIS_PURPOSES), app=registered, origin=site).secret
