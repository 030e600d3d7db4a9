"""Asking for consent and ending it by REST: every answer and every refusal of the two operations."""

from datetime import timedelta
from typing import Any

from django.test import override_settings
from django.utils import timezone

from tests import factories
from tests.consent.api.addresses import asked
from tests.corpus.stage import Caller, Stage

ASK, END = "/api/v1/request-consent", "/api/v1/end-consent"
FITNESS, LIFESTYLE = "attr.lifestyle.fitness.*", "attr.lifestyle.*"
_KEY = {"kty": "OKP", "crv": "X25519", "x": "AAAA"}
_UNFIT: dict[str, dict[str, Any]] = {
    "no key": {"connector_public_key": ...},
    "no key ID": {"connector_key_id": None},
    "a key that is none": {"connector_public_key": _KEY},
    "a private key": {"connector_public_key": {**_KEY, "d": "AAAA"}},
    "a key of another kind": {"connector_public_key": {"kty": "RSA", "n": "AQAB", "e": "AQAB"}},
    "another algorithm": {"connector_wrapping_alg": "RSA-OAEP-256"},
    "two scopes": {"scope": ["attr.lifestyle.food.*", FITNESS]},
    "two scopes in one": {"scope": f"attr.lifestyle.food.* {FITNESS}"},
    "an unknown scope": {"scope": "attr.lifestyle.unknown.*"},
    "no scope at all": {"scope": "food"},
    "what the person does not keep": {"scope": "attr.identity.*"},
    "an unknown person": {"user_id": "usr_unknown"},
    "a member that is not known": {"urgent": True},
    "a short purpose": {"purpose": "why"},
    "a purpose of two lines": {"purpose": "Suggest restaurants\nand bars"},
    "a purpose that turns around": {"purpose": "Suggest \u202erestaurants to me"},
    "a number as text": {"access_duration": "300"},
    "too long an access": {"access_duration": 31_536_001},
    "too short an access": {"access_duration": 299},
    "too long a wait": {"requested_expiry": 2_592_001},
    "nothing asked": {"required_attributes": []},
    "an attribute elsewhere": {"required_attributes": ["lifestyle.fitness.goal"]},
    "an attribute twice": {"optional_attributes": ["lifestyle.food.coffee_or_tea"] * 2},
    "an unknown policy": {"refresh_policy": "daily"},
    "an unknown template": {"template_id": "no_template"},
    "no reads": {"max_reads": 0},
    "several at once": {"purpose": 1, "max_reads": "x", "scope": 5, "bogus": None},
}


def play(stage: Stage) -> None:
    app = factories.AppFactory()
    caller = Caller.with_token("app", factories.TokenFactory(app=app).secret)
    person = factories.give_vault(factories.PersonFactory()).user
    for what, changes in _UNFIT.items():
        stage.call(what, caller, "POST", ASK, asked(person, **changes))
    _asks(stage, caller, person)
    _template(stage, caller, person)
    _limits(stage, app, caller)
    _refusals_by_people(stage, app, caller)
    _ends(stage, app, caller)


def _asks(stage: Stage, caller: Caller, person: Any) -> None:
    first = stage.call("asked", caller, "POST", ASK, asked(person))
    stage.call("asked again", caller, "POST", ASK, asked(person))
    stage.call("asked again for something else", caller, "POST", ASK, asked(person, purpose="Suggest other things"))
    stage.call("taken back", caller, "POST", END, {"request_id": first.json()["request_id"]})
    stage.call("taken back twice", caller, "POST", END, {"request_id": first.json()["request_id"]})
    key = {"Idempotency-Key": "ask-once", "X-Client-Hint": "visitor"}
    everything = asked(
        person,
        scope=LIFESTYLE,
        access_duration=3600,
        requested_expiry=600,
        required_attributes=["lifestyle.food.favorite_cuisine"],
        optional_attributes=["lifestyle.food.coffee_or_tea"],
        max_reads=3,
        refresh_policy="continuous",
        binding_message="A1B2",
    )
    stage.call("every member, once", caller, "POST", ASK, everything, headers=key)
    stage.call("every member, repeated", caller, "POST", ASK, everything, headers=key, any_order=True)
    stage.call("the key of another body", caller, "POST", ASK, asked(person), headers=key)
    stage.call(
        "an Idempotency-Key that is none", caller, "POST", ASK, asked(person), headers={"Idempotency-Key": "x" * 129}
    )


def _template(stage: Stage, caller: Caller, person: Any) -> None:
    made = factories.ScopeTemplateFactory(agreed=True, template_id="dinner", max_reads=2, max_access_duration=600)
    beyond = asked(person, template_id=made.template_id, purpose="Suggest anything at all", scope=LIFESTYLE)
    within = asked(person, template_id=made.template_id, access_duration=600, max_reads=2)
    stage.call("beyond the template", caller, "POST", ASK, beyond)
    stage.call("within the template", caller, "POST", ASK, within)


def _limits(stage: Stage, app: Any, caller: Caller) -> None:
    """Each limit is met by the second call."""
    for name in ("PENDING_REQUESTS_PER_PERSON", "REQUESTS_PER_PERSON_PER_DAY"):
        person = factories.give_vault(factories.PersonFactory()).user
        with override_settings(**{name: 1}):
            stage.call(f"within {name}", caller, "POST", ASK, asked(person))
            stage.call(f"beyond {name}", caller, "POST", ASK, asked(person, scope=LIFESTYLE))
    small = factories.AppFactory(request_budget=1)
    spender = Caller.with_token("app with a budget", factories.TokenFactory(app=small).secret)
    for what in ("within the hourly budget", "beyond the hourly budget"):
        person = factories.give_vault(factories.PersonFactory()).user
        stage.call(what, spender, "POST", ASK, asked(person))
    guessing = factories.AppFactory()
    factories.DiscoveryMissFactory(app=guessing, count=1000)
    guesser = Caller.with_token("guesser", factories.TokenFactory(app=guessing).secret)
    stage.call("guessed too often", guesser, "POST", ASK, asked(person))


def _refusals_by_people(stage: Stage, app: Any, caller: Caller) -> None:
    denying = factories.give_vault(factories.PersonFactory()).user
    at = timezone.now().replace(microsecond=0) - timedelta(minutes=10)
    factories.ConsentRequestFactory(app=app, user=denying, status="denied", created_at=at)
    stage.call("denied a while ago", caller, "POST", ASK, asked(denying, scope=LIFESTYLE))
    blocking = factories.give_vault(factories.PersonFactory()).user
    factories.BlockedAppFactory(app=app, user=blocking)
    stage.call("blocked", caller, "POST", ASK, asked(blocking))
    hiding = factories.give_vault(factories.PersonFactory()).user
    factories.HiddenScopeFactory(user=hiding)
    stage.call("hidden", caller, "POST", ASK, asked(hiding))


def _ends(stage: Stage, app: Any, caller: Caller) -> None:
    for status in ("active", "paused", "revoked", "expired"):
        grant = factories.ExportFactory(grant__request__app=app, grant__status=status).grant
        stage.call(f"ends a grant that is {status}", caller, "POST", END, {"request_id": grant.request.request_id})
    for status in ("denied", "expired"):
        request = factories.ConsentRequestFactory(app=app, status=status)
        stage.call(f"ends a request that is {status}", caller, "POST", END, {"request_id": request.request_id})
    other = factories.ConsentRequestFactory()
    stage.call("another app's", caller, "POST", END, {"request_id": other.request_id})
    stage.call("unknown", caller, "POST", END, {"request_id": "req_unknown"})
