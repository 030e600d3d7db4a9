"""The staff's pages and the second factor: nothing opens without one, and a change takes a recent one."""

import re
import time
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from developers.models import App, DeveloperToken
from pkm.registry.models import ScopeEntry
from tests import factories
from tests.admin.staff_actions import act, list_of
from tests.callers import signed_in
from tests.factories.accounts import PASSWORD
from tests.staff import at_the_admin, confirm, give_second_factor
from tests.visitor import Visitor

LONG_AGO = 601
FOOD = "attr.lifestyle.food.*"
TOKEN = {"label": "Stolen", "permissions": ["discovery"], "days": "30"}


def addresses() -> list[str]:
    """Every page of the admin that takes no row."""
    plain = [reverse(f"admin:{name}") for name in ("index", "autocomplete", "jsi18n", "password_change")]
    lists = [(meta.app_label, meta.model_name) for meta in (model._meta for model in admin.site._registry)]
    return plain + [reverse(f"admin:{label}_{name}_{kind}") for label, name in lists for kind in ("changelist", "add")]


def test_a_password_alone_opens_nothing(staff):
    page = signed_in(staff).client
    for address in addresses():
        answer = page.get(address, follow=True)
        assert answer.redirect_chain[-1] == ("/accounts/2fa/", 302), address
    shown = [str(message) for message in page.get("/admin/", follow=True).context["messages"]]
    assert shown == ["The staff's pages open after a two-step sign-in alone. Set it up here, then open them again."]


def test_a_password_alone_changes_nothing(staff):
    app, page = factories.AppFactory(), signed_in(staff).client
    page.post(reverse("admin:developers_developertoken_add"), {"app": app.pk, **TOKEN})
    act(page, "developers", "app", "suspend", app, note="Spam")
    assert DeveloperToken.objects.count() == 0
    assert App.objects.get().status == "active"


@pytest.mark.parametrize("kind", ["totp", "webauthn"])
def test_a_session_that_did_not_show_the_second_factor_is_led_to_it(staff, kind):
    if kind == "totp":
        give_second_factor(staff)
    else:
        Authenticator.objects.create(user=staff, type="webauthn", data={"name": "Key", "credential": {}})
    page = signed_in(staff).client
    door = page.get("/admin/developers/app/?q=shop").headers["Location"]
    way = {"totp": "/accounts/2fa/reauthenticate/", "webauthn": "/accounts/2fa/webauthn/reauthenticate/"}[kind]
    assert page.get(door).headers["Location"] == f"{way}?next=%2Fadmin%2Fdevelopers%2Fapp%2F%3Fq%3Dshop"


def test_a_recovery_code_stands_in_for_a_lost_device(staff):
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    give_second_factor(staff)
    code = RecoveryCodes.activate(staff).get_unused_codes()[0]
    page = signed_in(staff).client
    page.post("/accounts/2fa/reauthenticate/", {"code": code, "next": "/admin/"})
    assert page.get("/admin/").status_code == 200


def test_recovery_codes_alone_are_no_second_factor(staff):
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    RecoveryCodes.activate(staff)
    answer = signed_in(staff).client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == ("/accounts/2fa/", 302)


def test_confirming_with_the_password_is_not_enough(staff):
    give_second_factor(staff)
    page = signed_in(staff).client
    page.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": "/admin/"})
    assert page.get("/admin/").status_code == 302


def test_a_factor_that_is_removed_opens_nothing_any_more(page, staff):
    assert page.get("/admin/").status_code == 200
    Authenticator.objects.filter(user=staff).delete()
    give_second_factor(staff)
    assert page.get("/admin/").status_code == 302


def test_who_is_not_staff_is_refused_with_a_second_factor_too(person):
    assert at_the_admin(person).get("/admin/", follow=True).status_code == 403


def test_looking_takes_no_new_confirmation(staff):
    page = at_the_admin(staff, seconds_ago=LONG_AGO)
    assert page.get(list_of("developers", "app")).status_code == 200


def test_a_form_for_something_new_asks_before_it_is_filled_in(staff):
    page = at_the_admin(staff, seconds_ago=LONG_AGO)
    address = reverse("admin:developers_developertoken_add")
    answer = page.get(address)
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/accounts/2fa/reauthenticate/?next={address.replace('/', '%2F')}"
    confirm(page, give_second_factor(staff), back_to=address)
    assert b"Label" in page.get(address).content


DEEDS: dict[str, tuple[Callable[[], Any], str, dict[str, str]]] = {
    "revoke a token": (factories.TokenFactory, "revoke", {}),
    "rotate a token": (factories.TokenFactory, "rotate", {}),
    "suspend an app": (factories.AppFactory, "suspend", {"note": "Spam"}),
    "restore an app": (lambda: factories.AppFactory(status="suspended"), "restore", {"note": "Sorry"}),
    "withdraw a scope": (lambda: ScopeEntry.objects.get(scope=FOOD), "withdraw", {"confirmed": "yes"}),
    "end a grant": (lambda: factories.ExportFactory().grant, "end", {"reason": "fraud"}),
    "approve a template": (factories.ScopeTemplateFactory, "approve", {}),
    "close a report": (factories.AppReportFactory, "close", {"note": "Sorted out"}),
    "replace a webhook's secret": (factories.WebhookEndpointFactory, "renew", {}),
}  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS)
def test_a_late_action_waits_for_the_second_factor_and_is_not_lost(staff, deed):
    make, action, more = DEEDS[deed]
    row, page = make(), at_the_admin(staff, seconds_ago=LONG_AGO)
    model, address = type(row), list_of(row._meta.app_label, row._meta.model_name)
    before = list(model.objects.order_by("pk").values())

    late = page.post(address, {"action": action, "_selected_action": [row.pk], **more})
    assert late.headers["Location"].startswith("/accounts/2fa/reauthenticate/")
    confirm(page, give_second_factor(staff), back_to=address)
    question = page.get(address)
    assert list(model.objects.order_by("pk").values()) == before
    assert question.context["title"] == "Do this now?"
    assert question.context["action_label"]

    assert "1 row" in question.content.decode()
    page.post(address, _form_of(question))
    assert list(model.objects.order_by("pk").values()) != before
    assert page.get(address).context["title"] != "Do this now?"


