"""What `bench.growth` measures: each as a name and something to call."""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from django.contrib import admin
from django.test import Client, RequestFactory
from django.utils.module_loading import import_string

from accounts.models import User
from bench.population import BASE, World, known_as, of_request
from bench.staging import PURPOSE
from config.schedule import WORK
from consent_bridge.sealed import generate_connector_key, public_half
from tests.callers import signed_in
from tests.factories import StaffFactory
from tests.staff import at_the_admin

_MOST_RUNS = 200  # of a task until it finds nothing to do
Measure = tuple[str, Callable[[], object]]


def measures(world: World, people: int) -> Iterator[Measure]:
    """Everything, in the order of the table."""
    yield from _hot(world, people)
    yield from _pages("", User.objects.get(pk=BASE + people // 2))
    yield from _pages("long: ", User.objects.get(pk=BASE + people - 1))
    yield from _tasks()
    yield from _staff()


def _get(client: Any, path: str, **query: Any) -> None:
    answer = client.get(path, query)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    answer.getvalue()


def _hot(world: World, people: int) -> Iterator[Measure]:
    """The addresses of a program, for other people each time, who are far apart."""
    api, client = "/api/v1", Client(headers={"Authorization": f"Bearer {world.apps[0].token}"})
    own, turn = range(BASE, BASE + people, len(world.apps)), count()

    def number() -> int:
        return own[next(turn) * 7919 % len(own)]

    def status(place: int) -> None:
        _get(client, f"{api}/consent-status", request_id=of_request(number(), place))

    key = public_half(generate_connector_key())
    yield "user-scopes", lambda: _get(client, f"{api}/user-scopes/{known_as(number())}")
    yield "consent-status, approved", partial(status, 0)
    yield "consent-status, pending", partial(status, 3)
    yield "consent-export", lambda: _get(client, f"{api}/consent-export", request_id=of_request(number()))
    yield "request-consent", lambda: _request(client, number(), key)
    yield "consent-requests", partial(_get, client, f"{api}/consent-requests")
    for name in ("pending", "denied", "expired"):
        yield f"consent-requests {name}", partial(_get, client, f"{api}/consent-requests", status=name)


def _request(client: Client, number: int, key: dict[str, str]) -> None:
    body = {
        "user_id": known_as(number), "scope": "attr.technology.use.*", "purpose": PURPOSE, "connector_public_key": key,
        "connector_key_id": "bench", "connector_wrapping_alg": "ECDH-ES+A256KW",
    }  # fmt: skip
    answer = client.post("/api/v1/request-consent", body, content_type="application/json")
    if answer.status_code not in (200, 201):
        raise RuntimeError(f"request-consent answers {answer.status_code}: {answer.content!r}")


def _pages(who: str, user: User) -> Iterator[Measure]:
    client, history = signed_in(user).client, "/consent/history/"
    yield f"{who}overview", partial(_get, client, "/consent/")
    yield f"{who}inbox", partial(_get, client, "/consent/inbox/")
    yield f"{who}apps", partial(_get, client, "/consent/apps/")
    yield f"{who}history", partial(_get, client, history)
    for kind in ("decisions", "reads", "discoveries", "ends"):
        yield f"{who}history {kind}", partial(_get, client, history, kind=kind)
    app = user.grants.values_list("app__app_id", flat=True)[0]
    yield f"{who}history of an app", partial(_get, client, history, app=app)
    for form in ("json", "csv"):
        yield f"{who}history's file, {form}", partial(_get, client, f"{history}file/", format=form)
    yield f"{who}my data", partial(_get, client, "/vault/")


def _tasks() -> Iterator[Measure]:
    """What the timer has done; the first time it does what there is to do, after that it finds nothing."""
    for name in sorted({function for entry in WORK.values() for function in entry}):
        yield f"task {name}", partial(_until_idle, import_string(name))


def _until_idle(task: Callable[[], object]) -> None:
    """One run that finds nothing to do, behind those that still found something."""
    for _ in range(_MOST_RUNS):
        if not task():
            return
    raise RuntimeError(f"{task} always finds something to do")


def _staff() -> Iterator[Measure]:
    """The staff's home, each list, each choice of its filters and each of its searches."""
    member = StaffFactory(is_superuser=True, email=f"{secrets.token_hex(8)}@example.org")
    client = at_the_admin(member)
    yield "staff: home", partial(_get, client, "/admin/")
    for model, registered in sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label):
        path, label = f"/admin/{model._meta.app_label}/{model._meta.model_name}/", f"staff: {model._meta.model_name}"
        yield label, partial(_get, client, path)
        request = RequestFactory().get(path)
        request.user = member
        for query in _choices(registered, request):
            yield f"{label} {query}", partial(_get, client, path + query)
        for field in registered.get_search_fields(request):
            text = _value(model, str(field).lstrip("=^").split("__"))
            yield f"{label} search {field}", partial(_get, client, path, q=text)


def _choices(registered: Any, request: Any) -> list[str]:
    """The query of each choice of each filter of a list, but for "all"."""
    shown = registered.get_changelist_instance(request)
    found = [choice["query_string"] for spec in shown.filter_specs for choice in spec.choices(shown)]
    return [query for query in dict.fromkeys(found) if query != "?"]


def _value(model: Any, names: list[str]) -> str:
    """What stands in the newest row of what is searched; a word that nobody wrote where there is none."""
    for step in names[:-1]:
        model = model._meta.get_field(step).related_model
    newest = model._default_manager.order_by("-pk").values_list(names[-1], flat=True).first()
    return str(newest or "nothing")
