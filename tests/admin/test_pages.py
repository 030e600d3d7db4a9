"""Every page of the admin: shown to staff, refused to others, under its own policy, and never with what is sealed."""

import re
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from common import encryption
from config import dashboard
from consent.errors import AuditUnavailable
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from pkm.registry.models import ScopeEntry, StarterRecord
from tests import factories
from tests.factories.consent_requests import now
from tests.staff import at_the_admin


def _entry():
    """A link of a chain that goes on."""
    person = factories.PersonFactory()
    with transaction.atomic():
        link = audit.append(
            chain=audit.person_chain(person.public_id), kind="denied", actor="person", at=timezone.now(), facts={}
        )
    return AuditEntry.objects.get(chain=link.chain, sequence=link.sequence)


FACTORIES = {
    "user": factories.PersonFactory,
    "domain": factories.DomainFactory,
    "scopeentry": factories.ScopeEntryFactory,
    "developerapplication": factories.ApplicationFactory,
    "app": factories.AppFactory,
    "developertoken": factories.TokenFactory,
    "consentrequest": factories.ConsentRequestFactory,
    "grant": factories.GrantFactory,
    "export": factories.ExportFactory,
    "read": factories.ReadFactory,
    "auditentry": _entry,
    "auditcheckpoint": factories.AuditCheckpointFactory,
    "receipt": factories.ReceiptFactory,
    "notice": factories.NoticeFactory,
    "discovery": factories.DiscoveryFactory,
    "directoryfind": factories.DirectoryFindFactory,
    "appreport": factories.AppReportFactory,
    "scopetemplate": factories.ScopeTemplateFactory,
    "webhookendpoint": factories.WebhookEndpointFactory,
    "webhookdelivery": factories.WebhookDeliveryFactory,
    "appauditentry": factories.AppAuditEntryFactory,
    "appinvitation": factories.AppInvitationFactory,
    "managementtoken": factories.ManagementTokenFactory,
    "loggedrequest": factories.LoggedRequestFactory,
    "sandboxperson": factories.SandboxPersonFactory,
    "scopewithdrawal": factories.ScopeWithdrawalFactory,
    "legacyblob": factories.LegacyBlobFactory,
    "legacymetadata": factories.LegacyMetadataFactory,
    "migrationstate": factories.MigrationStateFactory,
    "processingconsent": factories.ProcessingConsentFactory,
    "call": factories.CallFactory,
    "run": factories.RunFactory,
    "messagetemplate": factories.MessageTemplateFactory,
    "outboundmessage": factories.OutboundMessageFactory,
    "item": factories.ItemFactory,
    "linksession": factories.LinkSessionFactory,
    "refreshrun": factories.RefreshRunFactory,
}
OURS = sorted(
    (model._meta.model_name, model._meta.app_label)
    for model in admin.site._registry
    if model._meta.model_name in FACTORIES
)
ABOUT_PEOPLE = {"user", "consentrequest", "grant", "export", "read", "receipt", "notice", "discovery", "appreport"}
ABOUT_PEOPLE |= {
    "appinvitation",
    "managementtoken",
    "legacyblob",
    "legacymetadata",
    "migrationstate",
    "item",
    "webhookdelivery",
}
POLICY = "trusted-types default"


def _addresses(name, label, row):
    base = f"admin:{label}_{name}"
    return [
        reverse(f"{base}_changelist"),
        reverse(f"{base}_change", args=[row.pk]),
        reverse(f"{base}_history", args=[row.pk]),
    ]


def _text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.mark.parametrize(("name", "label"), OURS)
def test_pages_of_a_model(page, name, label):
    row = FACTORIES[name]()
    sealed = {value for value in vars(row).values() if isinstance(value, str) and value.startswith("gAAAA")}
    secrets = {text for text in (getattr(row, "digest", ""), getattr(row, "secret", "")) if text}
    for address in _addresses(name, label, row):
        answer = page.get(address)
        assert answer.status_code == 200, address
        shown = answer.content.decode()
        assert not any(text in shown or encryption.opened(text) in shown for text in sealed)
        assert not any(text in shown for text in secrets)
        assert POLICY in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"].split(",")[0] in ("no-store", "max-age=0")
        assert "admin-policy.js" in shown.split("</head>")[0].split("<script")[1]


