"""Every address of the service once: what is sent there, and what each caller is answered.

`tests/access` compares this register with the URL configuration and calls every address as every caller; the pages are
what `./run shots` and axe look at. A new address enters here, and nowhere else.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from tests.pkm.old_data import finish, progress

if TYPE_CHECKING:
    from tests.access.world import World


class Caller(Enum):
    """Who calls. Person A keeps what is named, and app A asked for it; B are others."""

    ANONYMOUS = "nobody"
    OWNER = "person A"
    STRANGER = "person B"
    APP = "app A"
    OTHER_APP = "app B"
    SUSPENDED = "suspended app"
    REVOKED = "revoked token"
    DISCOVER = "`discover` alone"
    REQUEST = "`request` alone"
    READ = "`read` alone"
    TEST_APP = "test app A"
    OTHER_TEST_APP = "test app B"
    MANAGER = "A's management token"
    MANAGER_READ = "the same, `read` alone"
    OTHER_MANAGER = "B's management token"
    STAFF = "staff"
    STAFF_2FA = "staff, second factor"


PEOPLE = (Caller.OWNER, Caller.STRANGER, Caller.STAFF, Caller.STAFF_2FA)
TOKENS = (
    Caller.APP, Caller.OTHER_APP, Caller.SUSPENDED, Caller.REVOKED, Caller.DISCOVER, Caller.REQUEST, Caller.READ,
    Caller.TEST_APP, Caller.OTHER_TEST_APP,
    Caller.MANAGER, Caller.MANAGER_READ, Caller.OTHER_MANAGER,
)  # fmt: skip

Answers = dict[Caller, str]
Body = dict[str, Any] | Callable[["World"], dict[str, Any]]
_PROGRAMS = re.compile(r"(api/(?!docs/)|mcp|oauth/(?!authorize/)|\.well-known/|log/|livez|readyz)")
_PAGE_OR_FILE = re.compile(r"^$|/$|\.(svg|png|js|webmanifest|<form>)$|^docs/|^admin/|/webhooks/[^/]*/log$|/log/latest$")
_ALIKE = re.compile(r"admin/(?!pkm/domain/)\w+/\w+/(add/|<path:object_id>/(history|delete)/)$")
_FILE = re.compile(r"jsi18n/$|\.(svg|png|js|webmanifest|<form>)$|/(file|download|linked-data|photo)/$|/(log|latest)$")


@dataclass(frozen=True)
class Address:
    """A route and a method. `{name}` in the body or query is filled in with what the world has of that name."""

    route: str
    method: str
    answers: Answers
    body: Body | None = None
    query: str = ""

    @property
    def name(self) -> str:
        return f"{self.method} /{self.route}"

    @property
    def room(self) -> str:
        return self.route.partition("/")[0]

    @property
    def speaks_json(self) -> bool:
        """For programs and scripts; every other address is a page, a page's form or a file."""
        return bool(_PROGRAMS.match(self.route)) or not _PAGE_OR_FILE.search(self.route)

    @property
    def seen_by(self) -> Caller | None:
        """To whom this page is shown; None where it is no page, or shown to nobody in the world of tests/access."""
        if self.method != "GET" or self.speaks_json or _FILE.search(self.route):
            return None
        readers = (Caller.ANONYMOUS, Caller.OWNER, Caller.STAFF_2FA)
        return next((caller for caller in readers if self.answers[caller] == "200"), None)

    @property
    def is_form(self) -> bool:
        return self.body is not None and not self.speaks_json


_SAMPLES = {
    "agent": "core", "analysis_id": "ana_aaaaaaaaaaaa", "app_label": "consent", "digest": "0" * 64, "form": "json",
    "key": "unknown", "level": "0", "place": "000.p/1",
}  # fmt: skip


def path_of(route: str, parts: Mapping[str, str] = _SAMPLES) -> str:
    """The route with what it names filled in; without `parts`, by names that the pattern takes and nothing has."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: parts.get(match[1], "1"), route)


def everybody(status: str) -> Answers:
    return dict.fromkeys(Caller, status)


def _people(owner: str, others: str, strangers: str, **named: str) -> Answers:
    """A token opens nothing here: its holder is answered what a stranger is."""
    people = {**dict.fromkeys(PEOPLE, others), Caller.OWNER: owner}
    return {**dict.fromkeys(Caller, strangers), **people, **_named(named)}


def page(owner: str = "200", others: str = "200", strangers: str = "302 sign-in", **named: str) -> Answers:
    """A page of the consent app; its session alone opens it."""
    return _people(owner, others, strangers, **named)


def act(owner: str = "302", others: str = "404", strangers: str = "302 sign-in", **named: str) -> Answers:
    """What a form on a page does. Another person's thing is not there; whoever is signed out signs in first."""
    return _people(owner, others, strangers, **named)


def own(owner: str = "200", others: str = "404", strangers: str = "401") -> Answers:
    """An owner address in JSON."""
    return _people(owner, others, strangers)


def agent(owner: str, others: str = "403", strangers: str = "403") -> Answers:
    """An agent's address: a consent to the purpose decides; a developer token means nothing there."""
    return _people(owner, others, strangers)


def program(*needs: str, app: str = "200", other: str = "404", test: str | None = None) -> Answers:
    """A developers' address: the token decides, then the permission. No session opens it."""
    answers = dict.fromkeys(Caller, "401")
    answers.update({Caller.APP: app, Caller.OTHER_APP: other, Caller.SUSPENDED: "403"})
    answers.update(dict.fromkeys((Caller.TEST_APP, Caller.OTHER_TEST_APP), other if test is None else test))
    for permission in (Caller.DISCOVER, Caller.REQUEST, Caller.READ):
        answers[permission] = app if permission.name.lower() in needs else "403"
    return answers


