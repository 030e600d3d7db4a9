"""The rows of the developers' side: sandbox, management, portal. Person A owns app A."""

from collections.abc import Callable
from typing import Any

from allauth.account.models import EmailAddress

from tests.access.answers import Answers, Body, Row, act, everybody, manage, nothing, own, page, sandbox
from tests.access.world import World
from tests.factories import PersonFactory
from tests.pkm.sealed_segments import segment


def _somebody_new(world: World) -> dict[str, Any]:
    person = PersonFactory()
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    return {"user_id": person.public_id}


def _with_confirmed_address(world: World) -> dict[str, Any]:
    """The invitation went to person A, who has shown that the address is theirs."""
    EmailAddress.objects.update_or_create(user=world.owner, email=world.owner.email, defaults={"verified": True})
    return {}


def _played(before: str, answers: Callable[..., Answers]) -> list[Row]:
    """The addresses at which a sandbox person is played, by a program and by a member of the app alike."""

    def written(world: World) -> dict[str, Any]:
        return segment(world.sandbox.vault, "lifestyle", "food", {"favorite_cuisine": "Thai"}, base=1)

    def refreshed(world: World) -> dict[str, Any]:
        approval = world.sandbox.approval()
        return {"revision": 2, "sources": approval["sources"], "jwe": approval["jwe"]}

    def row(rest: str, method: str, body: Body | None = None, query: str = "", *told: str) -> Row:
        return Row(f"{before}/{rest}", method, answers(*told), body, query=lambda _: query, names="user_id")

    return [  # a body is looked at before whom it is about
        row("keys", "GET"),
        row("keys", "POST", nothing, "", "400", "400"),
        row("wrappers", "POST", nothing, "", "400", "400"),
        row("wrappers/<str:wrapper_id>", "DELETE", None, "", "409"),
        row("segments", "GET"),
        row("segments/<str:domain>/<str:segment_id>", "PUT", written),
        row("segments/<str:domain>/<str:segment_id>", "DELETE", None, "base_content_revision=1"),
        row("requests/<str:request_id>/data", "GET"),
        row("requests/<str:request_id>/decision", "POST", lambda w: w.sandbox.approval()),
        row("grants/<str:grant_id>/revoke", "POST", nothing),
        row("grants/<str:grant_id>/pause", "POST", nothing),
        row("grants/<str:grant_id>/resume", "POST", nothing, "", "400"),
        row("grants/<str:grant_id>/nonce", "GET"),
        row("grants/<str:grant_id>/approval", "GET"),
        row("signing-key", "PUT", nothing, "", "400", "400"),
        row("grants/<str:grant_id>/export", "PUT", refreshed, "", "400"),
        row("clock", "POST", lambda w: {"seconds": 60}),
    ]


def _endpoint(world: World) -> dict[str, Any]:
    return {"url": "https://trips.example/new", "type-consent.denied": "on"}


def _destination(world: World) -> dict[str, Any]:
    return {"name": "Mail", "url": "https://trips.example/mail"}


