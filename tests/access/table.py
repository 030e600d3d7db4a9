"""Every address, what is sent to it, and what each caller is answered.

The routes come from the URL configuration: one that is not here fails the test, and so does one that is gone. A route
that does different things by method has a row for each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress

from tests.access.callers import PEOPLE, Caller
from tests.access.world import World
from tests.factories import PersonFactory
from tests.pkm.sealed_segments import segment

Answers = dict[Caller, str]
Body = Callable[[World], Any]


@dataclass(frozen=True)
class Row:
    """One address and method. `names` is the part of the path that names something of person A's, if any."""

    route: str
    method: str
    answers: Answers
    body: Body | None = None
    form: bool = False
    query: Callable[[World], str] | None = None
    names: str = ""


def everybody(status: str) -> Answers:
    return dict.fromkeys(Caller, status)


def _people(owner: str, others: str, strangers: str) -> Answers:
    """Pages and owner addresses: a token lets nobody in there, so its holder is answered what a stranger is."""
    told = dict.fromkeys(Caller, strangers)
    told.update(dict.fromkeys(PEOPLE, others))
    return {**told, Caller.OWNER: owner}


def page(owner: str = "200", others: str = "200", strangers: str = "302 sign-in") -> Answers:
    """A page of the consent app; its session alone opens it."""
    return _people(owner, others, strangers)


def act(owner: str = "302", others: str = "404", strangers: str = "302 sign-in") -> Answers:
    """What a form on a page does. Another person's thing is not there; whoever is signed out signs in first."""
    return _people(owner, others, strangers)


def own(owner: str = "200", others: str = "404", strangers: str = "401") -> Answers:
    """An owner address in JSON."""
    return _people(owner, others, strangers)


def program(*needs: str, app: str = "200", other: str = "404", test: str | None = None) -> Answers:
    """A developers' address: the token decides, then the permission. No session opens it."""
    told = dict.fromkeys(Caller, "401")
    told.update({Caller.APP: app, Caller.OTHER_APP: other, Caller.SUSPENDED: "403"})
    told.update(dict.fromkeys((Caller.TEST_APP, Caller.OTHER_TEST_APP), other if test is None else test))
    for permission in (Caller.DISCOVER, Caller.REQUEST, Caller.READ):
        told[permission] = app if permission.name.lower() in needs else "403"
    return told


def sandbox(app: str = "200", other: str = "404") -> Answers:
    """A sandbox person's address, or that of all of them: the token of a test app opens it, of a live one never."""
    told = dict.fromkeys(Caller, "401")
    live = (Caller.APP, Caller.OTHER_APP, Caller.SUSPENDED, Caller.DISCOVER, Caller.REQUEST, Caller.READ)
    return {**told, **dict.fromkeys(live, "403"), Caller.TEST_APP: app, Caller.OTHER_TEST_APP: other}


def manage(owner: str = "200", others: str = "404", *, reads: bool = False) -> Answers:
    """A management address: the personal token decides, then its permission, then what its person is to the app."""
    read_alone = owner if reads else "403"
    told = {Caller.MANAGER: owner, Caller.MANAGER_READ: read_alone, Caller.OTHER_MANAGER: others}
    return {**dict.fromkeys(Caller, "401"), **told}


def with_a_factor(answers: Answers, answer: str) -> Answers:
    """What differs for whoever has an authenticator app and showed it just now."""
    return {**answers, Caller.STAFF_2FA: answer}


def staff(answer: str) -> Answers:
    """The admin: the second factor decides. Everybody else is led to its sign-in, which says what is missing."""
    told = dict.fromkeys(Caller, "302 sign-in")
    return {**told, Caller.STAFF_2FA: answer}


def signed_out_only(status: str = "200") -> Answers:
    """The pages of signing in and up: whoever is signed in goes on."""
    told = dict.fromkeys(Caller, status)
    return {**told, **dict.fromkeys(PEOPLE, "302")}


def agent(owner: str, others: str = "403", strangers: str = "403") -> Answers:
    """An agent's address: a consent to the purpose decides; a developer token means nothing there."""
    return _people(owner, others, strangers)


def _nothing(world: World) -> dict[str, Any]:
    return {}


def _somebody_new(world: World) -> dict[str, Any]:
    person = PersonFactory()
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    return {"user_id": person.public_id}


def _with_confirmed_address(world: World) -> dict[str, Any]:
    """The invitation went to person A, who has shown that the address is theirs."""
    EmailAddress.objects.update_or_create(user=world.owner, email=world.owner.email, defaults={"verified": True})
    return {}


