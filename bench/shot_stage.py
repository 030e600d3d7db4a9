"""What `./run shots` looks at: a service of its own with sample people, and what happened before anybody looks."""

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import shot_clock
from bench.staging import close_connections, prepare
from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key, public_half
from deploy.local import neighbours
from deploy.local.place import PYTHON, manage, must
from deploy.local.serving import free_port, service
from deploy.local.visitor import Visitor

_FIRST = {
    "receipt_id": "consent.Receipt", "wrapper_id": "pkm.KeyWrapper", "item_id": "agents_proxy.Item",
    "destination_id": "agents_proxy.Destination",
}  # fmt: skip
_SCOPES = {
    "attr.lifestyle.food.*": "To suggest places to eat that fit",
    "attr.location.home.*": "To know where a journey begins",
    "attr.interests.leisure.*": "To find events on the days of a journey",
}


@dataclass
class Scene:
    """The service, who can sign in, and the names of what they made."""

    address: str
    sample: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)

    def names_at(self, route: str) -> dict[str, str]:
        """What the parts of this route stand for."""
        names = dict(self.names)
        if re.match("developers/apps/(?!.*/(domain|destinations)/)", route):
            names["app_id"] = names["test_app"]
        if "<path:object_id>" in route:
            from django.apps import apps

            rows = apps.get_model(*route.split("/")[1:3])._default_manager.values_list("pk", flat=True)
            names["object_id"] = str(rows.first())
        return names


@contextmanager
def stage() -> Iterator[Scene]:
    """A service with sample people, some requests that wait, some that are decided, and somebody who just came."""
    port, var = free_port(), Path(tempfile.mkdtemp(prefix="consent-shots-"))
    env = {"BASE_URL": f"http://localhost:{port}", "CONSENT_VAR": str(var), "DATABASE_URL": "", "REDIS_URL": ""}
    os.environ.update(env, DENIAL_COOLDOWN_SECONDS="0", DJANGO_SETTINGS_MODULE="config.settings")
    beside = neighbours.find(port, env["BASE_URL"], var)
    os.environ.update(beside.env, NEIGHBOURS=json.dumps(beside.addresses))
    shot_clock.begin(var)
    try:
        prepare(var)
        for command in ("make_release", "sample_data"):
            manage(command, command, "--verbosity", "0")
        with service(port, env, beside):
            scene = Scene(env["BASE_URL"], json.loads((var / "sample.json").read_text()))
            act(scene)
            close_connections()
            yield scene
    finally:
        shutil.rmtree(var, ignore_errors=True)


def act(scene: Scene) -> None:
    """What happened before anybody looks."""
    person, key = scene.sample["owner"], json.loads(scene.sample["developer"]["connector_key"])
    make_newcomer(scene)
    unverified = ask_unverified(scene)
    with Client(f"{scene.address}/api/v1", scene.sample["developer"]["token"]) as app, Owner(scene.address) as owner:
        owner.sign_in(person["email"], person["password"])
        owner.unlock(passphrase=person["passphrase"])

        def ask(scope: str, purpose: str, **terms: Any) -> Any:
            return app.request_consent(person["user_id"], scope, purpose=purpose, key=key, **terms)

        app.discover(person["user_id"])
        phone = "Choose between paper tickets and tickets on your phone"
        approved = ask("attr.technology.use.*", phone, access_duration=30 * 86400)
        owner.approve(owner.review(approved.request_id), access_duration=7 * 86400)
        app.read(approved, key)
        denied = ask("attr.professional.work.*", "Offer you fares for business travel")
        owner.deny(denied.request_id)
        stopped = ask("attr.interests.leisure.*", "Find events on the days of your trip")
        owner.approve(owner.review(stopped.request_id))
        app.end(stopped.request_id)
        made = {"approved": approved, "denied": denied, "unverified": unverified, **waiting(ask)}
        connection_id = begin_connection(app, key)
    app_id, request_ids = scene.sample["developer"]["app_id"], {name: each.request_id for name, each in made.items()}
    scene.names = {
        **request_ids, "request_id": request_ids["pending"], "app_id": app_id, "app": app_id, "domain": "lifestyle",
        "document": "integrating", "key": "unknown", "app_label": "consent", "connection_id": connection_id,
        **analyse(scene), **call_as_test_app(scene), **use_portal(), **register_host(scene.address),
    }  # fmt: skip


def register_host(address: str) -> dict[str, str]:
    """A host that asks to be connected."""
    from developers.oauth.clients import register_client

    client, _ = register_client({"client_name": "Travel assistant", "redirect_uris": ["http://127.0.0.1/callback"]})
    return {"client_id": client.client_id, "mcp_url": quote(f"{address}/mcp", safe="")}


