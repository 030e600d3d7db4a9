"""The stage of `./run shots`: a service of its own with sample people, and what happened before anybody looks."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.portal_staging import stage_portal
from consent_bridge.client import Client
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key
from deploy.local import neighbours
from deploy.local.place import PYTHON, must
from deploy.local.place import manage as manage_command
from deploy.local.serving import free_port, service
from deploy.local.visitor import Visitor


@dataclass
class Scene:
    """What stands on the stage: the service, who can sign in, and the names of what they made."""

    address: str
    sample: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)


@contextmanager
def stage() -> Iterator[Scene]:
    """A service with sample people, some requests that wait, some that are decided, and somebody who just came."""
    port, var = free_port(), Path(tempfile.mkdtemp(prefix="consent-shots-"))
    env = {"BASE_URL": f"http://localhost:{port}", "CONSENT_VAR": str(var), "DATABASE_URL": "", "REDIS_URL": ""}
    os.environ.update(env, DENIAL_COOLDOWN_SECONDS="0")
    beside = neighbours.find(port, env["BASE_URL"], var)
    os.environ.update(beside.env, NEIGHBOURS=json.dumps(beside.addresses))
    try:
        manage_command("Making the secrets", "make_keys", "--directory", str(var))
        made = (["collectstatic", "--no-input"], ["make_release"])
        for command in (["migrate", "--no-input"], ["sync_registry"], *made, ["sample_data"]):
            manage_command(f"{command[0]}", *command, "--verbosity", "0")
        with service(port, env, beside):
            scene = Scene(env["BASE_URL"], json.loads((var / "sample.json").read_text()))
            act(scene)
            yield scene
    finally:
        shutil.rmtree(var, ignore_errors=True)


def act(scene: Scene) -> None:
    """What happened before anybody looks."""
    person, key = scene.sample["owner"], generate_connector_key()
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
        asked = {"approved": approved, "denied": denied, "unverified": unverified, **waiting(ask)}
    scene.names = {name: request.request_id for name, request in asked.items()}
    scene.names |= {"app": scene.sample["developer"]["app_id"], "analysis": analyse(scene)}
    scene.names |= stage_portal(scene.address, scene.sample)


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
        "renewal": ask(
            "attr.technology.use.*", "Send your tickets where you look for them", access_duration=90 * 86400,
            refresh_policy="continuous",
        ),
    }  # fmt: skip


def ask_unverified(scene: Scene) -> Any:
    """What an app that nobody checked asks for: loud words, a name well known, and more than it registered."""
    make = (
        "from accounts.models import User; from developers.applications.actions import make_app; "
        "from developers.tokens.actions import mint_token; staff = User.objects.get(is_staff=True, "
        "email='staff@example.org'); app = make_app(name='Nordbank Security', legal_name='Nordbank AB', "
        "website='https://nordbank.example', privacy_policy='https://nordbank.example/privacy', "
        "contact_email='info@nordbank.example', owner=staff, by=staff); "
        "print(mint_token(app=app, label='shots', by=staff)[1])"
    )
    said = manage_command("Making an app that nobody checked", "shell", "--verbosity", "0", "--command", make)
    with Client(f"{scene.address}/api/v1", said.split()[-1]) as app:
        return app.request_consent(
            scene.sample["owner"]["user_id"], "attr.identity.*", key=generate_connector_key(),
            purpose="APPROVE NOW, or your account is closed: verify your account with the bank",
            access_duration=365 * 86400,
        )  # fmt: skip


def analyse(scene: Scene) -> str:
    """What the trip shows of profiles: a bank, a sent affinity and a message too. The analysis, ended."""
    must("The trip of profiles", [PYTHON, "-m", "deploy.local.profiles"])
    visitor = Visitor(scene.address)
    visitor.sign_in(scene.sample["owner"]["email"], scene.sample["owner"]["password"])
    return str(visitor.call("GET", "/api/a2a/analyses")["analyses"][0]["analysisId"])


def make_newcomer(scene: Scene) -> None:
    """Somebody who signed up a moment ago, with the developer's own password."""
    scene.sample["newcomer"] = {"email": "new@example.org", "password": scene.sample["developer"]["password"]}
    code = (
        "from accounts.models import User; import os; "
        "User.objects.create_user('new@example.org', os.environ['NEW_PASSWORD'], display_name='Noor')"
    )
    password = {"NEW_PASSWORD": scene.sample["newcomer"]["password"]}
    manage_command("Making somebody new", "shell", "--verbosity", "0", "--command", code, env=password)
