"""Every address of the service as its URL configuration spells it, by who is meant to call it.

tests/config/test_headers.py compares the list with the configuration: an address that is missing here fails it.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver

from tests import factories
from tests.factories import give_vault

STAFF_RECORDS = (
    "accounts/user",
    "pkm/domain",
    "pkm/scopeentry",
    "developers/developerapplication",
    "developers/app",
    "developers/developertoken",
    "consent/scopetemplate",
    "developers/webhookendpoint",
    "consent/webhookdelivery",
    "consent/consentrequest",
    "consent/grant",
    "consent/export",
    "consent/read",
    "consent/auditentry",
    "consent/auditcheckpoint",
    "consent/receipt",
    "consent/notice",
    "consent/discovery",
    "consent/appreport",
    "agents_proxy/messagetemplate",
    "agents_proxy/outboundmessage",
    "agents_proxy/processingconsent",
    "agents_proxy/call",
    "agents_proxy/run",
    "agents_proxy/item",
    "agents_proxy/refreshrun",
    "agents_proxy/linksession",
    "auth/group",
)
ADMIN = (
    "admin/",
    "admin/login/",
    "admin/logout/",
    "admin/password_change/",
    "admin/password_change/done/",
    "admin/autocomplete/",
    "admin/jsi18n/",
    "admin/r/<path:content_type_id>/<path:object_id>/",
    "admin/^(?P<app_label>accounts|pkm|developers|consent|agents_proxy|auth)/$",
    "admin/(?P<url>.*)$",
)
DEVELOPER = (
    "mcp",
    "mcp/",
    "api/v1/user-scopes/<str:user_id>",
    "api/v1/scope-catalog",
    "api/v1/request-consent",
    "api/v1/consent-status",
    "api/v1/end-consent",
    "api/v1/consent-requests",
    "api/v1/consent-events",
    "api/v1/consent-export",
    "api/v1/receipts/<str:receipt_id>",
)
OWNER = (
    "vault/keys",
    "vault/wrappers",
    "vault/wrappers/<str:wrapper_id>",
    "vault/wrappers/<str:wrapper_id>/restore",
    "vault/unlocked",
    "vault/segments",
    "vault/segments/<str:domain>/<str:segment_id>",
    "vault/hidden-scopes/<str:scope>",
    "consent/history/chain",
    "consent/requests/<str:request_id>/data",
    "consent/requests/<str:request_id>/decision",
    "consent/grants/outdated",
    "consent/grants/<str:grant_id>/revoke",
    "consent/grants/<str:grant_id>/pause",
    "consent/grants/<str:grant_id>/resume",
    "consent/grants/<str:grant_id>/export",
)
AGENTS = (
    "api/a2a/consents",
    "api/a2a/consents/<str:consent_id>",
    "api/a2a/analyses",
    "api/a2a/analyses/<str:analysis_id>",
    "api/a2a/analyses/<str:analysis_id>/cancel",
    "api/a2a/analyses/<str:analysis_id>/raw",
    "api/a2a/analyses/<str:analysis_id>/steps/<str:agent>/retry",
    "api/a2a/messaging",
    "api/a2a/messaging/reports",
    "api/a2a/messages",
    "api/a2a/numbers",
    "api/a2a/numbers/codes",
    "api/a2a/numbers/<int:number_pk>",
    "api/a2a/financial/links",
    "api/a2a/financial/items",
    "api/a2a/financial/items/<str:item_id>",
    "api/a2a/financial/items/<str:item_id>/refreshes",
    "api/a2a/financial/items/<str:item_id>/identity",
    "api/a2a/financial/signals",
    "api/a2a/<path:agent>",
)
PAGE = (
    "language/",
    "accounts/login/",
    "accounts/logout/",
    "accounts/inactive/",
    "accounts/signup/",
    "accounts/reauthenticate/",
    "accounts/email/",
    "accounts/confirm-email/",
    "accounts/password/change/",
    "accounts/password/set/",
    "accounts/password/reset/",
    "accounts/login/code/confirm/",
    r"accounts/^confirm-email/(?P<key>[-:\w]+)/$",
    "accounts/password/reset/key/done/",
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
    "accounts/password/reset/done/",
    "accounts/2fa/",
    "accounts/2fa/authenticate/",
    "accounts/2fa/reauthenticate/",
    "accounts/2fa/totp/activate/",
    "accounts/2fa/totp/deactivate/",
    "accounts/2fa/recovery-codes/",
    "accounts/2fa/recovery-codes/generate/",
    "accounts/2fa/recovery-codes/download/",
    "accounts/2fa/webauthn/",
    "accounts/2fa/webauthn/add/",
    "accounts/2fa/webauthn/reauthenticate/",
    "accounts/2fa/webauthn/keys/<int:pk>/remove/",
    "accounts/2fa/webauthn/keys/<int:pk>/edit/",
    "accounts/2fa/webauthn/login/",
    "accounts/sessions/",
    "vault/",
    "vault/data/<str:domain>/",
    "vault/discovery/",
    "vault/transfer/",
    "vault/import/",
    "vault/setup/",
    "vault/setup/first/",
    "vault/setup/preview/",
    "vault/setup/done/",
    "vault/sharing-id.svg",
    "account/security/",
    "account/security/wrappers/<str:wrapper_id>/remove/",
    "account/security/wrappers/<str:wrapper_id>/restore/",
    "api/docs/",
    "docs/errors",
    "docs/security/",
    "",
    "jsi18n/",
    "account/waiting/leave/",
    "consent/",
    "consent/requests/<str:request_id>/",
    "consent/requests/<str:request_id>/deny/",
    "consent/grants/",
    "consent/grants/<str:grant_id>/stop/",
    "consent/grants/<str:grant_id>/pause/",
    "consent/grants/<str:grant_id>/resume/",
    "consent/grants/<str:grant_id>/keep/",
    "consent/apps/<str:app_id>/",
    "consent/apps/<str:app_id>/stop/",
    "consent/apps/<str:app_id>/block/",
    "consent/apps/<str:app_id>/unblock/",
    "consent/apps/<str:app_id>/report/",
    "consent/history/",
    "consent/history/verify/",
    "consent/history/file/",
    "consent/receipts/<str:receipt_id>/",
    "consent/receipts/<str:receipt_id>/download/",
    "consent/verify/",
    "profile/consent/",
    "profile/consent/given/",
    "profile/consent/<str:consent_id>/withdraw/",
    "profile/numbers/",
    "profile/numbers/<int:number_pk>/code/",
    "profile/numbers/<int:number_pk>/forget/",
    "profile/financial/",
    "profile/financial/link/",
    "profile/financial/linked/",
    "profile/financial/links/<str:link_id>/",
    "profile/financial/<str:item_id>/refresh/",
    "profile/financial/<str:item_id>/remove/",
    "profile/",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/$",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/raw/$",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/cancel/$",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/retry/(?P<agent>[a-z-]{1,32})/$",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/delete/$",
    r"profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/brand-affinity\.(?P<form>json|csv)$",
    "profile/^(?P<analysis_id>ana_[a-z2-7]{10,60})/activate/$",
)
OPEN = (
    "livez",
    "readyz",
    ".well-known/consent-keys.json",
    ".well-known/consent-checkpoint.json",
    "api/schema/",
)

_OF_A_RECORD = (
    "", "add/", "<path:object_id>/history/", "<path:object_id>/delete/", "<path:object_id>/change/",
    "<path:object_id>/",
)  # fmt: skip
LISTED = {
    *ADMIN, *(f"admin/{record}/{rest}" for record in STAFF_RECORDS for rest in _OF_A_RECORD),
    *DEVELOPER, *OWNER, *AGENTS, *PAGE, *OPEN,
}  # fmt: skip


def configured() -> set[str]:
    """The addresses that the URL configuration has."""
    return set(_walk(get_resolver().url_patterns, ""))


def _walk(patterns: Any, before: str) -> Iterator[str]:
    for entry in patterns:
        there = before + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from _walk(entry.url_patterns, there)
        else:
            yield there


def samples(person: Any, app: Any) -> dict[str, str]:
    """What stands for each part of an address that is not fixed: things of `person`, made for this."""
    give_vault(person)
    grant = factories.ExportFactory(grant__request__user=person, grant__request__app=app).grant
    run = factories.RunFactory(user=person)
    return {
        "user_id": person.public_id,
        "request_id": factories.ConsentRequestFactory(user=person, app=app).request_id,
        "grant_id": grant.grant_id,
        "receipt_id": factories.ReceiptFactory(request=grant.request).receipt_id,
        "app_id": app.app_id,
        "analysis_id": run.analysis_id,
        "consent_id": factories.ProcessingConsentFactory(user=person).consent_id,
        "wrapper_id": "wrp_unknown",
        "domain": "lifestyle",
        "segment_id": "food",
        "scope": "attr.lifestyle.*",
        "agent": "core",
        "object_id": "1",
        "content_type_id": "1",
        "app_label": "consent",
        "url": "nothing",
        "key": "unknown",
        "uidb36": "1",
        "pk": "1",
        "number_pk": str(factories.PhoneNumberFactory(user=person).pk),
        "item_id": "itm_unknown",
        "link_id": "lnk_unknown",
        "form": "json",
    }


def path_of(address: str, parts: dict[str, str]) -> str:
    """A path that the address matches."""
    filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: parts[found[1]], re.sub(r"\(\?P(<\w+>)[^()]*\)", r"\1", address))
    return "/" + re.sub(r"[\^$\\]", "", filled)