def begin_connection(app: Client, key: Any) -> str:
    """One that nobody answered, and that is open for as long as pictures are taken."""
    from django.db.models import F

    from consent.connections.models import Connection

    along = app.request_along("attr.lifestyle.shopping.*", purpose="Show what you like first", key=key)
    begun = app.begin_connection(
        return_url="https://trips.example/connected", binding_message="Order 4711", request=along
    )
    made = Connection.objects.filter(connection_id=begun.connection_id)
    made.update(expires_at=F("expires_at") + timedelta(days=1))
    return begun.connection_id


def waiting(ask: Callable[..., Any]) -> dict[str, Any]:
    """Requests that nobody decided, by the name that a picture has for them."""
    return {
        "pending": ask(
            "attr.lifestyle.food.*", "Suggest restaurants that you would like", binding_message="Lisbon 4711",
            required_attributes=["lifestyle.food.diet_preference"],
            optional_attributes=["lifestyle.food.favorite_cuisine", "lifestyle.food.coffee_or_tea"],
            access_duration=30 * 86400, max_reads=20,
        ),
        "narrow": ask("attr.lifestyle.*", "Plan days that suit how you live", refresh_policy="continuous"),
        "restricted": ask("attr.financial.signals.*", "Keep suggestions within what you usually spend"),
        "less": ask(
            "attr.identity.basic.birth_date", "Let you into rooms for adults",
            accepts={"identity.basic.birth_date": ["identity.basic.age_bracket", "identity.basic.age_over_18"]},
        ),
        "renewal": ask(
            "attr.technology.use.*", "Send your tickets where you look for them", access_duration=90 * 86400,
            refresh_policy="continuous",
        ),
    }  # fmt: skip


def ask_unverified(scene: Scene) -> Any:
    """What an app that nobody checked asks for: loud words, a name well known, and more than it registered."""
    from accounts.models import User
    from developers.applications.actions import make_app
    from developers.tokens.actions import mint_token

    staff = User.objects.get(email="staff@example.org")
    app = make_app(
        name="Nordbank Security", legal_name="Nordbank AB", website="https://nordbank.example", owner=staff, by=staff,
        privacy_policy="https://nordbank.example/privacy", contact_email="info@nordbank.example",
    )  # fmt: skip
    _, token = mint_token(app=app, label="shots", by=staff)
    with Client(f"{scene.address}/api/v1", token) as client:
        return client.request_consent(
            scene.sample["owner"]["sharing_id"], "attr.identity.*", key=generate_connector_key(),
            purpose="APPROVE NOW, or your account is closed: verify your account with the bank",
            access_duration=365 * 86400,
        )  # fmt: skip


def analyse(scene: Scene) -> dict[str, str]:
    """What the trip shows of profiles: a bank, a sent affinity, a message too. The analysis, and a bank to choose."""
    must("The trip of profiles", [PYTHON, "-m", "deploy.local.profiles"])
    visitor = Visitor(scene.address)
    visitor.sign_in(scene.sample["owner"]["email"], scene.sample["owner"]["password"])
    analyses = visitor.call("GET", "/api/a2a/analyses")["analyses"]
    link = visitor.call("POST", "/api/a2a/financial/links")
    consents = visitor.call("GET", "/api/a2a/consents")["consents"]
    named = {"analysis_id": analyses[0]["analysisId"], "link_id": link["linkId"]}
    return {**named, "consent_id": consents[0]["consentId"]}


def make_newcomer(scene: Scene) -> None:
    """Somebody who signed up a moment ago, with the developer's own password."""
    from accounts.models import User

    scene.sample["newcomer"] = {"email": "new@example.org", "password": scene.sample["developer"]["password"]}
    User.objects.create_user(**scene.sample["newcomer"], display_name="Noor")


# --- The developer portal and staff's lists -------------------------------------------------------------------------


def call_as_test_app(scene: Scene) -> dict[str, str]:
    """Requests of every kind, some refused calls, a registered key, and a sandbox person whom somebody plays."""
    from consent.connector_keys.actions import register_key
    from developers.models import App

    key, token = generate_connector_key(), scene.sample["developer"]["test_token"]
    with Client(f"{scene.address}/api/v1", token) as app:
        app.make_sandbox_person("Never answers")
        person = app.make_sandbox_person("Says yes to everything")  # the newest, whom the console names
        person.fill()
        request = app.request_consent(person.user_id, "attr.lifestyle.food.*", purpose="Suggest places to eat", key=key)
        person.approve(request.request_id, attributes=["lifestyle.food.favorite_cuisine"])
        app.read(request, key)
        leisure = app.request_consent(person.user_id, "attr.interests.leisure.*", purpose="Find events", key=key)
        person.deny(leisure.request_id)
        app.request_consent(person.user_id, "attr.technology.use.*", purpose="Send your tickets to you", key=key)
        for unknown in ("usr_nobody", "usr_somebody"):
            with contextlib.suppress(Problem):
                app.discover(unknown)
        with contextlib.suppress(Problem):
            app.status("req_of_somebody_else")
    test_app = App.objects.get(app_id=scene.sample["developer"]["test_app_id"])
    registered = register_key(app=test_app, key_id="laptop", jwk=public_half(key), by=test_app.members.get().user)
    return {"user_id": person.user_id, "thumbprint": registered.thumbprint}