@pytest.mark.parametrize(("name", "label"), OURS)
def test_a_longer_list_asks_no_more(page, name, label):
    address = reverse(f"admin:{label}_{name}_changelist")
    page.get(address)  # the first look of a process keeps some things in mind
    FACTORIES[name](), FACTORIES[name]()
    with CaptureQueriesContext(connection) as of_two:
        page.get(address)
    for _ in range(4):
        FACTORIES[name]()
    with CaptureQueriesContext(connection) as of_six:
        page.get(address)
    assert len(of_six) <= len(of_two), [query["sql"][:160] for query in of_six]


@pytest.mark.parametrize(("name", "label"), OURS)
def test_nothing_can_be_deleted(page, name, label):
    row = FACTORIES[name]()
    answer = page.post(reverse(f"admin:{label}_{name}_delete", args=[row.pk]), {"post": "yes"})
    assert answer.status_code == 403
    assert type(row)._default_manager.filter(pk=row.pk).exists()
    assert b"delete_selected" not in page.get(reverse(f"admin:{label}_{name}_changelist")).content


READ_ONLY = sorted(FACTORIES.keys() - {"user", "domain", "scopeentry", "app", "messagetemplate"})


@pytest.mark.parametrize("name", READ_ONLY)
def test_read_only_records_cannot_be_changed(page, name):
    """Nor added: tests/access."""
    label = dict(OURS)[name]
    row = FACTORIES[name]()
    assert page.post(reverse(f"admin:{label}_{name}_change", args=[row.pk]), {}).status_code == 403


@pytest.mark.parametrize("name", sorted(ABOUT_PEOPLE))
def test_looking_at_rows_of_people_is_written_into_their_history(page, staff, name):
    label = dict(OURS)[name]
    row = FACTORIES[name]()
    about = next(getattr(row, name) for name in ("grant", "request", "notice", "pk") if hasattr(row, name))
    about = getattr(about, "request", about)
    who = (
        row if name == "user" else row.user if hasattr(row, "user") else getattr(row, "invited_by", None) or about.user
    )
    for address in _addresses(name, label, row):
        page.get(address)
    entries = AuditEntry.objects.of(f"person:{who.public_id}").filter(kind="staff_viewed").order_by("sequence")
    assert [(entry.actor, entry.facts) for entry in entries] == [
        ("staff", {"by": staff.public_id, "what": name, "page": address}) for address in _addresses(name, label, row)
    ]


def test_looking_at_audit_entries_of_a_person_is_written_too(page):
    chain = _entry().chain
    page.get(reverse("admin:consent_auditentry_changelist"))
    newest = AuditEntry.objects.get(chain=chain, sequence=2)
    assert (newest.kind, newest.facts["what"]) == ("staff_viewed", "auditentry")


def test_page_is_not_shown_where_looking_cannot_be_written(page, monkeypatch):
    def away(**_):
        raise AuditUnavailable("away")

    request = factories.ConsentRequestFactory()
    monkeypatch.setattr(audit, "append", away)
    page.raise_request_exception = False
    answer = page.get(reverse("admin:consent_consentrequest_change", args=[request.pk]))
    assert answer.status_code >= 500
    assert request.request_id.encode() not in answer.content


def test_sealed_text_and_key_material_are_never_shown(page):
    read = factories.ReadFactory()
    export, request = read.export, read.grant.request
    receipt = factories.ReceiptFactory(request=request)
    shown = ""
    for name, row in (
        ("consentrequest", request),
        ("grant", read.grant),
        ("export", export),
        ("read", read),
        ("receipt", receipt),
        ("developertoken", read.token),
    ):
        for address in _addresses(name, dict(OURS)[name], row):
            shown += page.get(address).content.decode()
    for secret in (
        export.ciphertext,
        export.ciphertext.split(".")[3],
        request.connector_public_key["x"],
        receipt.jws,
        read.token.digest,
    ):
        assert secret not in shown
    assert request.connector_thumbprint in shown


def test_sealed_text_is_not_even_read(page, django_assert_max_num_queries):
    export = factories.ExportFactory()
    # some name the chain of the person looked at, keep what its entry tells, and queue it for the log
    with django_assert_max_num_queries(45) as queries:
        for address in _addresses("export", "consent", export):
            page.get(address)
    assert not [query["sql"] for query in queries.captured_queries if "ciphertext" in query["sql"]]


