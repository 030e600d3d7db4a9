"""Everything that somebody may do, in any order; after each step the service has to stand where the model stands."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from consent.decisions.expiry import write_down_expiry
from consent.exports.read_batches import chain_pending_reads
from consent_bridge import sealed
from tests.lifecycle import expected_answers
from tests.lifecycle.checks import Records
from tests.lifecycle.records import Answer, Facts, Request, same
from tests.lifecycle.stage import Stage, without_change
from tests.lifecycle.transport import Caller, Reply, Transport, get, send

API = "/api/v1"
FOOD, CUISINE, LIFESTYLE = "attr.lifestyle.food.*", "attr.lifestyle.food.favorite_cuisine", "attr.lifestyle.*"
EMAIL, MONEY = "attr.contact.email.*", "attr.financial.signals.*"
SCOPES = (FOOD, CUISINE, LIFESTYLE, EMAIL, MONEY)
NEVER = ("attr.professional.work.*", "attr.nobody.knows.*", "pkm.read")  # not held, not known, not offered
PATHS = ("lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference", "lifestyle.fitness.gym_membership")

Strategy = st.SearchStrategy[Any]


@dataclass(frozen=True)
class Act:
    """One thing that somebody may do: how often, when at all, and with what."""

    weight: int
    when: Callable[[Any], bool]
    given: Strategy


def act(weight: int, when: Callable[[Any], bool] = lambda machine: True, **given: Strategy) -> Callable[[Any], Any]:
    """Marks a method as an act. Rules would do, but Hypothesis switches so many off that hardly anything happens."""

    def mark(method: Any) -> Any:
        method.act = Act(weight, when, st.fixed_dictionaries(given))
        return method

    return mark


def has_requests(machine: Any) -> bool:
    return bool(machine.world.requests)


def granted(machine: Any) -> bool:
    return any(request.grant for request in machine.world.requests)


ordinals = st.integers(0, 30)
apps = st.integers(0, 1)
paths = st.lists(st.sampled_from([*PATHS, "contact.email.email"]), max_size=2, unique=True)
seldom = st.sampled_from([None, None, None, "once", "again"])
terms = st.fixed_dictionaries(
    {
        "scope": st.sampled_from([*SCOPES, *SCOPES, *NEVER]),
        "purpose": st.sampled_from(["Suggest restaurants that you would like", "Plan a journey for you"]),
    },
    optional={
        "access_duration": st.sampled_from([300, 3600, 86400, 31536000]),
        "requested_expiry": st.sampled_from([300, 3600, 86400]),
        "max_reads": st.integers(1, 2),
        "refresh_policy": st.sampled_from(["continuous", "continuous", "snapshot"]),
        "binding_message": st.just("Blue 42"),
    },
)
lists = st.fixed_dictionaries({}, optional={"required_attributes": paths, "optional_attributes": paths})
named = st.one_of(st.just({}), st.just({}), lists)


class Acting(RuleBasedStateMachine):
    """The stage, and how an answer is compared."""

    transport: ClassVar[Transport]
    runs: ClassVar[int] = 0
    steps: ClassVar[int] = 0
    met: ClassVar[Counter[str]] = Counter()  # every event and every refusal, how often

    left_out: set[str]

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(self.transport)
        self.world = self.stage.world
        self.records = Records(self.stage)
        self.broken = False  # a difference was found already; what follows from it says nothing

    @classmethod
    def acts(cls) -> dict[str, Act]:
        found = {name: getattr(getattr(cls, name), "act", None) for name in dir(cls)}
        return {name: act for name, act in found.items() if act is not None}

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Some runs do without some acts, and so do more of the others."""
        self.left_out = data.draw(st.sets(st.sampled_from(sorted(self.acts())), max_size=12), label="never")

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        acts = {name: act for name, act in self.acts().items() if act.when(self)}
        names = [name for name, act in acts.items() for _ in range(act.weight)]
        name = data.draw(st.sampled_from([n for n in names if n not in self.left_out] or names), label="act")
        getattr(self, name)(**data.draw(acts[name].given, label="with"))

    # -- who and what

    def app_id(self, number: int) -> str:
        return self.stage.apps[number].app_id

    def choose(self, number: int, *, granted: bool = False, pending: bool = False) -> Request | None:
        """A request; four of five numbers mean one where something can still happen, while there is any."""
        now = self.world.now
        found = [r for r in self.world.requests if not granted or r.grant is not None]
        if number % 5:
            found = [r for r in found if pending and r.status(now) == "pending"] or found
            found = [r for r in found if r.is_open(now)] or found
        return found[-1 - number // 5 % len(found)] if found else None

    def call(self, app: str, method: str, path: str, body: Any = None, headers: Any = None, **query: Any) -> Reply:
        caller = self.stage.callers[app]
        if method == "GET":
            return get(self.transport, caller, API + path, headers, **query)
        return send(self.transport, caller, method, API + path, body, headers)

    def act(self, method: str, path: str, body: Any = None, *, caller: Caller | None = None) -> Reply:
        return send(self.transport, caller or self.stage.session, method, path, body)

    # -- how it compares

    def agree(self, wanted: Answer, found: Reply) -> None:
        self.broken = True
        assert found.status == wanted.status, f"wanted {wanted}, found {found.status} {found.body[:500]!r}"
        if wanted.refuses:
            problem = found.json()
            same("application/problem+json", found.headers["Content-Type"])
            assert isinstance(wanted.body, dict)
            same(wanted.body, {name: problem.get(name) for name in wanted.body})
            self.met[f"{wanted.status} {wanted.body['code']}"] += 1
            assert wanted.status != 429 or "Retry-After" in found.headers
        elif isinstance(wanted.body, dict):
            same(wanted.body, found.json())
        else:
            same(wanted.body or "", found.body.decode())
        self.broken = False

    @invariant()
    def everything_is_told_as_it_is(self) -> None:
        """All status bodies of both apps, and all that was written down."""
        type(self).steps += 1
        self.broken = True
        now = self.world.now
        for app in self.stage.apps:
            bodies = [request.body(now) for request in self.world.of_app(app.app_id)]
            found = self.call(app.app_id, "GET", "/consent-requests", limit=100).json()
            same({"requests": bodies[::-1], "next_cursor": None}, found)
        self.records.check()
        self.broken = False

    def teardown(self) -> None:
        """Time goes on until nothing lives; then everything has to add up."""
        try:
            if not self.broken:
                self._wind_up()
        finally:
            self.stage.close()
            type(self).runs += 1
            if self.runs % 100 == 0:
                sys.stdout.write(f"{self.runs} runs, {self.steps} steps\n")
                sys.stdout.flush()

    def _wind_up(self) -> None:
        self.stage.advance(3 * 31536000)
        same(self.world.write_down_expiry(), write_down_expiry())
        same(self.world.chain_reads(), chain_pending_reads())
        self.records.check()
        self.records.check_at_the_end()
        self.met.update(event for event, _, _ in self.world.chains.get("person", []))


class Asking(Acting):
    """What an app does."""

    @act(2, app=apps, stranger=st.sampled_from([False, False, False, True]))
    def discover(self, app: int, stranger: bool) -> None:
        user_id = self.world.names[self.app_id(1 - app if stranger else app)]  # another app's name is nobody's
        wanted = expected_answers.discover(self.world, self.app_id(app), user_id)
        found = self.call(self.app_id(app), "GET", f"/user-scopes/{user_id}")
        if not wanted.refuses:
            body = found.json()
            body["scope_entries"] = [without_change(entry) for entry in body["scope_entries"]]
            same(wanted.body, body)
        else:
            self.agree(wanted, found)

    @act(6, app=apps, key=st.integers(0, 1), scope=st.sampled_from(SCOPES),
         refresh_policy=st.sampled_from(["continuous", "snapshot"]), max_reads=st.sampled_from([None, None, 1, 2]),
         requested_expiry=st.sampled_from([300, 3600, 86400]))  # fmt: skip
    def ask_simply(self, app: int, key: int, **terms: Any) -> None:
        body = {**self._body(app, key), **{name: value for name, value in terms.items() if value is not None}}
        self._ask(self.app_id(app), {**body, "purpose": "Suggest restaurants that you would like"}, None)

    @act(4, app=apps, key=st.integers(0, 1), terms=terms, named=named, idempotency=seldom)
    def ask(self, app: int, key: int, terms: Facts, named: Facts, idempotency: str | None) -> None:
        self._ask(self.app_id(app), {**self._body(app, key), **terms, **named}, idempotency)

    @act(1, app=apps)
    def ask_about_nobody(self, app: int) -> None:
        body = {**self._body(app, 0), "user_id": "usr_nobody", "scope": FOOD, "purpose": "Guess who you are"}
        self._ask(self.app_id(app), body, None)

    @act(2, has_requests, number=ordinals, idempotency=seldom, change=st.sampled_from(["", "", "key_id", "purpose"]))
    def ask_again(self, number: int, idempotency: str | None, change: str) -> None:
        """The very same, or nearly."""
        request = self.choose(number)
        assert request is not None
        body = {name: value for name, value in request.terms.items() if value is not None}
        changes = {"key_id": {"connector_key_id": "key-9"}, "purpose": {"purpose": "Something else entirely"}}
        self._ask(request.app, {**body, **changes.get(change, {})}, idempotency)

    def _ask(self, app: str, body: Facts, idempotency: str | None) -> None:
        wanted = expected_answers.ask(self.world, app, body, idempotency)
        headers = {"Idempotency-Key": idempotency} if idempotency else None
        self.agree(wanted, self.call(app, "POST", "/request-consent", body, headers))

    def _body(self, app: int, key: int) -> Facts:
        return {
            "user_id": self.world.names[self.app_id(app)],
            "connector_public_key": sealed.public_half(self.stage.keys[app][key]),
            "connector_key_id": f"key-{key}",
            "connector_wrapping_alg": "ECDH-ES+A256KW",
        }