def sandbox(app: str = "200", other: str = "404") -> Answers:
    """A sandbox person's address, or that of all of them: the token of a test app opens it, of a live one never."""
    live = (Caller.APP, Caller.OTHER_APP, Caller.SUSPENDED, Caller.DISCOVER, Caller.REQUEST, Caller.READ)
    opened = {Caller.TEST_APP: app, Caller.OTHER_TEST_APP: other}
    return {**dict.fromkeys(Caller, "401"), **dict.fromkeys(live, "403"), **opened}


def manage(owner: str = "200", others: str = "404", *, reads: bool = False) -> Answers:
    """A management address: the personal token decides, then its permission, then what its person is to the app."""
    reader = owner if reads else "403"
    opened = {Caller.MANAGER: owner, Caller.MANAGER_READ: reader, Caller.OTHER_MANAGER: others}
    return {**dict.fromkeys(Caller, "401"), **opened}


def staff(answer: str, **others: str) -> Answers:
    """The admin: the second factor decides. Everybody else is led to its sign-in, which says what is missing."""
    return {**dict.fromkeys(Caller, "302 sign-in"), Caller.STAFF_2FA: answer, **_named(others)}


def signed_out_only(status: str = "200", **others: str) -> Answers:
    """The pages of signing in and up: whoever is signed in goes on."""
    return {**dict.fromkeys(Caller, status), **dict.fromkeys(PEOPLE, "302"), **_named(others)}


def confirmed(answer: str) -> Answers:
    """A step of the account that wants a sign-in just now, which only staff's second factor shows here."""
    return {**page("302 confirm", "302 confirm"), Caller.STAFF_2FA: answer}


def _named(answers: dict[str, str]) -> Answers:
    return {Caller[name.upper()]: answer for name, answer in answers.items()}


def _played(before: str, answers: Callable[..., Answers]) -> list[Address]:
    """The addresses at which a sandbox person is played, by a program and by a member of the app alike."""

    def address(rest: str, method: str, body: Body | None = None, *answered: str, query: str = "") -> Address:
        return Address(f"{before}/{rest}", method, answers(*answered), body, query)

    return [  # a body is looked at before whom it is about
        address("keys", "GET"),
        address("keys", "POST", {}, "400", "400"),
        address("wrappers", "POST", {}, "400", "400"),
        address("wrappers/<str:wrapper_id>", "DELETE", None, "409"),
        address("segments", "GET"),
        address("segments/<str:domain>/<str:segment_id>", "PUT", lambda w: w.sandbox_segment()),
        address("segments/<str:domain>/<str:segment_id>", "DELETE", query="base_content_revision=1"),
        address("requests/<str:request_id>/data", "GET"),
        address("requests/<str:request_id>/decision", "POST", lambda w: w.sandbox_approval()),
        address("grants/<str:grant_id>/revoke", "POST", {}),
        address("grants/<str:grant_id>/pause", "POST", {}),
        address("grants/<str:grant_id>/resume", "POST", {}, "400"),
        address("grants/<str:grant_id>/nonce", "GET"),
        address("grants/<str:grant_id>/approval", "GET"),
        address("signing-key", "PUT", {}, "400", "400"),
        address("grants/<str:grant_id>/export", "PUT", lambda w: w.sandbox_refreshed(), "400"),
        address("clock", "POST", {"seconds": 60}),
    ]


def _ask(world: "World") -> dict[str, Any]:
    return world.body_to_ask()


_LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ALERTS = {
    "requests": "mail", "endings": "both", "reads": "none", "updates": "push", "security": "both", "phrase": "A heron",
    "quiet_from": "22:00", "quiet_to": "07:00", "gathered_at": "", "zone": "Europe/Berlin", "weekly": "on",
}  # fmt: skip
# of a browser that nobody has: its keys are those of RFC 8291, appendix A
BROWSER = {
    "endpoint": "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
    "public_key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
_ENDPOINT_FORM = {"url": "https://trips.example/new", "type-consent.denied": "on"}
_DESTINATION_FORM = {"name": "Mail", "url": "https://trips.example/mail"}
_ENDPOINT = "developers/apps/<str:app_id>/webhooks/<int:endpoint_pk>"
_DESTINATIONS = "developers/apps/<str:app_id>/destinations"
_DESTINATION = f"{_DESTINATIONS}/<str:destination_id>"
_TEAM = "developers/apps/<str:app_id>/members"
_INVITATION = "developers/apps/<str:app_id>/invitations/<int:invitation_pk>"
_MANAGED = "api/v1/manage/apps/<str:app_id>/webhooks"
_MANAGED_DESTINATIONS = "api/v1/manage/apps/<str:app_id>/destinations"
_MANAGED_DESTINATION = f"{_MANAGED_DESTINATIONS}/<str:destination_id>"

RECORDS = (
    "accounts/user", "pkm/domain", "pkm/scopeentry", "pkm/legacyblob", "pkm/legacymetadata", "pkm/migrationstate",
    "developers/developerapplication", "developers/app", "developers/developertoken", "consent/scopetemplate",
    "developers/webhookendpoint", "agents_proxy/destination", "agents_proxy/activation", "consent/webhookdelivery",
    "consent/consentrequest", "consent/grant", "consent/export", "consent/read", "consent/auditentry",
    "consent/auditcheckpoint", "consent/receipt", "consent/notice", "consent/discovery", "consent/directoryfind",
    "consent/appreport", "consent/scopewithdrawal", "consent/sandboxperson", "developers/appauditentry",
    "developers/appinvitation", "developers/managementtoken", "developers/loggedrequest",
    "agents_proxy/messagetemplate", "agents_proxy/outboundmessage", "agents_proxy/processingconsent",
    "agents_proxy/deletion", "agents_proxy/call", "agents_proxy/run", "agents_proxy/item", "agents_proxy/refreshrun",
    "agents_proxy/linksession", "auth/group",
)  # fmt: skip
_MADE_BY_STAFF = {
    "pkm/domain", "pkm/scopeentry", "developers/developertoken", "consent/scopetemplate", "developers/webhookendpoint",
    "agents_proxy/messagetemplate", "auth/group",
}  # fmt: skip


def _record(record: str) -> list[Address]:
    """The admin's addresses for one kind of record, of which the world has at least one."""
    one = f"admin/{record}/<path:object_id>/"
    return [
        Address(f"admin/{record}/", "GET", staff("200")),
        Address(f"admin/{record}/add/", "GET", staff("200" if record in _MADE_BY_STAFF else "403")),
        Address(f"{one}history/", "GET", staff("200")),
        Address(f"{one}delete/", "GET", staff("200" if record == "auth/group" else "403")),
        Address(f"{one}change/", "GET", staff("200")),
        Address(one, "GET", staff("302")),
    ]


_HOST_ASKS = (
    "response_type=code&client_id={client_id}&code_challenge=" + "c" * 43 + "&code_challenge_method=S256"
    "&resource={mcp_url}"
)
ADDRESSES: list[Address] = [
    Address("livez", "GET", everybody("200")),
    Address("readyz", "GET", everybody("200")),
    Address("status/", "GET", everybody("200")),
    Address("language/", "POST", everybody("302"), {"language": "en"}),
    Address("", "GET", page(owner="302", others="302", strangers="200")),
    Address("jsi18n/", "GET", everybody("200")),
    Address("manifest.webmanifest", "GET", everybody("200")),
    Address("service-worker.js", "GET", everybody("200")),
    Address("offline/", "GET", everybody("200")),
    # --- documents
    Address("api/schema/", "GET", everybody("200")),
    Address("api/docs/", "GET", everybody("200")),
    Address("docs/errors", "GET", everybody("200")),
    Address("docs/security/", "GET", everybody("200")),
    Address("docs/", "GET", everybody("200")),
    *(Address(f"{name}/", "GET", everybody("200")) for name in ("help", "about", "privacy", "terms", "contact")),
    Address("docs/<str:document>/", "GET", everybody("200")),
    Address(".well-known/consent-keys.json", "GET", everybody("200")),
    Address(".well-known/consent-assertion-keys.json", "GET", everybody("200")),
    Address(".well-known/consent-checkpoint.json", "GET", everybody("200")),
    Address(".well-known/consent-release.json", "GET", everybody("404")),
    Address(".well-known/oauth-authorization-server", "GET", everybody("200")),
    Address(".well-known/oauth-protected-resource", "GET", everybody("200")),
    Address(".well-known/oauth-protected-resource/mcp", "GET", everybody("200")),
    Address(".well-known/oauth-protected-resource/api/v1", "GET", everybody("200")),
    Address("oauth/register", "POST", everybody("201"), {"redirect_uris": ["https://host.example/callback"]}),
    Address("oauth/token", "POST", everybody("415"), {}),
    Address("oauth/revoke", "POST", everybody("415"), {}),
    Address("oauth/authorize/", "GET", page(), query=_HOST_ASKS),
    Address("oauth/authorize/", "POST", page("303", "303"), {"answer": "no"}, query=_HOST_ASKS),
    Address("consent/hosts/<str:prefix>/stop/", "POST", act(others="302"), {}),
    Address("log/checkpoint", "GET", everybody("200")),
    Address("log/key", "GET", everybody("200")),
    Address("log/tile/entries/<path:place>", "GET", everybody("404")),
    Address("log/tile/<str:level>/<path:place>", "GET", everybody("404")),
    Address("log/proof/<str:entry_hash>", "GET", everybody("202")),
    Address("log/consistency", "GET", everybody("400")),
    Address("log/witnesses", "GET", everybody("200")),
    # --- developers' REST
    Address("api/v1/user-scopes/<str:user_id>", "GET", program("discover", test="404")),
    Address("api/v1/scope-catalog", "GET", program("discover", other="200")),
    Address("api/v1/people", "GET", program("discover", other="200")),
    Address("api/v1/connections", "POST", program("discover", "request", app="201", other="201"), {}),
    Address("api/v1/connections/<str:id>", "GET", program("discover", "request")),
    Address("api/v1/connections/<str:id>", "DELETE", program("request", app="404")),
    Address(
        "api/v1/connections/<str:id>/complete",
        "POST",
        program("discover", "request", app="403"),
        {"connection_code": "cc_unknown"},
    ),
    Address(
        "api/v1/request-consent",
        "POST",
        program("request", app="201", test="404"),
        lambda w: w.body_to_ask(),
    ),
    Address("api/v1/consent-status", "GET", program("request", "read"), query="request_id={request_id}"),
    Address("api/v1/end-consent", "POST", program("request"), {"request_id": "{request_id}"}),
    Address("api/v1/consent-requests", "GET", program("request", "read", other="200")),
    Address("api/v1/consent-events", "GET", program("request", "read", other="200")),
    Address("api/v1/consent-export", "GET", program("read"), query="request_id={read_id}"),
    Address("api/v1/receipts/<str:receipt_id>", "GET", program("read")),
    Address("mcp", "POST", program("discover", "request", "read", other="200"), _LIST_TOOLS),
    Address("mcp/", "POST", program("discover", "request", "read", other="200"), _LIST_TOOLS),
    # --- the consent app
    Address("consent/", "GET", page()),
    Address("consent/inbox/", "GET", page()),
    Address("consent/pause/", "GET", page()),
    Address("consent/pause/", "POST", act(others="302"), {}),
    Address("consent/inbox/deny/", "GET", page(others="302"), query="request={request_id}"),
    Address("consent/inbox/deny/", "POST", act(others="302"), {}),
    Address("consent/inbox/news", "GET", own(others="200")),
    Address("consent/requests/<str:request_id>/", "GET", page(others="404")),
    Address("consent/requests/<str:request_id>/deny/", "POST", act(), {}),
    Address("consent/requests/<str:request_id>/return/", "GET", page(owner="404", others="404")),
    Address("connect/", "GET", page()),
    Address("connect/", "POST", page(owner="400", others="400"), {"code": "CCCCCCCC"}),
    Address("connect/<str:connection_id>/", "GET", page(strangers="200")),
    Address("connect/<str:connection_id>/", "POST", act(others="302"), {"decision": "decline"}),
    Address("consent/requests/<str:request_id>/data", "GET", own()),
    Address("consent/requests/<str:request_id>/decision", "POST", own(), lambda w: w.approval()),
    Address("consent/alerts/", "GET", page()),
    Address("consent/alerts/", "POST", act(others="302"), ALERTS),
    Address("consent/alerts/devices/stop/", "POST", act(others="302"), {}),
    Address("consent/grants/", "GET", page(owner="302", others="302")),
    Address("consent/grants/<str:grant_id>/stop/", "POST", act(), {}),
    Address("consent/grants/<str:grant_id>/pause/", "POST", act(), {}),
    Address("consent/grants/<str:grant_id>/keep/", "POST", act(), {"kept": "no"}),
    Address("consent/grants/<str:grant_id>/keep-unused/", "POST", act(), {}),
    Address("consent/apps/", "GET", page()),
    Address("consent/apps/unused/", "POST", act(others="302"), {"days": "30"}),
    Address("consent/grants/outdated", "GET", own(others="200")),
    Address("consent/grants/<str:grant_id>/revoke", "POST", own(), {}),
    Address("consent/grants/<str:grant_id>/pause", "POST", own(), {}),
    Address("consent/grants/<str:grant_id>/resume", "POST", own(owner="400"), {}),
    Address("consent/grants/<str:grant_id>/nonce", "GET", own()),
    Address("consent/grants/<str:grant_id>/approval", "GET", own()),
    Address("consent/approval-keys", "GET", own(others="200")),
    Address("consent/grants/<str:grant_id>/export", "PUT", own(owner="400"), lambda w: w.refreshed()),
    Address("consent/apps/<str:app_id>/", "GET", page(others="404")),
    Address("consent/apps/<str:app_id>/pause/", "POST", act(), {}),
    Address("consent/apps/<str:app_id>/block/", "POST", act(), {}),
    Address("consent/apps/<str:app_id>/stop/", "POST", act(), {}),
    Address("consent/apps/<str:app_id>/disconnect/", "POST", act(), {}),
    Address("consent/apps/<str:app_id>/unblock/", "POST", act(), {}),
    Address("consent/apps/<str:app_id>/report/", "POST", act(), {"text": "It asks too much"}),
    Address("consent/history/", "GET", page()),
    Address("consent/history/verify/", "POST", act(others="302"), {}),
    Address("consent/history/file/", "GET", page(), query="format=json"),
    Address("consent/history/chain", "GET", own(others="200")),
    Address("consent/receipts/<str:receipt_id>/", "GET", page(others="404")),
    Address("consent/receipts/<str:receipt_id>/download/", "GET", page(others="404")),
    Address("consent/receipts/<str:receipt_id>/linked-data/", "GET", page(others="404")),
    Address("consent/verify/", "GET", everybody("200")),
    # --- the vault
    Address("vault/", "GET", page()),
    Address("vault/data/<str:domain>/", "GET", page()),
    Address("vault/discovery/", "POST", act(others="302"), {"scope": "{scope}", "hide": "1"}),
    Address("vault/changes/", "GET", page()),
    Address("vault/transfer/", "GET", page()),
    Address("vault/import/", "GET", page(), query="analysis={analysis_id}"),
    Address("vault/setup/", "GET", page(owner="302", others="302")),
    Address("vault/setup/first/", "GET", page()),
    Address("vault/setup/preview/", "GET", page()),
    Address("vault/setup/done/", "GET", page(owner="302", others="302")),
    Address("vault/setup/done/", "POST", act(others="302"), {}),
    Address("vault/sharing-id/", "POST", act(others="302"), {"then": "make"}),
    Address("vault/sharing-id.svg", "GET", page(others="404")),
    Address("vault/keys", "GET", own(others="200")),
    Address("vault/keys", "POST", own(owner="400", others="400"), {}),
    Address("vault/signing-key", "PUT", own(owner="400", others="400"), {}),
    Address("vault/notes", "GET", own(others="200")),
    Address("vault/notes", "PUT", own(owner="400", others="400"), {}),
    Address("vault/wrappers", "POST", own(owner="400", others="400"), {}),
    Address("vault/wrappers/<str:wrapper_id>", "DELETE", own(owner="409")),
    Address("vault/wrappers/<str:wrapper_id>/restore", "POST", own(owner="200"), {}),
    Address("vault/unlocked", "POST", own(owner="204"), {"wrapper_id": "{wrapper_id}"}),
    Address("vault/segments", "GET", own(others="200")),
    Address("vault/segments/<str:domain>/<str:segment_id>", "PUT", own(others="400"), lambda w: w.segment()),
    Address(
        "vault/segments/<str:domain>/<str:segment_id>", "DELETE", own(others="200"), query="base_content_revision=1"
    ),
    Address("vault/hidden-scopes/<str:scope>", "PUT", own(owner="204", others="204")),
    Address("vault/hidden-scopes/<str:scope>", "DELETE", own(owner="204", others="204")),
    Address("vault/reset", "POST", own(others="200")),
    Address("vault/reset", "DELETE", own(owner="204", others="204")),
    Address("vault/rotation", "GET", own(owner="404")),
    Address("vault/rotation", "POST", own(owner="400", others="400"), {}),
    Address("vault/rotation", "DELETE", own(owner="404")),
    Address("vault/rotation/notes", "PUT", own(owner="400", others="400"), {}),
    Address("vault/rotation/finish", "POST", own(owner="404"), {}),
    Address("vault/rotation/segments/<str:domain>/<str:segment_id>", "GET", own(owner="404")),
    Address("vault/rotation/segments/<str:domain>/<str:segment_id>", "PUT", own(owner="404"), lambda w: w.resealed()),
    Address("vault/legacy", "GET", own(others="200")),
    Address("vault/legacy/progress", "PUT", own(), progress()),
    Address("vault/legacy/<str:domain>/finish", "POST", own(), finish()),
    Address("account/security/", "GET", page()),
    Address("account/security/recover/", "GET", page()),
    Address("account/security/key/", "GET", page()),
    Address("account/security/reset/", "GET", page()),
    Address("account/security/reset/", "POST", act(owner="400", others="400"), {}),
    Address("account/security/reset/keep/", "POST", act(others="302"), {}),
    Address("account/security/wrappers/<str:wrapper_id>/remove/", "GET", page(others="404")),
    Address("account/security/wrappers/<str:wrapper_id>/remove/", "POST", act(), {}),
    Address("account/security/wrappers/<str:wrapper_id>/restore/", "POST", act(), {}),
    # --- leaving
    Address("account/delete/", "GET", page()),
    Address("account/delete/", "POST", act(owner="400", others="400"), {"address": "nobody@example.org"}),
    Address("account/delete/keep/", "POST", act(others="302"), {}),
    Address("account/delete/undo/", "GET", everybody("200")),
    Address("account/delete/undo/", "POST", everybody("404"), {}),
    # --- their own name and photo
    Address("account/settings/", "GET", page()),
    Address("account/name/", "GET", page(owner="302", others="302")),
    Address("account/name/", "POST", act(others="302"), {"display_name": "Zoe"}),
    Address("account/name/photo/", "GET", page(owner="404", others="404")),
    Address("account/name/photo/remove/", "POST", act(others="302"), {}),
    # --- the public profile
    Address("account/push", "PUT", own(others="200"), BROWSER),
    Address("account/push", "DELETE", own(others="200"), {"endpoint": BROWSER["endpoint"]}),
    Address("account/public-profile/", "GET", page()),
    Address(
        "account/public-profile/",
        "POST",
        act(others="302"),
        {"handle": "a-new-handle", "display_name": "", "headline": "", "location_hint": ""},
    ),
    Address("account/public-profile/preview/", "GET", page(others="302")),
    Address("account/public-profile/switch/", "POST", act(others="302"), {"shown": "no"}),
    Address("account/public-profile/directory/", "POST", act(others="302"), {"listed": "yes"}),
    Address("account/public-profile/remove/", "POST", act(others="302"), {}),
    Address("people/<str:handle>/", "GET", everybody("200")),
    # --- profile agents
    Address("api/a2a/consents", "GET", own(others="200")),
    Address("api/a2a/consents", "POST", own(owner="201", others="201"), {"purposes": ["profile"], "agreed": True}),
    Address("api/a2a/consents/<str:consent_id>", "DELETE", own(owner="204")),
    Address("api/a2a/consents/<str:consent_id>/renew", "POST", own(owner="200")),
    Address("api/a2a/subject", "GET", own(others="200")),
    Address("api/a2a/analyses", "GET", own(others="200")),
    Address("api/a2a/analyses", "POST", own(owner="400", others="400"), {}),
    Address("api/a2a/analyses/<str:analysis_id>", "GET", own()),
    Address("api/a2a/analyses/<str:analysis_id>/corrections", "PUT", own(), {"age": 41}),
    Address("api/a2a/analyses/<str:analysis_id>", "DELETE", own(owner="204")),
    Address("api/a2a/analyses/<str:analysis_id>/cancel", "POST", own(), {}),
    Address("api/a2a/analyses/<str:analysis_id>/raw", "GET", own()),
    Address("api/a2a/analyses/<str:analysis_id>/steps/<str:agent>/answer", "POST", own(owner="409"), {"text": "yes"}),
    Address("api/a2a/analyses/<str:analysis_id>/steps/<str:agent>/retry", "POST", own(owner="409"), {}),
    Address("api/a2a/analyses/<str:analysis_id>/activations", "GET", own()),
    Address(
        "api/a2a/analyses/<str:analysis_id>/activations",
        "POST",
        own(owner="403"),
        {"destinationId": "{destination_id}"},
    ),
    Address("api/a2a/analyses/<str:analysis_id>/activations/<str:activation_id>", "GET", own()),
    Address("api/a2a/destinations", "GET", own(others="200")),
    Address("api/a2a/messaging", "POST", agent(owner="503"), {"to": "+4915112345678", "text": "Hello"}),
    Address("api/a2a/messaging/reports", "POST", everybody("401"), {}),
    Address("api/a2a/messaging/inbound", "POST", everybody("401"), {}),
    Address("api/a2a/messages", "GET", own(others="200")),
    Address("api/a2a/numbers", "GET", own(others="200")),
    Address("api/a2a/numbers", "POST", own(owner="400", others="400"), {}),
    Address("api/a2a/numbers/codes", "POST", own(owner="400", others="400"), {}),
    Address("api/a2a/numbers/<int:number_pk>", "DELETE", own(owner="204")),
    Address("api/a2a/financial/links", "POST", own(owner="201", others="403"), {}),
    Address("api/a2a/financial/items", "GET", own(others="403")),
    Address("api/a2a/financial/items/<str:item_id>", "GET", own(others="403")),
    Address("api/a2a/financial/items/<str:item_id>", "DELETE", own(owner="204")),
    Address("api/a2a/financial/items/<str:item_id>/links", "POST", own(owner="201", others="403"), {}),
    Address("api/a2a/financial/items/<str:item_id>/refreshes", "POST", own(owner="202", others="403"), {}),
    Address("api/a2a/financial/items/<str:item_id>/identity", "POST", own(others="403"), {}),
    Address("api/a2a/financial/signals", "GET", own(others="403")),
    Address("api/a2a/financial/webhooks", "POST", everybody("401"), {}),
    Address("api/a2a/<path:agent>", "POST", agent(owner="503"), {"text": "Who am I?"}),
    Address("profile/", "GET", page()),
    Address("profile/", "POST", act(owner="400", others="400"), {}),
    Address("profile/consent/", "GET", page(), query="purposes=profile"),
    Address("profile/consent/", "POST", act(others="302"), {"purposes": "profile", "agreed": "yes"}),
    Address("profile/consent/given/", "GET", page()),
    Address("profile/consent/<str:consent_id>/receivers/", "GET", page(others="404")),
    Address("profile/consent/<str:consent_id>/renew/", "GET", page(others="404")),
    Address("profile/consent/<str:consent_id>/renew/", "POST", act(others="404"), {}),
    Address("profile/consent/<str:consent_id>/withdraw/", "POST", act(), {}),
    Address("profile/numbers/", "GET", page()),
    Address("profile/numbers/", "POST", act(owner="200", others="200"), {}),
    Address("profile/numbers/<int:number_pk>/code/", "GET", page(owner="302", others="302")),
    Address("profile/numbers/<int:number_pk>/code/", "POST", act(others="302"), {"code": "000000"}),
    Address("profile/numbers/<int:number_pk>/forget/", "POST", act(), {}),
    Address("profile/financial/", "GET", page()),
    Address("profile/financial/link/", "POST", act(others="302"), {}),
    Address("profile/financial/linked/", "GET", page(owner="404", others="302")),
    Address("profile/financial/links/<str:link_id>/", "GET", page(others="404")),
    Address("profile/financial/<str:item_id>/link/", "POST", act(others="302"), {}),
    Address("profile/financial/<str:item_id>/refresh/", "POST", act(others="302"), {}),
    Address("profile/financial/<str:item_id>/identity/", "POST", act(owner="200", others="302"), {}),
    Address("profile/financial/<str:item_id>/remove/", "GET", page(others="404")),
    Address("profile/financial/<str:item_id>/remove/", "POST", act(others="302"), {}),
    Address("profile/<analysis_id>/", "GET", page(others="404")),
    Address("profile/<analysis_id>/raw/", "GET", page(others="404")),
    Address("profile/<analysis_id>/cancel/", "POST", act(), {}),
    Address("profile/<analysis_id>/retry/<agent>/", "POST", act(), {}),
    Address("profile/<analysis_id>/answer/<agent>/", "POST", act(), {}),
    Address("profile/<analysis_id>/correct/", "POST", act(), {"field": "age", "value": "41", "do": "keep"}),
    Address("profile/<analysis_id>/delete/", "GET", page(others="404")),
    Address("profile/<analysis_id>/delete/", "POST", act(), {}),
    Address("profile/create/", "GET", page()),
    Address("profile/create/", "POST", act(owner="400", others="400"), {}),
    Address("profile/update/", "GET", page()),
    Address("profile/update/", "POST", act(owner="400", others="400"), {}),
    Address("profile/look-up/", "GET", page()),
    Address("profile/look-up/", "POST", act(owner="400", others="400"), {}),
    Address("profile/messages/", "GET", page()),
    Address("profile/messages/", "POST", act(owner="400", others="400"), {}),
    Address("profile/<analysis_id>/brand-affinity/", "GET", page(others="404")),
    Address("profile/<analysis_id>/brand-affinity.<form>", "GET", page(others="404")),
    Address("profile/analyses/<analysis_id>/send/", "GET", page(others="404")),
    Address("profile/analyses/<analysis_id>/send/", "POST", act(), {}),
    # --- signing in and up; allauth's own pages
    Address("accounts/login/", "GET", signed_out_only()),
    Address("accounts/login/", "POST", signed_out_only(), {"login": "nobody@example.org", "password": "wrong"}),
    Address("accounts/signup/", "GET", signed_out_only()),
    Address("accounts/signup/", "POST", signed_out_only(), {}),
    Address("accounts/signup/passkey/", "GET", signed_out_only()),
    Address("accounts/signup/passkey/", "POST", signed_out_only(), {}),
    Address("accounts/signup/passkey/create/", "GET", everybody("302")),
    Address("accounts/signup/passkey/create/", "POST", everybody("302"), {}),
    Address("accounts/logout/", "GET", page(strangers="302")),
    Address("accounts/logout/", "POST", everybody("302"), {}),
    Address("account/waiting/leave/", "POST", everybody("302"), {}),
    Address("accounts/inactive/", "GET", everybody("200")),
    Address("accounts/reauthenticate/", "GET", page(staff_2fa="302 second factor")),
    Address(
        "accounts/reauthenticate/",
        "POST",
        act(owner="200", others="200", staff_2fa="302 second factor"),
        {"password": "wrong"},
    ),
    Address("accounts/email/", "GET", page()),
    Address("accounts/email/", "POST", act(others="302"), {}),
    Address("accounts/confirm-email/", "GET", everybody("200")),
    Address("accounts/confirm-email/<key>/", "GET", everybody("200")),
    Address("accounts/confirm-email/<key>/", "POST", everybody("404"), {}),
    Address("accounts/password/change/", "GET", page()),
    Address("accounts/password/change/", "POST", act(owner="200", others="200"), {}),
    Address("accounts/password/set/", "GET", page(owner="302", others="302")),
    Address("accounts/password/set/", "POST", act(others="302"), {}),
    Address("accounts/password/reset/", "GET", everybody("200")),
    Address("accounts/password/reset/", "POST", everybody("302"), {"email": "nobody@example.org"}),
    Address("accounts/password/reset/done/", "GET", everybody("200")),
    Address("accounts/password/reset/key/<uidb36>-<key>/", "GET", everybody("200")),
    Address("accounts/password/reset/key/<uidb36>-<key>/", "POST", everybody("200"), {}),
    Address("accounts/password/reset/key/done/", "GET", everybody("200")),
    Address("accounts/login/code/confirm/", "GET", page(owner="302", others="302", strangers="302 sign-in")),
    Address("accounts/login/code/confirm/", "POST", act(others="302"), {}),
    Address("accounts/2fa/", "GET", page()),
    Address("accounts/2fa/authenticate/", "GET", page(owner="302", others="302")),
    Address("accounts/2fa/authenticate/", "POST", act(others="302"), {}),
    Address("accounts/2fa/reauthenticate/", "GET", confirmed("200")),
    Address("accounts/2fa/reauthenticate/", "POST", confirmed("200"), {"code": "wrong"}),
    Address("accounts/2fa/totp/activate/", "GET", confirmed("302 second factor")),
    Address("accounts/2fa/totp/activate/", "POST", confirmed("302 second factor"), {}),
    Address("accounts/2fa/totp/deactivate/", "GET", page("404", "404", staff_2fa="200")),
    Address("accounts/2fa/totp/deactivate/", "POST", act(owner="404", staff_2fa="302 second factor"), {}),
    Address("accounts/2fa/recovery-codes/", "GET", page("404", "404")),
    Address("accounts/2fa/recovery-codes/generate/", "GET", confirmed("200")),
    Address("accounts/2fa/recovery-codes/generate/", "POST", confirmed("302 second factor"), {}),
    Address("accounts/2fa/recovery-codes/download/", "GET", page("404", "404")),
    Address("accounts/2fa/webauthn/", "GET", page()),
    Address("accounts/2fa/webauthn/add/", "GET", confirmed("200")),
    Address("accounts/2fa/webauthn/add/", "POST", confirmed("200"), {}),
    Address("accounts/2fa/webauthn/reauthenticate/", "GET", confirmed("302 second factor")),
    Address("accounts/2fa/webauthn/reauthenticate/", "POST", confirmed("302 second factor"), {}),
    Address("accounts/2fa/webauthn/keys/<int:pk>/remove/", "GET", confirmed("404")),
    Address("accounts/2fa/webauthn/keys/<int:pk>/remove/", "POST", confirmed("404"), {}),
    Address("accounts/2fa/webauthn/keys/<int:pk>/edit/", "GET", confirmed("404")),
    Address("accounts/2fa/webauthn/keys/<int:pk>/edit/", "POST", confirmed("404"), {}),
    Address("accounts/2fa/webauthn/login/", "GET", page("302", "302")),
    Address("accounts/2fa/webauthn/login/", "POST", act(others="302"), {}),
    Address("accounts/sessions/", "GET", page()),
    Address("accounts/sessions/", "POST", act(others="302"), {}),
    Address("api/v1/leaked-tokens", "POST", everybody("202"), {"token": "cr_live_nobody"}),
    Address("api/v1/sandbox/events", "POST", sandbox("201", other="201"), {"type": "analysis.completed"}),
    Address("api/v1/sandbox/people", "GET", sandbox(other="200")),
    Address("api/v1/sandbox/people", "POST", sandbox("201", other="201"), {}),
    Address("api/v1/sandbox/people/<str:user_id>", "DELETE", sandbox("204")),
    Address("api/v1/sandbox/people/<str:user_id>/connections", "POST", sandbox("400", "400"), {}),
    *_played("api/v1/sandbox/people/<str:user_id>", sandbox),
    *_played("developers/apps/<str:app_id>/sandbox/people/<str:user_id>", own),
    Address("developers/apps/<str:app_id>/sandbox/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/sandbox/new/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/sandbox/<str:user_id>/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/sandbox/<str:user_id>/clock/", "POST", act(), {"seconds": "3600"}),
    Address("developers/apps/<str:app_id>/sandbox/<str:user_id>/delete/", "POST", act(), {}),
    # --- management by programs
    Address("api/v1/manage/apps", "GET", manage(others="200", reads=True)),
    Address(_MANAGED, "GET", manage(reads=True)),
    Address(_MANAGED, "POST", manage("201"), {"url": "https://trips.example/new"}),
    Address(f"{_MANAGED}/<str:endpoint_id>", "PATCH", manage(), {"enabled": False}),
    Address(f"{_MANAGED}/<str:endpoint_id>", "DELETE", manage("204")),
    Address(f"{_MANAGED}/<str:endpoint_id>/test", "POST", manage(), {}),
    Address(f"{_MANAGED}/<str:endpoint_id>/rotate-secret", "POST", manage(), {}),
    Address(f"{_MANAGED}/<str:endpoint_id>/deliveries", "GET", manage(reads=True)),
    Address(_MANAGED_DESTINATIONS, "GET", manage(reads=True)),
    Address(_MANAGED_DESTINATIONS, "POST", manage("201"), _DESTINATION_FORM),
    Address(_MANAGED_DESTINATION, "PATCH", manage(), {"enabled": False}),
    Address(_MANAGED_DESTINATION, "DELETE", manage("204")),
    Address(f"{_MANAGED_DESTINATIONS}/<str:destination_id>/rotate-secret", "POST", manage(), {}),
    Address("api/v1/manage/deliveries/<str:delivery_id>/replay", "POST", manage(), {}),
    Address("api/v1/manage/apps/<str:app_id>/log", "GET", manage(reads=True)),
    Address("api/v1/manage/apps", "POST", manage("201", others="201"), {"name": "Lunch Finder"}),
    Address("api/v1/manage/apps/<str:app_id>", "GET", manage(reads=True)),
    Address("api/v1/manage/apps/<str:app_id>", "PATCH", manage("400"), {"name": "Lunch Finder"}),
    Address("api/v1/manage/apps/<str:app_id>/tokens", "GET", manage(reads=True)),
    Address("api/v1/manage/apps/<str:app_id>/tokens", "POST", manage("201"), {"label": "CI"}),
    Address("api/v1/manage/tokens/<str:prefix>/rotate", "POST", manage("201"), {"overlap": 60}),
    Address("api/v1/manage/tokens/<str:prefix>/revoke", "POST", manage(), {}),
    Address("api/v1/manage/apps/<str:app_id>/members", "GET", manage(reads=True)),
    Address("api/v1/manage/apps/<str:app_id>/members", "POST", manage("201"), {"email": "newcomer@example.org"}),
    Address("api/v1/manage/apps/<str:app_id>/members/<str:member_id>", "DELETE", manage("409")),
    # --- the developer portal
    Address("developers/applications/new/", "GET", page()),
    Address("developers/applications/new/", "POST", act(owner="400", others="400"), {}),
    Address("developers/applications/<int:pk>/", "GET", page(others="404")),
    Address("developers/applications/<int:pk>/", "POST", act(owner="400"), {}),
    Address("developers/applications/<int:pk>/withdraw/", "POST", act(), {}),
    Address("developers/applications/<int:pk>/domain/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/domain/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/domain/", "POST", act(), {}),
    Address("logos/<digest>.png", "GET", everybody("200")),
    # --- the developer portal
    Address("developers/", "GET", page()),
    Address("developers/apps/", "POST", act(others="302"), {"name": "Lunch Finder"}),
    Address("developers/apps/<str:app_id>/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/tokens/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/tokens/", "POST", act(owner="400"), {}),
    Address("developers/apps/<str:app_id>/tokens/<str:prefix>/rotate/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/tokens/<str:prefix>/rotate/", "POST", act(owner="200"), {"overlap": "3600"}),
    Address("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/tokens/<str:prefix>/revoke/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/settings/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/settings/", "POST", act(owner="400"), {}),
    Address("developers/apps/<str:app_id>/settings/close/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/settings/close/", "POST", act(), {"name": "{app_name}"}),
    Address("developers/apps/<str:app_id>/audit/", "GET", page(others="404")),
    Address("developers/management-tokens/", "GET", page()),
    Address("developers/management-tokens/", "POST", act(owner="400", others="400"), {}),
    Address("developers/management-tokens/<str:prefix>/revoke/", "GET", page(others="404")),
    Address("developers/management-tokens/<str:prefix>/revoke/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/keys/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/keys/", "POST", act(owner="400"), {}),
    Address("developers/apps/<str:app_id>/keys/<str:thumbprint>/remove/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/keys/<str:thumbprint>/remove/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/webhooks/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/webhooks/", "POST", act(owner="200"), _ENDPOINT_FORM),
    Address(f"{_ENDPOINT}/", "GET", page(others="404")),
    Address(f"{_ENDPOINT}/log", "GET", page(others="404")),
    Address(f"{_ENDPOINT}/change/", "POST", act(), _ENDPOINT_FORM),
    Address(f"{_ENDPOINT}/switch/", "POST", act(), {"enabled": "no"}),
    Address(f"{_ENDPOINT}/secret/", "POST", act(owner="200"), {"overlap": "0"}),
    Address(f"{_ENDPOINT}/test/", "POST", act(), {}),
    Address(f"{_ENDPOINT}/delete/", "GET", page(others="404")),
    Address(f"{_ENDPOINT}/delete/", "POST", act(), {}),
    Address(f"{_ENDPOINT}/replay/", "POST", act(), {"hours": "24"}),
    Address(f"{_ENDPOINT}/deliveries/<int:delivery_pk>/replay/", "POST", act(), {}),
    Address(f"{_DESTINATIONS}/", "GET", page(others="404")),
    Address(f"{_DESTINATIONS}/", "POST", act(owner="200"), _DESTINATION_FORM),
    Address(f"{_DESTINATION}/switch/", "POST", act(), {"enabled": "no"}),
    Address(f"{_DESTINATION}/secret/", "POST", act(owner="200"), {}),
    Address(f"{_DESTINATION}/remove/", "GET", page(others="404")),
    Address(f"{_DESTINATION}/remove/", "POST", act(), {}),
    Address("developers/apps/<str:app_id>/log/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/log/latest", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/limits/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/try/", "GET", page(others="404")),
    Address("developers/apps/<str:app_id>/try/", "POST", act(owner="403"), {}),
    Address("developers/apps/<str:app_id>/members/", "GET", page(others="404")),
    Address(f"{_TEAM}/invite/", "POST", act(), {"email": "a@b.example", "role": "member"}),
    Address(f"{_TEAM}/leave/", "POST", act(owner="409"), {}),
    Address(f"{_TEAM}/tests/", "POST", act(owner="400"), {"agreed": "yes"}),
    Address(f"{_TEAM}/<str:member_id>/role/", "POST", act(owner="409"), {"role": "member"}),
    Address(f"{_TEAM}/<str:member_id>/transfer/", "POST", act(owner="400"), {}),
    Address(f"{_TEAM}/<str:member_id>/remove/", "POST", act(owner="409"), {}),
    Address(f"{_INVITATION}/send/", "POST", act(), {}),
    Address(f"{_INVITATION}/withdraw/", "POST", act(), {}),
    Address("developers/invitations/<str:secret>/", "GET", everybody("200")),
    Address("developers/invitations/<str:secret>/", "POST", act(others="403"), {}),
    # --- the admin, whose addresses are Django's own
    Address("admin/", "GET", staff("200")),
    Address("admin/login/", "GET", staff("302", owner="403", stranger="403", staff="302 second factor")),
    Address("admin/logout/", "GET", everybody("302")),
    Address("admin/password_change/", "GET", staff("302")),
    Address("admin/password_change/done/", "GET", staff("302")),
    Address("admin/autocomplete/", "GET", staff("403")),
    Address("admin/jsi18n/", "GET", staff("200")),
    Address("admin/r/<path:content_type_id>/<path:object_id>/", "GET", staff("404")),
    Address("admin/agents_proxy/call/health/", "GET", staff("200")),
    Address("admin/<app_label>/", "GET", staff("200")),
    Address("admin/<url>", "GET", staff("404")),
    *(address for record in RECORDS for address in _record(record)),
]


def pages() -> list[Address]:
    """What people look at, each once; `seen_by` says who. `./run shots` and axe take theirs from here.

    The admin's pages about one record differ in their fields alone: of histories and forms for a new one, the first.
    """
    return [address for address in ADDRESSES if address.seen_by and not _ALIKE.match(address.route)]