def test_staff_without_a_permission_see_nothing(db):
    helper = factories.PersonFactory(is_staff=True)
    row = factories.ConsentRequestFactory()
    page = at_the_admin(helper)
    assert page.get(reverse("admin:consent_consentrequest_change", args=[row.pk])).status_code == 403
    index = page.get(reverse("admin:index"))
    assert index.status_code == 200
    assert "Nothing waits for you." in _text(index)


def test_rotated_token_says_how_long_it_still_works(page):
    token = factories.TokenFactory(revoked_at=now() + timedelta(hours=20))
    for address in (
        *_addresses("developertoken", "developers", token)[:2],
        f"/admin/developers/app/{token.app.pk}/change/",
    ):
        assert "Works until" in _text(page.get(address))


# --- signing in -------------------------------------------------------------------------------------------------------


def test_admin_has_no_sign_in_of_its_own(db):
    answer = Client().get("/admin/login/?next=/admin/pkm/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/?next=/admin/pkm/")


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "/consent/"])
def test_sign_in_leads_back_to_the_admin_alone(db, wanted):
    answer = Client().get("/admin/login/", {"next": wanted})
    assert answer.headers["Location"] == "/accounts/login/?next=/admin/"


def test_staff_who_are_signed_in_are_sent_on(page):
    assert page.get("/admin/login/").headers["Location"] == "/admin/"


def test_person_cannot_sign_in_to_the_admin(owner):
    assert owner.client.get("/admin/login/").status_code == 403


@pytest.mark.parametrize(
    ("address", "to"),
    [
        ("/admin/logout/", "/accounts/logout/"),
        ("/admin/password_change/", "/accounts/password/change/"),
        ("/admin/password_change/done/", "/accounts/password/change/"),
    ],
)
def test_account_pages_are_everybodys(page, address, to):
    assert page.post(address).headers["Location"] == to


# --- dashboard --------------------------------------------------------------------------------------------------------


def test_dashboard_counts_what_waits(page):
    factories.ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None)
    factories.ConsentRequestFactory.create_batch(2)
    factories.GrantFactory()
    factories.ScopeTemplateFactory()
    factories.ScopeTemplateFactory(agreed=True)
    factories.MessageTemplateFactory()
    factories.ScopeWithdrawalFactory(at=now() - timedelta(minutes=31))
    factories.WebhookEndpointFactory(disabled_at=now(), reason="gone")
    ScopeEntry.objects.filter(scope="attr.lifestyle.food.*").update(description="")
    StarterRecord.objects.filter(key="attr.lifestyle.food.*").update(written={"description": ""})
    factories.WebhookDeliveryFactory(status="given_up", finished_at=now())
    factories.WebhookDeliveryFactory(status="given_up", finished_at=now() - timedelta(days=8))
    answer = page.get("/admin/")
    counts = {str(line.label): line.count for line in answer.context["waiting"]}
    assert counts == {
        "applications to decide": 1,
        "templates awaiting a second approval": 1,
        "wording of messages awaiting a second approval": 1,
        "domains and scopes behind the starter list: run sync_registry": 1,
        "withdrawn scopes on which requests still wait": 1,
        "webhooks given up within a week": 1,
        "webhook endpoints that are disabled": 1,
    }
    assert "Applications to decide" in _text(answer)


def test_dashboard_says_that_nothing_waits(page):
    factories.GrantFactory()
    answer = page.get("/admin/")
    assert answer.context["waiting"] == []
    assert "Nothing waits for you." in _text(answer)


def test_page_of_a_room_lists_its_records_and_says_nothing_of_what_waits(page):
    factories.AppReportFactory()
    text = _text(page.get("/admin/consent/"))
    assert "Reports about apps" in text
    assert "wait" not in text
    assert "All lists" not in text


def test_dashboard_raises_the_alarm_when_nobody_writes_expiry_down(page):
    factories.ConsentRequestFactory(created_at=now() - timedelta(days=2))
    answer = page.get("/admin/")
    (alarm,) = [line for line in answer.context["waiting"] if line.alarm]
    assert (str(alarm.label), alarm.count) == ("expiries not written down yet", 1)
    assert "late: look at the background worker" in _text(answer)


def test_every_line_of_the_dashboard_leads_somewhere(page):
    for _permission, line in dashboard._lines():
        assert page.get(f"/admin/{line.url}").status_code == 200