def use_portal() -> dict[str, str]:
    """Tokens, members, webhooks and applications, by the project's own actions; the names for addresses."""
    from django.apps import apps

    from accounts.models import User
    from developers.apps.actions import make_test_app
    from developers.models import App

    developer, staff, newcomer, owner = (
        User.objects.get(email=f"{name}@example.org") for name in ("dev", "staff", "new", "mara.lindholm")
    )
    app = App.objects.get(members__user=developer, mode="test")
    names = {
        "test_app": app.app_id, **_tokens(app, developer), **_team(app, developer, newcomer, owner),
        **_webhooks(app, developer), **_applications(developer, staff, newcomer),
        **_profile(owner), "empty_app": make_test_app(name="Supper Club", by=newcomer).app_id,  # nobody used it yet
    }  # fmt: skip
    _report(owner)
    firsts = {name: apps.get_model(model).objects.order_by("pk").first() for name, model in _FIRST.items()}
    return names | {name: str(getattr(row, name, None)) for name, row in firsts.items()}


def _profile(owner: Any) -> dict[str, str]:
    """A public profile that is on and that apps find."""
    from accounts.public_profile import actions, queries

    handle = "zoe-q"
    actions.save_profile(
        by=owner, handle=handle, display_name="Zoë Q", headline="Plans train journeys", location_hint="Turku"
    )
    own = queries.own_profile(owner)
    assert own
    actions.show_profile(by=owner, seen=own["seen"])
    actions.list_profile(by=owner)
    return {"handle": handle}


def _tokens(app: Any, developer: Any) -> dict[str, str]:
    from developers.tokens.actions import mint_token, revoke_token, rotate_token
    from developers.tokens.models import ManagementToken

    backend, _ = mint_token(app=app, label="backend in Frankfurt", by=developer, permissions=["discover", "request"])
    rotate_token(token=backend, by=developer)
    laptop, _ = mint_token(app=app, label="laptop", by=developer, header_only=True)
    revoke_token(token=laptop, by=developer)
    nightly, _ = mint_token(app=app, label="nightly run", by=developer, permissions=["read"])
    ManagementToken.objects.filter(user=developer).update(prefix=nightly.prefix)  # one name for both kinds of pages
    return {"prefix": nightly.prefix}


def _team(app: Any, developer: Any, newcomer: Any, owner: Any) -> dict[str, str]:
    from accounts.outbox import drop_mails
    from common.identifiers import secret_digest
    from developers.members.invitation_links import mail_key, new_secret
    from developers.members.invitations import invite
    from developers.members.models import AppMember

    AppMember.objects.create(app=app, user=owner, shows_email=False)  # as who accepted what went to their sharing ID
    secret = new_secret()
    invitation = invite(app=app, email=newcomer.email, by=developer)
    invitation.digest = secret_digest(secret)  # its mail alone tells the link: this one counts as sent
    invitation.save()
    drop_mails(mail_key(invitation.pk))
    invite(app=app, email="a.rather.long.address.of.somebody@consultancy.trips.example", by=developer, role="owner")
    return {"secret": secret}


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
    return {"endpoint_pk": str(endpoint.pk)}


def _applications(developer: Any, staff: Any, newcomer: Any) -> dict[str, str]:
    """One that was sent back, one that waits, and one of somebody else."""
    from developers.applications.actions import hand_in_application, send_back_application

    back = hand_in_application(facts=_facts("Fare Finder"), by=developer)
    send_back_application(
        application=back, by=staff, note="Say for how long you keep where people live, and who hosts the data."
    )
    pending = hand_in_application(facts=_facts("Sleeper Trains"), by=developer)
    hand_in_application(facts=_facts("Lunch Finder"), by=newcomer)
    return {"sent_back": str(back.pk), "pk": str(pending.pk)}


def _facts(name: str) -> Any:
    from developers.applications.facts import ApplicationFacts

    site = f"https://{name.lower().replace(' ', '-')}.example"
    return ApplicationFacts(
        name=name, legal_name=f"{name} Europe AB", website=site, privacy_policy=f"{site}/privacy",
        contact_email="privacy@trips.example", use_case="Suggest what fits somebody along a journey.",
        jurisdiction="Finland", recipients="Nobody else", storage_place="Frankfurt", retention="30 days",
        scope_reasons=_SCOPES, origins=[site], return_addresses=[f"{site}/back"],
    )  # fmt: skip


def _report(owner: Any) -> None:
    from consent.decisions.blocked_apps import report_app
    from consent.requests.models import ConsentRequest
    from developers.tokens.models import DeveloperToken

    loud = ConsentRequest.objects.get(app__name="Nordbank Security", user=owner)
    report_app(app_id=loud.app.app_id, by=owner, text="They threaten to close an account that I do not have.")
    DeveloperToken.objects.filter(label="laptop").update(created_at=loud.created_at - timedelta(days=40))
