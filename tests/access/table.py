"""Every address, what is sent to it, and what each caller is answered.

The routes come from the URL configuration: one that is not here fails the test, and so does one that is gone. A route
that does different things by method has a row for each.
"""

from typing import Any

from tests.access.answers import (
    Row,
    act,
    agent,
    everybody,
    nothing,
    own,
    page,
    program,
    signed_out_only,
    staff,
    with_a_factor,
)
from tests.access.callers import Caller
from tests.access.developers import DEVELOPERS
from tests.access.world import World
from tests.pkm.old_data import finish, progress
from tests.pkm.sealed_segments import segment


def _segment(world: World) -> dict[str, Any]:
    return segment(world.vault, "lifestyle", "food", {"favorite_cuisine": "Thai"}, base=1)


def _resealed(world: World) -> dict[str, Any]:
    return {"jwe": _segment(world)["jwe"], "content_revision": 1}


_LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ROWS: list[Row] = [
    Row("livez", "GET", everybody("200")),
    Row("readyz", "GET", everybody("200")),
    Row("language/", "POST", everybody("302"), lambda world: {"language": "en"}, form=True),
    Row("", "GET", page(owner="302", others="302", strangers="200")),
    Row("jsi18n/", "GET", everybody("200")),
    # --- documents
    Row("api/schema/", "GET", everybody("200")),
    Row("api/docs/", "GET", everybody("200")),
    Row("docs/errors", "GET", everybody("200")),
    Row("docs/security/", "GET", everybody("200")),
    Row("docs/", "GET", everybody("200")),
    Row("docs/<str:document>/", "GET", everybody("200")),
    Row(".well-known/consent-keys.json", "GET", everybody("200")),
    Row(".well-known/consent-checkpoint.json", "GET", everybody("404")),
    Row(".well-known/consent-release.json", "GET", everybody("404")),
    Row("log/checkpoint", "GET", everybody("404")),
    Row("log/key", "GET", everybody("200")),
    Row("log/tile/entries/<path:place>", "GET", everybody("404")),
    Row("log/tile/<str:level>/<path:place>", "GET", everybody("404")),
    Row("log/proof/<str:entry_hash>", "GET", everybody("202")),
    Row("log/consistency", "GET", everybody("400")),
    # --- developers' REST
    Row("api/v1/user-scopes/<str:user_id>", "GET", program("discover", other="200", test="404")),
    Row("api/v1/scope-catalog", "GET", program("discover", other="200")),
    Row("api/v1/people", "GET", program("discover", other="200")),
    Row(
        "api/v1/request-consent",
        "POST",
        program("request", app="201", other="201", test="404"),
        lambda w: w.body_to_ask(),
    ),
    Row(
        "api/v1/consent-status", "GET", program("request", "read"), query=lambda w: f"request_id={w.pending.request_id}"
    ),
    Row(
        "api/v1/end-consent",
        "POST",
        program("request"),
        lambda w: {"request_id": w.pending.request_id},
    ),
    Row("api/v1/consent-requests", "GET", program("request", "read", other="200")),
    Row("api/v1/consent-events", "GET", program("request", "read", other="200")),
    Row(
        "api/v1/consent-export",
        "GET",
        program("read"),
        query=lambda w: f"request_id={w.grant.request.request_id}",
    ),
    Row("api/v1/receipts/<str:receipt_id>", "GET", program("read"), names="receipt_id"),
    Row("mcp", "POST", program("discover", "request", "read", other="200"), lambda w: _LIST_TOOLS),
    Row("mcp/", "POST", program("discover", "request", "read", other="200"), lambda w: _LIST_TOOLS),
    *DEVELOPERS,
    # --- the consent app
    Row("consent/", "GET", page()),
    Row("consent/requests/<str:request_id>/", "GET", page(others="404"), names="request_id"),
    Row("consent/requests/<str:request_id>/deny/", "POST", act(), nothing, form=True, names="request_id"),
    Row("consent/requests/<str:request_id>/data", "GET", own(), names="request_id"),
    Row("consent/requests/<str:request_id>/decision", "POST", own(), lambda w: w.approval(), names="request_id"),
    Row("consent/grants/", "GET", page()),
    Row("consent/grants/<str:grant_id>/stop/", "POST", act(), nothing, form=True, names="grant_id"),
    Row("consent/grants/<str:grant_id>/pause/", "POST", act(), nothing, form=True, names="grant_id"),
    Row(
        "consent/grants/<str:grant_id>/keep/",
        "POST",
        act(),
        lambda w: {"kept": "no"},
        form=True,
        names="grant_id",
    ),
    Row("consent/grants/outdated", "GET", own(others="200")),
    Row("consent/grants/<str:grant_id>/revoke", "POST", own(), nothing, names="grant_id"),
    Row("consent/grants/<str:grant_id>/pause", "POST", own(), nothing, names="grant_id"),
    Row("consent/grants/<str:grant_id>/resume", "POST", own(owner="400"), nothing, names="grant_id"),
    Row("consent/grants/<str:grant_id>/nonce", "GET", own(), names="grant_id"),
    Row("consent/grants/<str:grant_id>/approval", "GET", own(), names="grant_id"),
    Row("consent/approval-keys", "GET", own(others="200")),
    Row(
        "consent/grants/<str:grant_id>/export",
        "PUT",
        own(owner="400"),
        lambda w: {"revision": 2, "sources": w.approval()["sources"], "jwe": w.approval()["jwe"]},
        names="grant_id",
    ),
    Row("consent/apps/<str:app_id>/", "GET", page(others="404"), names="app_id"),
    Row("consent/apps/<str:app_id>/block/", "POST", act(), nothing, form=True, names="app_id"),
    Row("consent/apps/<str:app_id>/stop/", "POST", act(), nothing, form=True, names="app_id"),
    Row("consent/apps/<str:app_id>/unblock/", "POST", act(), nothing, form=True, names="app_id"),
    Row(
        "consent/apps/<str:app_id>/report/",
        "POST",
        act(),
        lambda w: {"text": "It asks too much"},
        form=True,
        names="app_id",
    ),
    Row("consent/history/", "GET", page()),
    Row("consent/history/verify/", "POST", act(others="302"), nothing, form=True),
    Row("consent/history/file/", "GET", page(), query=lambda w: "format=json"),
    Row("consent/history/chain", "GET", own(others="200")),
    Row("consent/receipts/<str:receipt_id>/", "GET", page(others="404"), names="receipt_id"),
    Row("consent/receipts/<str:receipt_id>/download/", "GET", page(others="404"), names="receipt_id"),
    Row("consent/receipts/<str:receipt_id>/linked-data/", "GET", page(others="404"), names="receipt_id"),
    Row("consent/verify/", "GET", everybody("200")),
    # --- the vault
    Row("vault/", "GET", page()),
    Row("vault/data/<str:domain>/", "GET", page()),
    Row("vault/discovery/", "POST", act(others="302"), lambda w: {"scope": w.ids["scope"], "hide": "1"}, form=True),
    Row("vault/changes/", "GET", page()),
    Row("vault/transfer/", "GET", page()),
    Row("vault/archive/", "GET", page()),
    Row("vault/import/", "GET", page(), query=lambda w: f"analysis={w.ids['analysis_id']}"),
    Row("vault/setup/", "GET", page(owner="302", others="302")),
    Row("vault/setup/first/", "GET", page()),
    Row("vault/setup/preview/", "GET", page()),
    Row("vault/setup/done/", "POST", act(others="302"), nothing, form=True),
    Row("vault/sharing-id.svg", "GET", page()),
    Row("vault/keys", "GET", own(others="200")),
    Row("vault/keys", "POST", own(owner="400", others="400"), nothing),
    Row("vault/signing-key", "PUT", own(owner="400", others="400"), nothing),
    Row("vault/notes", "GET", own(others="200")),
    Row("vault/notes", "PUT", own(owner="400", others="400"), nothing),
    Row("vault/wrappers", "POST", own(owner="400", others="400"), nothing),
    Row("vault/wrappers/<str:wrapper_id>", "DELETE", own(owner="409"), names="wrapper_id"),
    Row("vault/wrappers/<str:wrapper_id>/restore", "POST", own(owner="200"), nothing, names="wrapper_id"),
    Row("vault/unlocked", "POST", own(owner="204"), lambda w: {"wrapper_id": w.ids["wrapper_id"]}),
    Row("vault/segments", "GET", own(others="200")),
    Row("vault/segments/<str:domain>/<str:segment_id>", "PUT", own(others="400"), _segment),
    Row(
        "vault/segments/<str:domain>/<str:segment_id>",
        "DELETE",
        own(others="200"),
        query=lambda w: "base_content_revision=1",
    ),
    Row("vault/hidden-scopes/<str:scope>", "PUT", own(owner="204", others="204")),
    Row("vault/hidden-scopes/<str:scope>", "DELETE", own(owner="204", others="204")),
    Row("vault/reset", "POST", own(others="200")),
    Row("vault/reset", "DELETE", own(owner="204", others="204")),
    Row("vault/rotation", "GET", own(owner="404")),
    Row("vault/rotation", "POST", own(owner="400", others="400"), nothing),
    Row("vault/rotation", "DELETE", own(owner="404")),
    Row("vault/rotation/notes", "PUT", own(owner="400", others="400"), nothing),
    Row("vault/rotation/finish", "POST", own(owner="404"), nothing),
    Row("vault/rotation/segments/<str:domain>/<str:segment_id>", "GET", own(owner="404")),
    Row("vault/rotation/segments/<str:domain>/<str:segment_id>", "PUT", own(owner="404"), _resealed),
    Row("vault/legacy", "GET", own(others="200")),
    Row("vault/legacy/progress", "PUT", own(), lambda world: progress()),
    Row("vault/legacy/<str:domain>/finish", "POST", own(), lambda world: finish()),
    Row("account/security/", "GET", page()),
    Row("account/security/recover/", "GET", page()),
    Row("account/security/key/", "GET", page()),
    Row("account/security/reset/", "GET", page()),
    Row("account/security/reset/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("account/security/reset/keep/", "POST", act(others="302"), nothing, form=True),
    Row("account/security/wrappers/<str:wrapper_id>/remove/", "GET", page(others="404"), names="wrapper_id"),
    Row("account/security/wrappers/<str:wrapper_id>/remove/", "POST", act(), nothing, form=True, names="wrapper_id"),
    Row("account/security/wrappers/<str:wrapper_id>/restore/", "POST", act(), nothing, form=True, names="wrapper_id"),
    # --- leaving
    Row("account/delete/", "GET", page()),
    # nobody's own address
    Row(
        "account/delete/",
        "POST",
        act(owner="400", others="400"),
        lambda w: {"address": "nobody@example.org"},
        form=True,
    ),
    Row("account/delete/keep/", "POST", act(others="302"), nothing, form=True),
    Row("account/delete/undo/", "GET", everybody("200")),
    Row("account/delete/undo/", "POST", everybody("404"), nothing, form=True),
    # --- their own name and photo
    Row("account/name/", "GET", page()),
    Row("account/name/", "POST", act(others="302"), lambda w: {"display_name": "Zoe"}, form=True),
    Row("account/name/photo/", "GET", page(owner="404", others="404")),
    Row("account/name/photo/remove/", "POST", act(others="302"), nothing, form=True),
    # --- the public profile
    Row("account/public-profile/", "GET", page()),
    Row(
        "account/public-profile/",
        "POST",
        act(others="302"),
        lambda w: {"handle": "a-new-handle", "display_name": "", "headline": "", "location_hint": ""},
        form=True,
    ),
    Row("account/public-profile/preview/", "GET", page(others="302")),
    Row("account/public-profile/switch/", "POST", act(others="302"), lambda w: {"shown": "no"}, form=True),
    Row("account/public-profile/directory/", "POST", act(others="302"), lambda w: {"listed": "yes"}, form=True),
    Row("account/public-profile/remove/", "POST", act(others="302"), nothing, form=True),
    Row("people/<str:handle>/", "GET", everybody("200")),
    # --- profile agents
    Row("api/a2a/consents", "GET", own(others="200")),
    Row(
        "api/a2a/consents", "POST", own(owner="201", others="201"), lambda w: {"purposes": ["profile"], "agreed": True}
    ),
    Row("api/a2a/consents/<str:consent_id>", "DELETE", own(owner="204"), names="consent_id"),
    Row("api/a2a/analyses", "GET", own(others="200")),
    Row("api/a2a/analyses/<str:analysis_id>", "GET", own(), names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>", "DELETE", own(owner="204"), names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>/cancel", "POST", own(), nothing, names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>/raw", "GET", own(), names="analysis_id"),
    Row(
        "api/a2a/analyses/<str:analysis_id>/steps/<str:agent>/retry",
        "POST",
        own(owner="409"),
        nothing,
        names="analysis_id",
    ),
    Row("api/a2a/analyses/<str:analysis_id>/activations", "GET", own(), names="analysis_id"),
    Row(
        "api/a2a/analyses/<str:analysis_id>/activations",
        "POST",
        own(owner="403"),
        lambda w: {"destinationId": w.ids["destination_id"]},
        names="analysis_id",
    ),
    Row("api/a2a/analyses/<str:analysis_id>/activations/<str:activation_id>", "GET", own(), names="analysis_id"),
    Row("api/a2a/destinations", "GET", own(others="200")),
    Row(
        "api/a2a/messaging",
        "POST",
        agent(owner="503"),
        lambda w: {"to": "+4915112345678", "text": "Hello"},
    ),
    Row("api/a2a/messaging/reports", "POST", everybody("401"), nothing),
    Row("api/a2a/messages", "GET", own(others="200")),
    Row("api/a2a/numbers", "GET", own(others="200")),
    Row("api/a2a/numbers/codes", "POST", own(owner="400", others="400"), nothing),
    Row("api/a2a/numbers/<int:number_pk>", "DELETE", own(owner="204"), names="number_pk"),
    Row("api/a2a/financial/links", "POST", own(owner="201", others="403"), nothing),
    Row("api/a2a/financial/items", "GET", own(others="403")),
    Row("api/a2a/financial/items/<str:item_id>", "DELETE", own(owner="204"), names="item_id"),
    Row(
        "api/a2a/financial/items/<str:item_id>/refreshes",
        "POST",
        own(owner="202", others="403"),
        nothing,
        names="item_id",
    ),
    Row(
        "api/a2a/financial/items/<str:item_id>/identity",
        "POST",
        own(owner="409", others="403"),
        nothing,
        names="item_id",
    ),
    Row("api/a2a/financial/signals", "GET", own(others="403")),
    Row("api/a2a/<path:agent>", "POST", agent(owner="503"), lambda w: {"text": "Who am I?"}),
    Row("profile/", "GET", page()),
    Row("profile/consent/", "GET", page(), query=lambda w: "purposes=profile"),
    Row("profile/consent/given/", "GET", page()),
    Row("profile/consent/<str:consent_id>/withdraw/", "POST", act(), nothing, form=True, names="consent_id"),
    Row("profile/numbers/", "GET", page()),
    Row("profile/numbers/<int:number_pk>/code/", "GET", page(owner="302", others="302"), names="number_pk"),
    Row("profile/numbers/<int:number_pk>/forget/", "POST", act(), nothing, form=True, names="number_pk"),
    Row("profile/financial/", "GET", page()),
    Row("profile/financial/link/", "POST", act(others="302"), nothing, form=True),
    Row("profile/financial/linked/", "GET", page(owner="404", others="302")),
    Row("profile/financial/links/<str:link_id>/", "GET", page(others="404"), names="link_id"),
    Row("profile/financial/<str:item_id>/refresh/", "POST", act(others="302"), nothing, form=True, names="item_id"),
    Row("profile/financial/<str:item_id>/identity/", "POST", act(others="302"), nothing, form=True, names="item_id"),
    Row("profile/financial/<str:item_id>/remove/", "POST", act(others="302"), nothing, form=True, names="item_id"),
    Row("profile/<analysis_id>/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/raw/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/cancel/", "POST", act(), nothing, form=True, names="analysis_id"),
    Row("profile/<analysis_id>/retry/<agent>/", "POST", act(), nothing, form=True, names="analysis_id"),
    Row("profile/<analysis_id>/delete/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/delete/", "POST", act(), nothing, form=True, names="analysis_id"),
    Row("profile/create/", "GET", page()),
    Row("profile/create/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("profile/update/", "GET", page()),
    Row("profile/update/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("profile/look-up/", "GET", page()),
    Row("profile/look-up/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("profile/messages/", "GET", page()),
    Row("profile/messages/", "POST", act(owner="400", others="400"), nothing, form=True),
    Row("profile/<analysis_id>/brand-affinity/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/brand-affinity.<form>", "GET", page(others="404"), names="analysis_id"),
    Row("profile/analyses/<analysis_id>/send/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/analyses/<analysis_id>/send/", "POST", act(), nothing, form=True, names="analysis_id"),
    # --- signing in and up; allauth's own pages
    Row("accounts/login/", "GET", signed_out_only()),
    Row("accounts/signup/", "GET", signed_out_only()),
    Row("accounts/signup/passkey/", "GET", signed_out_only()),
    Row("accounts/signup/passkey/create/", "GET", everybody("302")),
    Row("accounts/logout/", "GET", page(strangers="302")),
    Row("account/waiting/leave/", "POST", everybody("302"), nothing, form=True),
    Row("accounts/inactive/", "GET", everybody("200")),
    Row("accounts/reauthenticate/", "GET", page()),
    Row("accounts/email/", "GET", page()),
    Row("accounts/confirm-email/", "GET", everybody("200")),
    Row("accounts/confirm-email/<key>/", "GET", everybody("200")),
    Row("accounts/password/change/", "GET", page()),
    Row("accounts/password/set/", "GET", page(owner="302", others="302")),
    Row("accounts/password/reset/", "GET", everybody("200")),
    Row("accounts/password/reset/done/", "GET", everybody("200")),
    Row("accounts/password/reset/key/<uidb36>-<key>/", "GET", everybody("200")),
    Row("accounts/password/reset/key/done/", "GET", everybody("200")),
    Row("accounts/login/code/confirm/", "GET", page(owner="302", others="302", strangers="302 sign-in")),
    Row("accounts/2fa/", "GET", page()),
    Row("accounts/2fa/authenticate/", "GET", page(owner="302", others="302")),
    Row("accounts/2fa/reauthenticate/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "200")),
    Row("accounts/2fa/totp/activate/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "302 second factor")),
    Row("accounts/2fa/totp/deactivate/", "GET", with_a_factor(page("404", "404"), "200")),
    Row("accounts/2fa/recovery-codes/", "GET", page("404", "404")),
    Row("accounts/2fa/recovery-codes/generate/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "200")),
    Row("accounts/2fa/recovery-codes/download/", "GET", page("404", "404")),
    Row("accounts/2fa/webauthn/", "GET", page()),
    Row("accounts/2fa/webauthn/add/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "200")),
    Row("accounts/2fa/webauthn/reauthenticate/", "POST", page("302 confirm", "302 confirm"), nothing, form=True),
    Row("accounts/2fa/webauthn/keys/<int:pk>/remove/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "404")),
    Row("accounts/2fa/webauthn/keys/<int:pk>/edit/", "GET", with_a_factor(page("302 confirm", "302 confirm"), "404")),
    Row("accounts/2fa/webauthn/login/", "GET", page("302", "302")),
    Row("accounts/sessions/", "GET", page()),
]


_MADE_BY_STAFF = {
    "pkm/domain", "pkm/scopeentry", "developers/developertoken", "consent/scopetemplate", "developers/webhookendpoint",
    "agents_proxy/messagetemplate", "auth/group",
}  # fmt: skip


def admin_row(route: str, *, exists: bool) -> Row:
    """The admin's addresses are Django's own, made for each record; what staff are answered follows from their kind.

    `exists` says whether the world has a row of that record: a page about one that is not there leads to the lists.
    """
    record, _, kind = route.removeprefix("admin/").partition("/<path:object_id>/")
    if route == "admin/logout/":
        return Row(route, "GET", everybody("302"))
    if route == "admin/login/":
        return Row(
            route,
            "GET",
            {**staff("302"), Caller.OWNER: "403", Caller.STRANGER: "403", Caller.STAFF: "302 second factor"},
        )
    if route in ("admin/r/<path:content_type_id>/<path:object_id>/", "admin/<url>"):
        return Row(route, "GET", staff("404"))
    if route == "admin/password_change/":
        return Row(route, "GET", staff("302"))
    if route == "admin/autocomplete/":
        return Row(route, "GET", staff("403"))
    if record.endswith("/add/"):
        return Row(route, "GET", staff("200" if record.removesuffix("/add/") in _MADE_BY_STAFF else "403"))
    if kind == "delete/":
        return Row(route, "GET", staff("302" if record == "auth/group" else "403"))
    if "<path:object_id>" in route and not kind:
        return Row(route, "GET", staff("302"))
    return Row(route, "GET", staff("200" if exists or not kind else "302"))