def _segment(world: World) -> dict[str, Any]:
    return segment(world.vault, "lifestyle", "food", {"favorite_cuisine": "Thai"}, base=1)


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
        row("keys", "POST", _nothing, "", "400", "400"),
        row("wrappers", "POST", _nothing, "", "400", "400"),
        row("wrappers/<str:wrapper_id>", "DELETE", None, "", "409"),
        row("segments", "GET"),
        row("segments/<str:domain>/<str:segment_id>", "PUT", written),
        row("segments/<str:domain>/<str:segment_id>", "DELETE", None, "base_content_revision=1"),
        row("requests/<str:request_id>/data", "GET"),
        row("requests/<str:request_id>/decision", "POST", lambda w: w.sandbox.approval()),
        row("grants/<str:grant_id>/revoke", "POST", _nothing),
        row("grants/<str:grant_id>/pause", "POST", _nothing),
        row("grants/<str:grant_id>/resume", "POST", _nothing),
        row("grants/<str:grant_id>/export", "PUT", refreshed, "", "400"),
        row("clock", "POST", lambda w: {"seconds": 60}),
    ]


def _endpoint(world: World) -> dict[str, Any]:
    return {"url": "https://trips.example/new", "type-consent.denied": "on"}


_ENDPOINT = "developers/apps/<str:app_id>/webhooks/<int:endpoint_pk>"
_MANAGED = "api/v1/manage/apps/<str:app_id>/webhooks"
_LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
_TEAM = "developers/apps/<str:app_id>/members"
_INVITATION = "developers/apps/<str:app_id>/invitations/<int:invitation_pk>"
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
    # --- developers' REST
    Row("api/v1/user-scopes/<str:user_id>", "GET", program("discover", other="200", test="404")),
    Row("api/v1/scope-catalog", "GET", program("discover", other="200")),
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
    Row("api/v1/leaked-tokens", "POST", everybody("202"), lambda w: {"token": "cr_live_nobody"}),
    Row("api/v1/sandbox/people", "GET", sandbox(other="200")),
    Row("api/v1/sandbox/people", "POST", sandbox("201", other="201"), _nothing),
    Row("api/v1/sandbox/people/<str:user_id>", "DELETE", sandbox("204"), names="user_id"),
    *_played("api/v1/sandbox/people/<str:user_id>", sandbox),
    *_played("developers/apps/<str:app_id>/sandbox/people/<str:user_id>", own),
    Row("developers/apps/<str:app_id>/sandbox/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/sandbox/new/", "POST", act(), _nothing, form=True, names="app_id"),
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
        _nothing,
        form=True,
        names="user_id",
    ),
    # --- management by programs
    Row("api/v1/manage/apps", "GET", manage(others="200", reads=True)),
    Row(_MANAGED, "GET", manage(reads=True), names="app_id"),
    Row(_MANAGED, "POST", manage("201"), lambda w: {"url": "https://trips.example/new"}, names="app_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>", "PATCH", manage(), lambda w: {"enabled": False}, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>", "DELETE", manage("204"), names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/test", "POST", manage(), _nothing, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/rotate-secret", "POST", manage(), _nothing, names="endpoint_id"),
    Row(f"{_MANAGED}/<str:endpoint_id>/deliveries", "GET", manage(reads=True), names="endpoint_id"),
    Row("api/v1/manage/deliveries/<str:delivery_id>/replay", "POST", manage(), _nothing, names="delivery_id"),
    Row("api/v1/manage/apps/<str:app_id>/log", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps", "POST", manage("201", others="201"), lambda w: {"name": "Lunch Finder"}),
    Row("api/v1/manage/apps/<str:app_id>", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>", "PATCH", manage("400"), lambda w: {"name": "Lunch Finder"}, names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>/tokens", "GET", manage(reads=True), names="app_id"),
    Row("api/v1/manage/apps/<str:app_id>/tokens", "POST", manage("201"), lambda w: {"label": "CI"}, names="app_id"),
    Row("api/v1/manage/tokens/<str:prefix>/rotate", "POST", manage("201"), lambda w: {"overlap": 60}, names="prefix"),
    Row("api/v1/manage/tokens/<str:prefix>/revoke", "POST", manage(), _nothing, names="prefix"),
    Row("api/v1/manage/apps/<str:app_id>/members", "GET", manage(reads=True), names="app_id"),
    Row(
        "api/v1/manage/apps/<str:app_id>/members",
        "POST",
        manage("201"),
        _somebody_new,
        names="app_id",
    ),
    Row("api/v1/manage/apps/<str:app_id>/members/<str:user_id>", "DELETE", manage("409"), names="app_id"),
    Row("mcp", "POST", program("discover", "request", "read", other="200"), lambda w: _LIST_TOOLS),
    Row("mcp/", "POST", program("discover", "request", "read", other="200"), lambda w: _LIST_TOOLS),
    # --- the consent app
    Row("consent/", "GET", page()),
    Row("consent/requests/<str:request_id>/", "GET", page(others="404"), names="request_id"),
    Row("consent/requests/<str:request_id>/deny/", "POST", act(), _nothing, form=True, names="request_id"),
    Row("consent/requests/<str:request_id>/data", "GET", own(), names="request_id"),
    Row("consent/requests/<str:request_id>/decision", "POST", own(), lambda w: w.approval(), names="request_id"),
    Row("consent/grants/", "GET", page()),
    Row("consent/grants/<str:grant_id>/stop/", "POST", act(), _nothing, form=True, names="grant_id"),
    Row("consent/grants/<str:grant_id>/pause/", "POST", act(), _nothing, form=True, names="grant_id"),
    Row("consent/grants/<str:grant_id>/resume/", "POST", act(), _nothing, form=True, names="grant_id"),
    Row(
        "consent/grants/<str:grant_id>/keep/",
        "POST",
        act(),
        lambda w: {"kept": "no"},
        form=True,
        names="grant_id",
    ),
    Row("consent/grants/outdated", "GET", own(others="200")),
    Row("consent/grants/<str:grant_id>/revoke", "POST", own(), _nothing, names="grant_id"),
    Row("consent/grants/<str:grant_id>/pause", "POST", own(), _nothing, names="grant_id"),
    Row("consent/grants/<str:grant_id>/resume", "POST", own(), _nothing, names="grant_id"),
    Row(
        "consent/grants/<str:grant_id>/export",
        "PUT",
        own(owner="400"),
        lambda w: {"revision": 2, "sources": w.approval()["sources"], "jwe": w.approval()["jwe"]},
        names="grant_id",
    ),
    Row("consent/apps/<str:app_id>/", "GET", page(others="404"), names="app_id"),
    Row("consent/apps/<str:app_id>/block/", "POST", act(), _nothing, form=True, names="app_id"),
    Row("consent/apps/<str:app_id>/stop/", "POST", act(), _nothing, form=True, names="app_id"),
    Row("consent/apps/<str:app_id>/unblock/", "POST", act(), _nothing, form=True, names="app_id"),
    Row(
        "consent/apps/<str:app_id>/report/",
        "POST",
        act(),
        lambda w: {"text": "It asks too much"},
        form=True,
        names="app_id",
    ),
    Row("consent/history/", "GET", page()),
    Row("consent/history/verify/", "POST", act(others="302"), _nothing, form=True),
    Row("consent/history/file/", "GET", page(), query=lambda w: "format=json"),
    Row("consent/history/chain", "GET", own(others="200")),
    Row("consent/receipts/<str:receipt_id>/", "GET", page(others="404"), names="receipt_id"),
    Row("consent/receipts/<str:receipt_id>/download/", "GET", page(others="404"), names="receipt_id"),
    Row("consent/verify/", "GET", everybody("200")),
    # --- the vault
    Row("vault/", "GET", page()),
    Row("vault/data/<str:domain>/", "GET", page()),
    Row("vault/discovery/", "POST", act(others="302"), lambda w: {"scope": w.ids["scope"], "hide": "1"}, form=True),
    Row("vault/transfer/", "GET", page()),
    Row("vault/import/", "GET", page(), query=lambda w: f"analysis={w.ids['analysis_id']}"),
    Row("vault/setup/", "GET", page(owner="302", others="302")),
    Row("vault/setup/first/", "GET", page()),
    Row("vault/setup/preview/", "GET", page()),
    Row("vault/setup/done/", "POST", act(others="302"), _nothing, form=True),
    Row("vault/sharing-id.svg", "GET", page()),
    Row("vault/keys", "GET", own(others="200")),
    Row("vault/keys", "POST", own(owner="400", others="400"), _nothing),
    Row("vault/wrappers", "POST", own(owner="400", others="400"), _nothing),
    Row("vault/wrappers/<str:wrapper_id>", "DELETE", own(owner="409"), names="wrapper_id"),
    Row("vault/wrappers/<str:wrapper_id>/restore", "POST", own(owner="200"), _nothing, names="wrapper_id"),
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
    # --- the developer portal
    Row("developers/applications/new/", "GET", page()),
    Row("developers/applications/<int:pk>/", "GET", page(others="404"), names="pk"),
    Row("developers/applications/<int:pk>/withdraw/", "POST", act(), _nothing, form=True, names="pk"),
    Row("developers/applications/<int:pk>/domain/", "POST", act(), _nothing, form=True, names="pk"),
    Row("developers/apps/<str:app_id>/domain/", "GET", page(others="404"), names="app_id"),
    Row("logos/<digest>.png", "GET", everybody("200")),
    Row("account/security/", "GET", page()),
    Row("account/security/wrappers/<str:wrapper_id>/remove/", "POST", act(), _nothing, form=True, names="wrapper_id"),
    Row("account/security/wrappers/<str:wrapper_id>/restore/", "POST", act(), _nothing, form=True, names="wrapper_id"),
    # --- the developer portal; person A owns app A
    Row("developers/", "GET", page()),
    Row("developers/apps/", "POST", act(others="302"), lambda w: {"name": "Lunch Finder"}, form=True),
    Row("developers/apps/<str:app_id>/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/tokens/", "POST", act(owner="400"), _nothing, form=True, names="app_id"),
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
    Row("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", "POST", act(), _nothing, form=True, names="app_id"),
    Row("developers/apps/<str:app_id>/settings/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/settings/", "POST", act(owner="400"), _nothing, form=True, names="app_id"),
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
    Row("developers/management-tokens/", "POST", act(owner="400", others="400"), _nothing, form=True),
    Row("developers/management-tokens/<str:prefix>/revoke/", "GET", page(others="404")),
    Row("developers/management-tokens/<str:prefix>/revoke/", "POST", act(), _nothing, form=True),
    Row("developers/apps/<str:app_id>/keys/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/webhooks/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/webhooks/", "POST", act(owner="200"), _endpoint, form=True, names="app_id"),
    Row(f"{_ENDPOINT}/", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/log", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/change/", "POST", act(), _endpoint, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/switch/", "POST", act(), lambda w: {"enabled": "no"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/secret/", "POST", act(owner="200"), lambda w: {"overlap": "0"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/test/", "POST", act(), _nothing, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/delete/", "GET", page(others="404"), names="endpoint_pk"),
    Row(f"{_ENDPOINT}/delete/", "POST", act(), _nothing, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/replay/", "POST", act(), lambda w: {"hours": "24"}, form=True, names="endpoint_pk"),
    Row(f"{_ENDPOINT}/deliveries/<int:delivery_pk>/replay/", "POST", act(), _nothing, form=True, names="delivery_pk"),
    Row("developers/apps/<str:app_id>/log/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/log/latest", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/limits/", "GET", page(others="404"), names="app_id"),
    Row("developers/apps/<str:app_id>/members/", "GET", page(others="404"), names="app_id"),
    Row(
        f"{_TEAM}/invite/",
        "POST",
        act(),
        lambda w: {"email": "a@b.example", "role": "member"},
        form=True,
        names="app_id",
    ),
    Row(f"{_TEAM}/leave/", "POST", act(owner="409"), _nothing, form=True, names="app_id"),
    Row(f"{_TEAM}/tests/", "POST", act(owner="400"), lambda w: {"agreed": "yes"}, form=True, names="app_id"),
    Row(
        f"{_TEAM}/<str:user_id>/role/",
        "POST",
        act(owner="409"),
        lambda w: {"role": "member"},
        form=True,
        names="app_id",
    ),
    Row(f"{_TEAM}/<str:user_id>/transfer/", "POST", act(owner="400"), _nothing, form=True, names="app_id"),
    Row(f"{_TEAM}/<str:user_id>/remove/", "POST", act(owner="409"), _nothing, form=True, names="app_id"),
    Row(f"{_INVITATION}/send/", "POST", act(), _nothing, form=True, names="app_id"),
    Row(f"{_INVITATION}/withdraw/", "POST", act(), _nothing, form=True, names="app_id"),
    Row("developers/invitations/<str:secret>/", "GET", everybody("200")),
    Row("developers/invitations/<str:secret>/", "POST", act(others="403"), _with_confirmed_address, form=True),
    # --- profile agents
    Row("api/a2a/consents", "GET", own(others="200")),
    Row(
        "api/a2a/consents", "POST", own(owner="201", others="201"), lambda w: {"purposes": ["profile"], "agreed": True}
    ),
    Row("api/a2a/consents/<str:consent_id>", "DELETE", own(owner="204"), names="consent_id"),
    Row("api/a2a/analyses", "GET", own(others="200")),
    Row("api/a2a/analyses/<str:analysis_id>", "GET", own(), names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>", "DELETE", own(owner="204"), names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>/cancel", "POST", own(), _nothing, names="analysis_id"),
    Row("api/a2a/analyses/<str:analysis_id>/raw", "GET", own(), names="analysis_id"),
    Row(
        "api/a2a/analyses/<str:analysis_id>/steps/<str:agent>/retry",
        "POST",
        own(owner="409"),
        _nothing,
        names="analysis_id",
    ),
    Row(
        "api/a2a/messaging",
        "POST",
        agent(owner="503"),
        lambda w: {"to": "+4915112345678", "text": "Hello"},
    ),
    Row("api/a2a/messaging/reports", "POST", everybody("401"), _nothing),
    Row("api/a2a/messages", "GET", own(others="200")),
    Row("api/a2a/numbers", "GET", own(others="200")),
    Row("api/a2a/numbers/codes", "POST", own(owner="400", others="400"), _nothing),
    Row("api/a2a/numbers/<int:number_pk>", "DELETE", own(owner="204"), names="number_pk"),
    Row("api/a2a/financial/links", "POST", own(owner="201", others="403"), _nothing),
    Row("api/a2a/financial/items", "GET", own(others="403")),
    Row("api/a2a/financial/items/<str:item_id>", "DELETE", own(owner="204"), names="item_id"),
    Row(
        "api/a2a/financial/items/<str:item_id>/refreshes",
        "POST",
        own(owner="202", others="403"),
        _nothing,
        names="item_id",
    ),
    Row(
        "api/a2a/financial/items/<str:item_id>/identity",
        "POST",
        own(owner="409", others="403"),
        _nothing,
        names="item_id",
    ),
    Row("api/a2a/financial/signals", "GET", own(others="403")),
    Row("api/a2a/<path:agent>", "POST", agent(owner="503"), lambda w: {"text": "Who am I?"}),
    Row("profile/", "GET", page()),
    Row("profile/consent/", "GET", page(), query=lambda w: "purposes=profile"),
    Row("profile/consent/given/", "GET", page()),
    Row("profile/consent/<str:consent_id>/withdraw/", "POST", act(), _nothing, form=True, names="consent_id"),
    Row("profile/numbers/", "GET", page()),
    Row("profile/numbers/<int:number_pk>/code/", "GET", page(owner="302", others="302"), names="number_pk"),
    Row("profile/numbers/<int:number_pk>/forget/", "POST", act(), _nothing, form=True, names="number_pk"),
    Row("profile/financial/", "GET", page()),
    Row("profile/financial/link/", "POST", act(others="302"), _nothing, form=True),
    Row("profile/financial/linked/", "GET", page(owner="404", others="302")),
    Row("profile/financial/links/<str:link_id>/", "GET", page(others="404"), names="link_id"),
    Row("profile/financial/<str:item_id>/refresh/", "POST", act(others="302"), _nothing, form=True, names="item_id"),
    Row("profile/financial/<str:item_id>/remove/", "POST", act(others="302"), _nothing, form=True, names="item_id"),
    Row("profile/<analysis_id>/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/raw/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/cancel/", "POST", act(), _nothing, form=True, names="analysis_id"),
    Row("profile/<analysis_id>/retry/<agent>/", "POST", act(), _nothing, form=True, names="analysis_id"),
    Row("profile/<analysis_id>/delete/", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/delete/", "POST", act(), _nothing, form=True, names="analysis_id"),
    Row("profile/<analysis_id>/brand-affinity.<form>", "GET", page(others="404"), names="analysis_id"),
    Row("profile/<analysis_id>/activate/", "POST", act(), _nothing, form=True, names="analysis_id"),
    # --- signing in and up; allauth's own pages
    Row("accounts/login/", "GET", signed_out_only()),
    Row("accounts/signup/", "GET", signed_out_only()),
    Row("accounts/logout/", "GET", page(strangers="302")),
    Row("account/waiting/leave/", "POST", everybody("302"), _nothing, form=True),
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
    Row("accounts/2fa/webauthn/reauthenticate/", "POST", page("302 confirm", "302 confirm"), _nothing, form=True),
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
