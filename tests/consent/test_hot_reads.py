"""Each hot read finds what the plain code finds that it stands for (decision 0019)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.db.models import Count, Max, Min
from django.utils import timezone

from accounts.models import User
from common import limits
from common.identifiers import secret_digest
from common.sql.inserts import insert_rows
from consent.decisions.models import BlockedApp
from consent.discovery import unknown_users
from consent.discovery.person_read import PersonRead, read_person
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest, OwnRules
from consent.requests.receipt_claims import handling_of
from consent.requests.recent import DAY, WEEK, RecentRequest, RecentRequests, read_recent
from consent.sandbox.models import SandboxPerson
from developers.models import App, AppMember, AppPerson
from pkm.registry.models import HiddenScope, RegistryVersion
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    MemberFactory,
    OwnRulesFactory,
    PersonFactory,
    TestAppFactory,
    give_vault,
    invitation_of,
    known_as,
)
from tests.factories.consent_requests import now


def person_plainly(*, app_pk: int, is_test: bool, name: str, hint: str) -> PersonRead:
    version = RegistryVersion.objects.get().version
    met = AppPerson.objects.filter(app=app_pk, pairwise_id=name).first()
    found = User.objects.filter(pk=met.user_id) if met else User.objects.filter(sharing_id__digest=secret_digest(name))
    user = found.select_related("pkm_index", "vault_key").first()
    if user is not None and not reaches(app_pk, is_test, user):
        user = None
    misses = unknown_users.peek(app_pk, hint)
    if user is None:
        return PersonRead(version, None, None, "{}", "", None, False, False, misses)
    index, vault = getattr(user, "pkm_index", None), getattr(user, "vault_key", None)
    return PersonRead(
        registry_version=version,
        user_pk=user.pk if user.is_active else None,
        pairwise_id=getattr(AppPerson.objects.filter(app=app_pk, user=user).first(), "pairwise_id", None),
        holdings=orjson.dumps(index.summary_projection).decode() if index else "{}",
        hidden=" ".join(HiddenScope.objects.filter(user=user).values_list("scope", flat=True)),
        vault_status=vault.vault_status if vault else None,
        has_blocked=BlockedApp.objects.filter(user=user, app_id=app_pk).exists(),
        requested_before=ConsentRequest.objects.filter(user=user, app_id=app_pk).exists(),
        misses=misses,
    )


def reaches(app_pk: int, is_test: bool, user: User) -> bool:
    played_by = SandboxPerson.objects.filter(user=user).first()
    if not is_test:
        return played_by is None
    member = AppMember.objects.filter(app_id=app_pk, user=user).first()
    return (played_by is not None and played_by.app_id == app_pk) or (
        member is not None and member.agreed_to_tests_at is not None
    )


def block(app: App, user: User) -> None:
    BlockedApp.objects.create(app=app, user=user, created_at=now())


def hide(app: App, user: User) -> None:
    for scope in ("attr.lifestyle.*", "attr.identity.basic.*"):
        HiddenScope.objects.create(user=user, scope=scope)


def ask_before(app: App, user: User) -> None:
    ConsentRequestFactory(app=app, user=user)


def guess(app: App, user: User) -> None:
    for hint, times in (("", 5), ("caller", 7), ("another", 3)):
        limits.count(unknown_users.limit(), unknown_users.counter_of(app.pk, hint), amount=times)


def guess_long_ago(app: App, user: User) -> None:
    with time_machine.travel(timezone.now() - timedelta(minutes=61)):
        guess(app, user)


def leave(app: App, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def play(app: App, user: User) -> None:
    SandboxPerson.objects.create(app=app, user=user)


def play_for_another(app: App, user: User) -> None:
    SandboxPerson.objects.create(app=TestAppFactory(), user=user)


def join(app: App, user: User) -> None:
    MemberFactory(app=app, user=user)


def join_and_agree(app: App, user: User) -> None:
    MemberFactory(app=app, user=user, agreed_to_tests_at=now())


def nothing(app: App, user: User) -> None:
    pass


def in_seconds(found: PersonRead) -> PersonRead:
    """What does not depend on the order of two lists, or on which read came first."""
    return replace(found, holdings="", hidden="", misses=replace(found.misses, resets_in=0))


@pytest.mark.parametrize(
    "happened",
    [nothing, block, hide, ask_before, guess, guess_long_ago, leave, play, play_for_another, join, join_and_agree],
)
@pytest.mark.parametrize("hint", ["", "caller"])
@pytest.mark.parametrize("factory", [AppFactory, TestAppFactory], ids=["live app", "test app"])
@pytest.mark.parametrize("whom", ["somebody with a vault", "somebody without", "nobody"])
@pytest.mark.parametrize("is_known", [True, False], ids=["met", "invited"])
def test_a_person_is_read_as_plainly(
    db: None, happened: Callable[[App, User], None], hint: str, whom: str, factory: Any, is_known: bool
) -> None:
    app, user = factory(), PersonFactory()
    if whom == "somebody with a vault":
        give_vault(user)
    happened(app, user)
    name = known_as(app, user) if is_known else invitation_of(user)
    given = {
        "app_pk": app.pk,
        "is_test": app.is_test,
        "name": "usr_nobody" if whom == "nobody" else name,
        "hint": hint,
    }

    found, plain = read_person(**given), person_plainly(**given)

    assert found is not None
    assert orjson.loads(found.holdings) == orjson.loads(plain.holdings)
    assert sorted(found.hidden.split()) == sorted(plain.hidden.split())
    assert found.misses.used == {guess: {"": 5, "caller": 7}[hint]}.get(happened, 0)
    assert in_seconds(found) == in_seconds(plain)


def recent_plainly(*, app_pk: int, user_pk: int, cooldown: timedelta) -> RecentRequests:
    at = timezone.now()
    app = App.objects.get(pk=app_pk)
    all_requests = ConsentRequest.objects.filter(app=app, user_id=user_pk).order_by("pk")
    visible = all_requests.filter(withheld=False)
    of_day = visible.filter(created_at__gt=at - DAY).order_by().aggregate(made=Count("pk"), first_at=Min("created_at"))
    undecided = all_requests.filter(status="pending")
    denied = visible.filter(status="denied", decided_at__gt=at - cooldown)
    of_week = visible.filter(created_at__gt=at - WEEK).order_by().aggregate(at=Max("created_at"))
    rules = OwnRules.objects.filter(user_id=user_pk).first() or OwnRules()
    return RecentRequests(
        now=at,
        registry_version=RegistryVersion.objects.get().version,
        app_name=app.name,
        handling=handling_plainly(app),
        has_blocked=BlockedApp.objects.filter(user_id=user_pk, app=app).exists(),
        is_kept_away=rules.only_checked_since is not None and not app.verified,
        last_of_week=of_week["at"] if rules.weekly_since else None,
        undecided=tuple(map(recent_request, undecided)),
        denied=tuple(map(recent_request, denied)),
        **of_day,
    )


def handling_plainly(app: App) -> dict[str, Any]:
    application = app.application
    if application is None:
        return {}
    return handling_of(
        recipients=application.recipients, location=application.storage_place, retention=application.retention,
        jurisdiction=application.jurisdiction,
    )  # fmt: skip


def recent_request(row: ConsentRequest) -> RecentRequest:
    return RecentRequest(
        row.pk, row.scope, row.status, row.connector_thumbprint, row.expires_at, row.decided_at, row.withheld
    )


def in_order(requests: tuple[RecentRequest, ...]) -> list[RecentRequest]:
    return sorted(requests, key=lambda request: request.pk)


@pytest.mark.parametrize("rule", ["none", "only_checked", "weekly"])
@pytest.mark.parametrize("cooldown", [0, 3600])
@pytest.mark.parametrize("blocked", [True, False])
def test_what_was_asked_lately_is_read_as_plainly(
    db: None, settings: object, cooldown: int, blocked: bool, rule: str
) -> None:
    settings.DENIAL_COOLDOWN_SECONDS = cooldown  # type: ignore[attr-defined]  # pytest-django's
    fields = {"application__recipients": "Our kitchen", "application__retention": "30 days"} if blocked else {}
    app, user = AppFactory(**fields, verified=blocked), PersonFactory()
    if rule != "none":
        OwnRulesFactory(user=user, **{f"{rule}_since": now()})
    if blocked:
        block(app, user)
    given = {"app": app, "user": user}
    for status in ("pending", "denied", "cancelled"):
        ConsentRequestFactory(**given, status=status)
    long_ago = now() - timedelta(days=2)
    ConsentRequestFactory(**given, created_at=long_ago, expires_at=long_ago + timedelta(days=30))
    ConsentRequestFactory(
        **given, created_at=long_ago, expires_at=now(), status="denied", decided_at=now() - timedelta(hours=2)
    )
    ConsentRequestFactory(app=app)
    ConsentRequestFactory(user=user)
    for status in ("pending", "denied"):
        ConsentRequestFactory(**given, status=status, withheld=True)

    found = read_recent(app_pk=app.pk, user_pk=user.pk)
    plain = recent_plainly(app_pk=app.pk, user_pk=user.pk, cooldown=timedelta(seconds=cooldown))

    assert found is not None
    assert abs(found.now - plain.now) < timedelta(minutes=1)
    assert (in_order(found.undecided), in_order(found.denied)) == (list(plain.undecided), list(plain.denied))
    assert (len(found.undecided), len(found.denied)) == (3, 1 if cooldown else 0)
    assert [request.withheld for request in found.pending] == [False, False]
    assert replace(found, now=plain.now, undecided=(), denied=()) == replace(plain, undecided=(), denied=())


def test_rows_are_inserted_together_as_the_orm_saves_them(db: None) -> None:
    facts = {
        "user_id": "usr_one",
        "names": ["Zoë", "Sá"],
        "grant": None,
        "count": 3,
        "is_last": True,
        "nested": {"a": []},
    }
    request = ConsentRequestFactory()
    pks = {"app_id": request.app_id, "request_id": request.pk}
    one: dict[str, Any] = {**pks, "sequence": 71, "kind": "consent.denied", "facts": facts, "at": now()}

    written = insert_rows(Notice, [one, {**one, "sequence": 72}], returning=("sequence", "id"))
    Notice.objects.create(**{**one, "sequence": 73})

    stored = {notice["sequence"]: notice for notice in Notice.objects.filter(sequence__gte=71).values()}
    assert sorted(written) == [(71, stored[71]["id"]), (72, stored[72]["id"])]
    assert {**stored[71], "id": 0} == {**stored[73], "id": 0, "sequence": 71}
    assert insert_rows(Notice, [], returning=("id",)) == []
