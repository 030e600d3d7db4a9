"""The sandbox's addresses: the owner's own ones, without their first folder, about the person whom the path names.

The same views twice: for programs with the token of a test app, and for the portal's pages with a member's session.
"""

from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema_view

from accounts.owner_api import OwnerView
from consent.sandbox import api
from consent.sandbox import descriptions as described
from consent.sandbox.players import PlayedByMember, PlayedByToken
from consent.web import owner_api
from pkm.web import api as vault_api

# the address, the owner's view, what it is made with, and what the OpenAPI document says of its methods
_Played = tuple[str, type[OwnerView], dict[str, Any], dict[str, Any]]
_GRANTS = "grants/<str:grant_id>"
_PLAYED: tuple[_Played, ...] = (
    ("keys", vault_api.Keys, {}, {"get": described.keys, "post": described.make_vault}),
    ("signing-key", vault_api.SigningKey, {}, {"put": described.set_signing_key}),
    ("wrappers", vault_api.Wrappers, {}, {"post": described.add_wrapper}),
    ("wrappers/<str:wrapper_id>", vault_api.Wrapper, {}, {"delete": described.remove_wrapper}),
    ("segments", vault_api.Segments, {}, {"get": described.segments}),
    (
        "segments/<str:domain>/<str:segment_id>",
        vault_api.Segment,
        {},
        {"put": described.write_segment, "delete": described.delete_segment},
    ),
    ("requests/<str:request_id>/data", owner_api.RequestDataView, {}, {"get": described.request_data}),
    ("requests/<str:request_id>/decision", owner_api.DecisionView, {}, {"post": described.decide}),
    (f"{_GRANTS}/revoke", owner_api.GrantMoveView, {"move": "revoke"}, {"post": described.revoke}),
    (f"{_GRANTS}/pause", owner_api.GrantMoveView, {"move": "pause"}, {"post": described.pause}),
    (f"{_GRANTS}/resume", owner_api.ResumeView, {}, {"post": described.resume}),
    (f"{_GRANTS}/approval", owner_api.StandingApprovalView, {}, {"get": described.standing_approval}),
    (f"{_GRANTS}/nonce", owner_api.GrantNonceView, {}, {"get": described.nonce}),
    (f"{_GRANTS}/export", owner_api.GrantExportView, {}, {"put": described.refresh}),
    ("clock", api.Clock, {}, {"post": described.move_clock}),
)


def _by_token(view: type[OwnerView], said: dict[str, Any]) -> type[OwnerView]:
    """The view as a program calls it."""
    return extend_schema_view(**said)(type(view.__name__, (PlayedByToken, view), {"__doc__": view.__doc__}))


def _by_member(view: type[OwnerView]) -> type[OwnerView]:
    """The view as the portal's pages call it."""
    return type(view.__name__, (PlayedByMember, view), {"__doc__": view.__doc__})


for_programs: list[URLPattern] = [
    path("api/v1/sandbox/people", api.People.as_view()),
    path("api/v1/sandbox/people/<str:user_id>", api.Person.as_view()),
    *(
        path(f"api/v1/sandbox/people/<str:user_id>/{address}", _by_token(view, said).as_view(**made_with))
        for address, view, made_with, said in _PLAYED
    ),
]

urlpatterns: list[URLPattern] = [
    path(f"developers/apps/<str:app_id>/sandbox/people/<str:user_id>/{address}", _by_member(view).as_view(**made_with))
    for address, view, made_with, _ in _PLAYED
]