_ENDPOINT = "developers/apps/<str:app_id>/webhooks/<int:endpoint_pk>"
_MANAGED = "api/v1/manage/apps/<str:app_id>/webhooks"
_DESTINATIONS = "developers/apps/<str:app_id>/destinations"
_DESTINATION = f"{_DESTINATIONS}/<str:destination_id>"
_MANAGED_DESTINATIONS = "api/v1/manage/apps/<str:app_id>/destinations"
_MANAGED_DESTINATION = f"{_MANAGED_DESTINATIONS}/<str:destination_id>"
_TEAM = "developers/apps/<str:app_id>/members"
_INVITATION = "developers/apps/<str:app_id>/invitations/<int:invitation_pk>"
DEVELOPERS: list[Row] = [
    Row("api/v1/leaked-tokens", "POST", everybody("202"), lambda w: {"token": "cr_live_nobody"}),
    Row("api/v1/sandbox/people", "GET", sandbox(other="200")),
    Row("api/v1/sandbox/people", "POST", sandbox("201", other="201"), nothing),
    Row("api/v1/sandbox/people/<str:user_id>", "DELETE", sandbox("204"), names="user_id"),
    *_played("api/v1/sandbox/people/<str:user_id>", sandbox),
    *_played("developers/apps/<str:app_id>/sandbox/people/<str:user_id>", own),
    Row("developers/apps/<str:app_id>/sandbox/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/sandbox/new/", "POST", act(), nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/sandbox/<str:user_id>/", "GET", page(others="404"), names="user_id"),
    Row(
        "developers/apps/<str:app_id>/sandbox/<str:user_id>/clock/",
        "POST",
        act(),
        lambda w: {"seconds": "3600"},
        form=True,
        names="user_id",
    ),
    Row(
        "developers/apps/<str:app_id>/sandbox/<str:user_id>/delete/",
        "POST",
        act(),
        nothing,
        form=True,
        names="user_id",
    ),
    # --- management by programs
    Row("api/v1/manage/apps", "GET", manage(others="200", reads=True)),
    Row(_MANAGED, "GET", manage(reads=True), names="app_id"),
    Row(_MANAGED, "POST", manage("201"), lambda w: {"url": "https://trips.example/new"}, names="app_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>", "PATCH", manage(), lambda w: {"enabled": False}, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>", "DELETE", manage("204"), names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/test", "POST", manage(), nothing, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/rotate-secret", "POST", manage(), nothing, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/deliveries", "GET", manage(reads=True), names="endpoint_id"),
    Row(_MANAGED_DESTINATIONS, "GET", manage(reads=True), names="app_id"),
    Row(_MANAGED_DESTINATIONS, "POST", manage("201"), _destination, names="app_id"),
    Row(
        _MANAGED_DESTINATION,
        "PATCH",
        manage(),
        lambda w: {"enabled": False},
        names="destination_id",
    ),
    Row(_MANAGED_DESTINATION, "DELETE", manage("204"), names="destination_id"),
    Row(
        f"{_MANAGED_DESTINATIONS}/<str:destination_id>/rotate-secret", "POST", manage(), nothing, names="destination_id"
    ),
    Row("api/v1/manage/deliveries/<str:delivery_id>/replay", "POST", manage(), nothing, names="delivery_id"),
    Row("api/v1/manage/apps/<str:app_id>/log", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps", "POST", manage("201", others="201"), lambda w: {"name": "Lunch Finder"}),
    Row("api/v1/manage/apps/<str:app_id>", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>", "PATCH", manage("400"), lambda w: {"name": "Lunch Finder"}, names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>/tokens", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>/tokens", "POST", manage("201"), lambda w: {"label": "CI"}, names="app_id"),
    Row("api/v1/manage/tokens/<str:prefix>/rotate", "POST", manage("201"), lambda w: {"overlap": 60}, names="prefix"),
    Row("api/v1/manage/tokens/<str:prefix>/revoke", "POST", manage(), nothing, names="prefix"),
    Row("api/v1/manage/apps/<str:app_id>/members", "GET", manage(reads=True), names="app_id"),
    Row(
        "api/v1/manage/apps/<str:app_id>/members",
        "POST",
        manage("201"),
        _somebody_new,
        names="app_id",
    ),
    Row("api/v1/manage/apps/<str:app_id>/members/<str:user_id>", "DELETE", manage("409"), names="app_id"),
    # --- the developer portal
    Row("developers/applications/new/", "GET", page()),
    Row("developers/applications/<int:pk>/", "GET", page(others="404"), names="pk"),
    Row("developers/applications/<int:pk>/withdraw/", "POST", act(), nothing, form=True, names="pk"),
    Row("developers/applications/<int:pk>/domain/", "POST", act(), nothing, form=True, names="pk"),
    Row("developers/apps/<str:app_id>/domain/", "GET", page(others="404"), names="app_id"),
    Row("logos/<digest>.png", "GET", everybody("200")),
    # --- the developer portal
    Row("developers/", "GET", page()),
    Row("developers/apps/", "POST", act(others="302"), lambda w: {"name": "Lunch Finder"}, form=True),
    Row("developers/apps/<str:app_id>/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/", "POST", act(owner="400"), nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/<str:prefix>/rotate/", "GET", page(others="404"), names="app_id"),
    Row(
        "developers/apps/<str:app_id>/tokens/<str:prefix>/rotate/",
        "POST",
        act(owner="200"),
        lambda w: {"overlap": "3600"},
        form=True,
        names="app_id",
    ),
    Row("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", "POST", act(), nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/settings/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/settings/", "POST", act(owner="400"), nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/settings/close/", "GET", page(others="404"), names="app_id"),
    Row(
        "developers/apps/<str:app_id>/settings/close/",
        "POST",
        act(),
        lambda w: {"name": w.app.name},
        form=True,
        names="app_id",
    ),
    Row("developers/apps/<str:app_id>/audit/", "GET", page(others="404"), names="app_id"),
    Row("developers/management-tokens/", "GET", page()),
    Row("developers/management-tokens/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("developers/management-tokens/<str:prefix>/revoke/", "GET", page(others="404")),
    Row("developers/management-tokens/<str:prefix>/revoke/", "POST", act(), nothing, form=True),
    Row("developers/apps/<str:app_id>/keys/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/webhooks/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/webhooks/", "POST", act(owner="200"), _endpoint, form=True, names="app_id"),
    Row(f"{_ENDPOINT}/", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/log", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/change/", "POST", act(), _endpoint, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/switch/", "POST", act(), lambda w: {"enabled": "no"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/secret/", "POST", act(owner="200"), lambda w: {"overlap": "0"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/test/", "POST", act(), nothing, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/delete/", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/delete/", "POST", act(), nothing, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/replay/", "POST", act(), lambda w: {"hours": "24"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/deliveries/<int:delivery_pk>/replay/", "POST", act(), nothing, form=True, names="delivery_pk"),
    Row(f"{_DESTINATIONS}/", "GET", page(others="404"), names="app_id"),
    Row(f"{_DESTINATIONS}/", "POST", act(owner="200"), _destination, form=True, names="app_id"),
    Row(f"{_DESTINATION}/switch/", "POST", act(), lambda w: {"enabled": "no"}, form=True, names="destination_id"),
    Row(f"{_DESTINATION}/secret/", "POST", act(owner="200"), nothing, form=True, names="destination_id"),
    Row(f"{_DESTINATION}/remove/", "GET", page(others="404"), names="destination_id"),
    Row(f"{_DESTINATION}/remove/", "POST", act(), nothing, form=True, names="destination_id"),
    Row("developers/apps/<str:app_id>/log/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/log/latest", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/limits/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/try/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/try/", "POST", act(owner="403"), nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/members/", "GET", page(others="404"), names="app_id"),
    Row(
        f"{_TEAM}/invite/",
        "POST",
        act(),
        lambda w: {"email": "a@b.example", "role": "member"},
        form=True,
        names="app_id",
    ),
    Row(f"{_TEAM}/leave/", "POST", act(owner="409"), nothing, form=True, names="app_id"),
    Row(f"{_TEAM}/tests/", "POST", act(owner="400"), lambda w: {"agreed": "yes"}, form=True, names="app_id"),
    Row(
        f"{_TEAM}/<str:user_id>/role/",
        "POST",
        act(owner="409"),
        lambda w: {"role": "member"},
        form=True,
        names="app_id",
    ),
    Row(f"{_TEAM}/<str:user_id>/transfer/", "POST", act(owner="400"), nothing, form=True, names="app_id"),
    Row(f"{_TEAM}/<str:user_id>/remove/", "POST", act(owner="409"), nothing, form=True, names="app_id"),
    Row(f"{_INVITATION}/send/", "POST", act(), nothing, form=True, names="app_id"),
    Row(f"{_INVITATION}/withdraw/", "POST", act(), nothing, form=True, names="app_id"),
    Row("developers/invitations/<str:secret>/", "GET", everybody("200")),
    Row("developers/invitations/<str:secret>/", "POST", act(others="403"), _with_confirmed_address, form=True),
]
