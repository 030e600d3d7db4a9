"""What `bench.growth` measures: each as a name and something to call."""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.test import Client, RequestFactory

from accounts.models import User
from bench import multitude
from config.celery import app as celery
from consent_bridge.sealed import generate_connector_key, public_half
from tests.callers import signed_in
from tests.factories import StaffFactory
from tests.staff import at_the_admin

_MOST_RUNS = 200  # of a task until it finds nothing to do
Measure = tuple[str, Callable[[], object]]


def measures(cast: multitude.Cast, people: int) -> Iterator[Measure]:
    """Everything, in the order of the table."""
    yield from _hot(cast, people)
    yield from _pages(people)
    yield from _tasks()
    yield from _staff(cast, people)


def _got(client: Any, path: str, expected: int = 200, **query: Any) -> bytes:
    answer = client.get(path, query)
    if answer.status_code != expected:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    return bytes(answer.getvalue())


def _hot(cast: multitude.Cast, people: int) -> Iterator[Measure]:
    """The addresses of a program, for other people each time."""
    client = Client(headers={"Authorization": f"Bearer {cast.token.secret}"})  # type: ignore[attr-defined]  # the factory's
    # rows of the app with the token, far apart
    own = [n for n in multitude.numbers(people) if n % len(cast.apps) == 0]
    turn = count()

    def number() -> int:
        return own[next(turn) * 7919 % len(own)]

    yield "user-scopes", lambda: _got(client, f"/api/v1/user-scopes/{multitude.name('usr', number())}")
    for place, status in enumerate(("approved", "pending")):
        at = place * 3
        yield (
            f"consent-status, {status}",
            lambda at=at: _got(  # type: ignore[misc]
                client, "/api/v1/consent-status", request_id=multitude.name("req", number() * 4 + at)
            ),
        )
    yield (
        "consent-export",
        lambda: _got(client, "/api/v1/consent-export", request_id=multitude.name("req", number() * 4)),
    )
    key = public_half(generate_connector_key())
    yield "request-consent", lambda: _asked(client, number(), key)
    for status in ("", "pending", "denied", "expired"):
        query = {"status": status} if status else {}
        yield (
            f"consent-requests {status}".strip(),
            lambda query=query: _got(  # type: ignore[misc]
                client, "/api/v1/consent-requests", **query
            ),
        )


def _asked(client: Client, number: int, key: dict[str, str]) -> None:
    body = {
        "user_id": multitude.name("usr", number), "scope": "attr.technology.use.*",
        "purpose": "Suggest restaurants that you would like", "connector_public_key": key,
        "connector_key_id": "bench", "connector_wrapping_alg": "ECDH-ES+A256KW",
    }  # fmt: skip
    answer = client.post("/api/v1/request-consent", body, content_type="application/json")
    if answer.status_code not in (200, 201):
        raise RuntimeError(f"request-consent answers {answer.status_code}: {answer.content!r}")


def _pages(people: int) -> Iterator[Measure]:
    """The pages of somebody with four requests, and of the one with the long history."""
    for who, number in (("", people // 2), ("long: ", people)):
        user = User.objects.get(pk=multitude.BASE + number)
        client = signed_in(user).client
        yield f"{who}inbox", lambda c=client: _got(c, "/consent/")  # type: ignore[misc]
        yield f"{who}sharing", lambda c=client: _got(c, "/consent/grants/")  # type: ignore[misc]
        for kind in ("", "decisions", "reads", "discoveries", "ends"):
            yield (
                f"{who}history {kind}".rstrip(),
                lambda c=client, kind=kind: _got(  # type: ignore[misc]
                    c, "/consent/history/", kind=kind
                ),
            )
        yield (
            f"{who}history of an app",
            lambda c=client, user=user: _got(  # type: ignore[misc]
                c, "/consent/history/", app=user.grants.values_list("app__app_id", flat=True)[0]
            ),
        )
        for form in ("json", "csv"):
            yield (
                f"{who}history's file, {form}",
                lambda c=client, form=form: _got(  # type: ignore[misc]
                    c, "/consent/history/file/", format=form
                ),
            )
        yield f"{who}my data", lambda c=client: _got(c, "/vault/")  # type: ignore[misc]


def _tasks() -> Iterator[Measure]:
    """Every task of the timer; the first time it does what there is to do, after that it finds nothing."""
    celery.loader.import_default_modules()
    for name, entry in sorted(settings.CELERY_BEAT_SCHEDULE.items()):
        yield f"task {name}", partial(_until_idle, celery.tasks[entry["task"]])


def _until_idle(task: Callable[[], object]) -> None:
    """One run that finds nothing to do, behind those that still found something."""
    for _ in range(_MOST_RUNS):
        if not task():
            return
    raise RuntimeError(f"{task} always finds something to do")


def _staff(cast: multitude.Cast, people: int) -> Iterator[Measure]:
    """The staff's home, each list, each choice of its filters and each of its searches."""
    member = StaffFactory(is_superuser=True, email=f"{secrets.token_hex(8)}@example.org")
    page = at_the_admin(member)
    yield "staff: home", lambda: _got(page, "/admin/")
    for model, registered in sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label):
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        label = f"staff: {model._meta.model_name}"
        yield label, lambda path=path: _got(page, path)  # type: ignore[misc]
        for query in _choices(registered, member, path):
            yield f"{label} {query}", lambda path=path, query=query: _got(page, path + query)  # type: ignore[misc]
        for field in registered.get_search_fields(RequestFactory().get(path)):
            text = _value(model, str(field).lstrip("=^").split("__"))
            yield f"{label} search {field}", lambda path=path, text=text: _got(page, path, q=text)  # type: ignore[misc]


def _choices(registered: Any, member: User, path: str) -> list[str]:
    """The query of each choice of each filter of a list, but for "all"."""
    request = RequestFactory().get(path)
    request.user = member
    shown = registered.get_changelist_instance(request)
    found = [choice["query_string"] for spec in shown.filter_specs for choice in spec.choices(shown)]
    return [query for query in dict.fromkeys(found) if query != "?"]


def _value(model: Any, names: list[str]) -> str:
    """What stands in the middle row of what is searched; a word that nobody wrote where there is none."""
    for step in names[:-1]:
        model = model._meta.get_field(step).related_model
    newest = model._default_manager.order_by("-pk").values_list(names[-1], flat=True).first()
    return str(newest or "nothing")
