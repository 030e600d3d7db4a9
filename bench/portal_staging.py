"""What the developer portal and staff's lists show on the stage of `./run shots`, made by the project's own actions.

`python -m` is not meant for it: `build` runs inside the service's own configuration (see `stage_portal`).
"""

import contextlib
import json
import sys
from datetime import timedelta
from typing import Any

from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.sealed import generate_connector_key
from deploy.local.place import manage as manage_command

_BUILD = "from bench.portal_staging import build; build()"
_SCOPES = {
    "attr.lifestyle.food.*": "To suggest places to eat that fit",
    "attr.location.home.*": "To know where a journey begins",
    "attr.interests.leisure.*": "To find events on the days of a journey",
}


def stage_portal(address: str, sample: dict[str, Any]) -> dict[str, str]:
    """Let the developer's test app be used, then add what only rows can; the names for the addresses of pages."""
    played = call_as_test_app(address, sample["developer"]["test_token"])
    said = manage_command("Setting up the portal", "shell", "--verbosity", "0", "--command", _BUILD)
    return {**played, **json.loads(said.strip().splitlines()[-1])}


def call_as_test_app(address: str, token: str) -> dict[str, str]:
    """Requests of every kind, some calls that are refused, and a sandbox person whom somebody plays."""
    key = generate_connector_key()
    with Client(f"{address}/api/v1", token) as app:
        app.make_sandbox_person("Never answers")
        person = app.make_sandbox_person("Says yes to everything")  # the newest, whom the console names
        person.fill()
        asked = app.request_consent(person.user_id, "attr.lifestyle.food.*", purpose="Suggest places to eat", key=key)
        person.approve(asked.request_id, attributes=["lifestyle.food.favorite_cuisine"])
        app.read(asked, key)
        leisure = app.request_consent(person.user_id, "attr.interests.leisure.*", purpose="Find events", key=key)
        person.deny(leisure.request_id)
        app.request_consent(person.user_id, "attr.technology.use.*", purpose="Send your tickets to you", key=key)
        for unknown in ("usr_nobody", "usr_somebody"):
            with contextlib.suppress(Problem):
                app.discover(unknown)
        with contextlib.suppress(Problem):
            app.status("req_of_somebody_else")
        return {"test_person": person.user_id}


def build() -> None:
    """Print the names as JSON."""
    from accounts.models import User
    from developers.models import App

    developer, staff, newcomer, owner = (
        User.objects.get(email=f"{name}@example.org") for name in ("dev", "staff", "new", "zoe")
    )
    app = App.objects.get(members__user=developer, mode="test")
    names = {
        "test_app": app.app_id, **_tokens(app, developer), **_team(app, developer, newcomer, owner),
        **_webhooks(app, developer), **_applications(developer, staff, newcomer), **_empty(newcomer),
    }  # fmt: skip
    _report(owner)
    sys.stdout.write(json.dumps(names) + "\n")


def _tokens(app: Any, developer: Any) -> dict[str, str]:
    from developers.tokens.actions import mint_token, revoke_token, rotate_token
    from developers.tokens.models import ManagementToken

    backend, _ = mint_token(app=app, label="backend in Frankfurt", by=developer, permissions=["discover", "request"])
    rotate_token(token=backend, by=developer)
    laptop, _ = mint_token(app=app, label="laptop", by=developer, header_only=True)
    revoke_token(token=laptop, by=developer)
    nightly, _ = mint_token(app=app, label="nightly run", by=developer, permissions=["read"])
    mine = ManagementToken.objects.filter(user=developer).values_list("prefix", flat=True)
    return {"prefix": nightly.prefix, "management_prefix": mine[0]}


def _team(app: Any, developer: Any, newcomer: Any, owner: Any) -> dict[str, str]:
    from common.clock import database_now
    from developers.members.actions import add_member
    from developers.members.invitation_links import digest, new_secret
    from developers.members.invitations import invite

    add_member(app=app, user_id=owner.public_id, by=developer)
    secret = new_secret()
    invitation = invite(app=app, email=newcomer.email, by=developer)
    # its mail alone tells the link: this one counts as sent, or the worker would make another
    invitation.digest, invitation.mailed_at = digest(secret), database_now()
    invitation.save()
    invite(app=app, email="a.rather.long.address.of.somebody@consultancy.trips.example", by=developer, role="owner")
    return {"invitation": secret}


def _webhooks(app: Any, developer: Any) -> dict[str, str]:
    from consent.notices.models import Notice, WebhookDelivery
    from developers.webhooks.actions import add_endpoint, disable_endpoint

    endpoint, _ = add_endpoint(app=app, url="https://hooks.trips.example/consent", by=developer)
    other, _ = add_endpoint(
        app=app, url="https://trips.example/a/rather/long/path/of/a/second/receiver", by=developer,
        types=["consent.approved", "export.updated"],
    )  # fmt: skip
    disable_endpoint(endpoint=other, by=developer, reason="410 Gone")
    for notice in Notice.objects.filter(app=app).order_by("sequence"):
        WebhookDelivery.objects.create(notice=notice, endpoint=endpoint, next_at=notice.at)
    return {"endpoint": str(endpoint.pk)}


def _applications(developer: Any, staff: Any, newcomer: Any) -> dict[str, str]:
    """One that was sent back, one that waits, and one of somebody else."""
    from developers.applications.actions import hand_in_application, send_back_application

    back = hand_in_application(facts=_facts("Fare Finder"), by=developer)
    send_back_application(
        application=back, by=staff, note="Say for how long you keep where people live, and who hosts the data."
    )
    waits = hand_in_application(facts=_facts("Sleeper Trains"), by=developer)
    hand_in_application(facts=_facts("Lunch Finder"), by=newcomer)
    return {"sent_back": str(back.pk), "waiting": str(waits.pk)}


def _facts(name: str) -> Any:
    from developers.applications.facts import ApplicationFacts

    site = f"https://{name.lower().replace(' ', '-')}.example"
    return ApplicationFacts(
        name=name, legal_name=f"{name} Europe AB", website=site, privacy_policy=f"{site}/privacy",
        contact_email="privacy@trips.example", use_case="Suggest what fits somebody along a journey.",
        jurisdiction="Finland", recipients="Nobody else", storage_place="Frankfurt", retention="30 days",
        scope_reasons=_SCOPES, origins=[site], return_addresses=[f"{site}/back"],
    )  # fmt: skip


def _empty(newcomer: Any) -> dict[str, str]:
    """A test app that nobody used yet."""
    from developers.apps.actions import make_test_app

    return {"empty_app": make_test_app(name="Supper Club", by=newcomer).app_id}


def _report(owner: Any) -> None:
    from consent.decisions.blocked_apps import report_app
    from consent.requests.models import ConsentRequest
    from developers.tokens.models import DeveloperToken

    loud = ConsentRequest.objects.get(app__name="Nordbank Security", user=owner)
    report_app(app_id=loud.app.app_id, by=owner, text="They threaten to close an account that I do not have.")
    DeveloperToken.objects.filter(label="laptop").update(created_at=loud.created_at - timedelta(days=40))
