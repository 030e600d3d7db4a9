"""The sandbox's addresses: the owner's own ones, without their first folder, about the person whom the path names.

The same views twice: for programs with the token of a test app, and for the portal's pages with a member's session.
"""

from functools import wraps
from typing import Any

from django.http import HttpResponse
from django.urls import URLPattern, path

from accounts.owner_api import OwnerView
from common.operations import operation
from consent.sandbox import api
from consent.sandbox.acting import ActingByMember, ActingByToken
from consent.sandbox.api import ENDPOINTS, Endpoint


def _by_token(endpoint: Endpoint) -> type[OwnerView]:
    """The view as a program calls it."""
    methods = {
        name: _described(getattr(endpoint.view, name), description) for name, description in endpoint.operations.items()
    }
    return type(endpoint.view.__name__, (ActingByToken, endpoint.view), {"__doc__": endpoint.view.__doc__, **methods})


def _described(method: Any, description: operation) -> Any:
    """The owner's method under a description of its own, which says whom the path names."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> HttpResponse:
        answer: HttpResponse = method(*args, **kwargs)
        return answer

    return description(call)


def _by_member(view: type[OwnerView]) -> type[OwnerView]:
    """The view as the portal's pages call it."""
    return type(view.__name__, (ActingByMember, view), {"__doc__": view.__doc__})


for_programs: list[URLPattern] = [
    path("api/v1/sandbox/events", api.Events.as_view()),
    path("api/v1/sandbox/people", api.People.as_view()),
    path("api/v1/sandbox/people/<str:user_id>", api.Person.as_view()),
    path("api/v1/sandbox/people/<str:user_id>/connections", api.Connections.as_view()),
    *(
        path(
            f"api/v1/sandbox/people/<str:user_id>/{endpoint.address}", _by_token(endpoint).as_view(**endpoint.made_with)
        )
        for endpoint in ENDPOINTS
    ),
]

urlpatterns: list[URLPattern] = [
    path(
        f"developers/apps/<str:app_id>/sandbox/people/<str:user_id>/{endpoint.address}",
        _by_member(endpoint.view).as_view(**endpoint.made_with),
    )
    for endpoint in ENDPOINTS
]