@pytest.mark.parametrize(
    ("decision", "status"),
    [("approve", "approved"), ("approve_verified", "approved"), ("send_back", "sent_back"), ("reject", "rejected")],
)
def test_a_late_decision_waits_for_the_second_factor_and_is_not_lost(staff, decision, status):
    row = factories.ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None)
    seen = row.updated_at.isoformat().replace("+", "%2B")
    here = reverse("admin:developers_developerapplication_change", args=[row.pk])
    page, address = at_the_admin(staff, seconds_ago=LONG_AGO), f"{here}?decide={decision}&seen={seen}"
    before = list(type(row).objects.values())

    late = page.post(address, {"note": "Read twice."})
    assert late.headers["Location"].startswith("/accounts/2fa/reauthenticate/")
    confirm(page, give_second_factor(staff), back_to=address)
    question = page.get(address)
    assert list(type(row).objects.values()) == before
    assert App.objects.count() == 0
    assert question.context["title"] == "Do this now?"
    assert question.context["shown"] == [("note", ["Read twice."])]

    page.post(address, _form_of(question))
    row.refresh_from_db()
    assert (row.status, row.note) == (status, "Read twice.")
    assert page.get(address).context["title"] != "Do this now?"


def _form_of(answer: Any) -> dict[str, list[str]]:
    """What the page's one form sends."""
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(
        r'<input type="hidden" name="(?!csrf)([^"]+)" value="([^"]*)"', answer.content.decode()
    ):
        fields.setdefault(name, []).append(unescape(value))
    return fields


def test_powers_take_a_new_confirmation_and_what_was_filled_in_stays(staff, person):
    page, address = at_the_admin(staff, seconds_ago=LONG_AGO), reverse("admin:accounts_user_change", args=[person.pk])
    page.post(address, {"is_active": "on", "is_staff": "on", "is_superuser": "on"})
    assert User.objects.get(pk=person.pk).is_superuser is False
    confirm(page, give_second_factor(staff), back_to=address)
    question = page.get(address)
    assert question.context["shown"] == [("is_active", ["on"]), ("is_staff", ["on"]), ("is_superuser", ["on"])]
    page.post(address, _form_of(question))
    assert User.objects.get(pk=person.pk).is_superuser is True


def test_what_waited_is_dropped_where_nobody_goes_on(staff, settings):
    app = factories.AppFactory()
    page, address = at_the_admin(staff, seconds_ago=LONG_AGO), list_of("developers", "app")
    page.post(address, {"action": "suspend", "_selected_action": [app.pk], "note": "Spam"})
    confirm(page, give_second_factor(staff))
    assert page.get("/admin/").status_code == 200
    assert page.get(list_of("developers", "developertoken")).context["title"] != "Do this now?"  # another page
    session = page.session
    session["admin_waits_for_confirmation"] = {**session["admin_waits_for_confirmation"], "at": time.time() - LONG_AGO}
    session.save()
    assert page.get(address).context["title"] != "Do this now?"
    assert App.objects.get().status == "active"


def test_what_was_sent_without_the_forms_token_is_not_kept(staff):
    secret, page = give_second_factor(staff), Client(enforce_csrf_checks=True)
    page.cookies = at_the_admin(staff, seconds_ago=LONG_AGO).cookies
    app, address = factories.AppFactory(), list_of("developers", "app")
    assert secret
    assert page.post(address, {"action": "suspend", "_selected_action": [app.pk], "note": "Spam"}).status_code == 403
    assert "admin_waits_for_confirmation" not in page.session


@pytest.mark.django_db(transaction=True)  # the server answers over connections of its own
def test_a_new_superuser_is_led_all_the_way(service, capsys, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", "--no-input", "--email", "boss@example.org")
    output = capsys.readouterr().out
    assert "/admin/ opens with a second factor alone." in output
    assert f"{service}/accounts/2fa/" in output

    visitor = Visitor(service)
    visitor.sign_in("boss@example.org")
    assert visitor.page("/admin/").url == f"{service}/accounts/2fa/"
    visitor.submit("/accounts/reauthenticate/", {"password": PASSWORD})
    visitor.set_up_totp()
    shown = visitor.page("/admin/developers/app/")
    assert shown.url == f"{service}/admin/developers/app/"
    assert "Select app to change" in shown.text


@pytest.mark.django_db(transaction=True)  # the server answers over connections of its own
def test_a_stolen_password_makes_no_token_over_http(service):
    boss, app = factories.StaffFactory(), factories.AppFactory()
    give_second_factor(boss)
    thief = Visitor(service)
    answer = thief.sign_in(boss.email)
    assert answer.url == f"{service}/accounts/2fa/authenticate/"
    fields = {"app": str(app.pk), **TOKEN, "csrfmiddlewaretoken": thief.http.cookies["csrftoken"]}
    answer = thief.send("/admin/developers/developertoken/add/", fields)
    assert "/admin/" not in answer.url.split("?")[0]
    assert DeveloperToken.objects.count() == 0
