"""Staff's lists: what a search finds, how far it counts, and that an index serves each."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import models
from django.test import Client

from accounts import staff_lists
from accounts.staff_lists import SearchedByIndex
from consent.decisions.actions import deny
from consent.ledger.models import AuditEntry
from tests import factories

pytestmark = pytest.mark.django_db

# small tables that staff or developers fill by hand: a word may stand anywhere in a name of theirs
SMALL = {
    "pkm.Domain", "pkm.ScopeEntry", "developers.App", "developers.DeveloperApplication", "developers.DeveloperToken",
    "developers.ManagementToken", "developers.AppInvitation", "developers.AppAuditEntry", "developers.WebhookEndpoint",
    "agents_proxy.Destination", "consent.ScopeTemplate", "consent.SandboxPerson", "agents_proxy.MessageTemplate",
    "pkm.LegacyBlob", "pkm.LegacyMetadata", "pkm.MigrationState",
}  # fmt: skip


def fields_of(registered: Any) -> list[tuple[str, Any, list[str]]]:
    """(kind, model that holds it, names) of each field that is searched."""
    found = []
    for field in registered.search_fields:
        model, names = registered.model, field.lstrip("=^").split("__")
        for step in names[:-1]:
            model = model._meta.get_field(step).related_model
        found.append((field[0], model, names))
    return found


def is_indexed(model: Any, name: str) -> bool:
    field = model._meta.get_field(name)
    firsts = {index.fields[0].lstrip("-") for index in model._meta.indexes if index.fields and not index.condition}
    firsts |= {
        rule.fields[0]
        for rule in model._meta.constraints
        if isinstance(rule, models.UniqueConstraint) and rule.fields and not rule.condition
    }
    return bool(field.primary_key or field.unique or field.db_index or name in firsts)


def test_an_index_serves_each_search_of_a_list_that_grows_with_people() -> None:
    slow = [
        (model._meta.label, ".".join(names))
        for model, registered in admin.site._registry.items()
        if isinstance(registered, SearchedByIndex)
        for kind, holds, names in fields_of(registered)
        if holds._meta.label not in SMALL
        and not (kind in "=^" and is_indexed(holds, names[-1]))
        and f"{kind}{'__'.join(names)}" not in registered.searched_among_newest
    ]

    assert slow == []


def test_what_no_index_serves_is_looked_for_among_the_newest_rows(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, *others = (factories.LoggedRequestFactory() for _ in range(5))
    monkeypatch.setattr(staff_lists, "MOST_FILTERED", 3)

    assert found(page, "developers/loggedrequest", old.trace_id) == []
    assert found(page, "developers/loggedrequest", others[-1].trace_id) == [others[-1].pk]
    assert found(page, "developers/loggedrequest", old.app.app_id) == [old.pk]


def found(page: Client, path: str, query: str) -> list[str]:
    answer = page.get(f"/admin/{path}/", {"q": query})
    assert answer.status_code == 200
    context: Any = answer.context_data  # type: ignore[attr-defined]
    return [row.pk for row in context["cl"].result_list]


def test_a_request_is_found_by_its_own_id_its_persons_its_apps_and_its_scope(page: Client) -> None:
    request = factories.ConsentRequestFactory()
    other = factories.ConsentRequestFactory()

    for query in (request.request_id, request.request_id.upper(), request.user.public_id, request.app.app_id):
        assert found(page, "consent/consentrequest", query) == [request.pk]
    assert found(page, "consent/consentrequest", request.scope) == [other.pk, request.pk]
    assert found(page, "consent/consentrequest", f"{request.scope} {request.user.public_id}") == [request.pk]
    assert found(page, "consent/consentrequest", "req_nobody") == []
    assert found(page, "consent/consentrequest", "'") == []


def test_a_person_is_found_by_how_their_address_begins(page: Client) -> None:
    zoe = factories.PersonFactory(email="zoe.quinn@example.org")

    for query in ("zoe.q", "ZOE.QUINN@example.org", zoe.public_id):
        assert found(page, "accounts/user", query) == [zoe.pk]
    assert found(page, "accounts/user", "quinn") == []


def test_an_entry_is_found_by_its_chain_whose_it_is_and_its_hash(page: Client) -> None:
    request = factories.ConsentRequestFactory()
    deny(request_id=request.request_id, by=request.user, reason="")
    deny(request_id=(other := factories.ConsentRequestFactory()).request_id, by=other.user, reason="")
    entry = AuditEntry.objects.filter(kind="denied").earliest("pk")

    assert found(page, "consent/auditentry", entry.entry_hash) == [entry.pk]
    for query in (entry.chain, f"person:{request.user.public_id}"):  # each look is an entry of that chain, too
        assert entry.pk in (rows := found(page, "consent/auditentry", query))
        assert {row.chain for row in AuditEntry.objects.filter(pk__in=rows)} == {entry.chain}


def test_a_list_counts_no_further_than_its_bound(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff_lists, "MOST_COUNTED", 3)
    for _ in range(6):
        factories.DiscoveryFactory()

    answer = page.get("/admin/consent/discovery/")

    assert answer.context_data["cl"].result_count == 4  # type: ignore[attr-defined]


def test_a_list_says_how_many_were_found_only_after_a_search_and_an_empty_one_is_a_sentence(page: Client) -> None:
    path = "/admin/consent/grant/"
    assert "There is nothing here yet." in (empty := page.get(path).content.decode())
    assert 'name="action"' not in empty
    grant = factories.GrantFactory()

    assert "Show all" not in (whole := page.get(path).content.decode())
    assert "1 entry" in whole
    assert "1 result" in page.get(path, {"q": grant.grant_id}).content.decode()
    assert "Nothing was found." in page.get(path, {"q": "nobody"}).content.decode()


@pytest.mark.parametrize("kind", ["%00", "nothing", "%EF%BF%BF"])
def test_a_filter_by_what_nobody_knows_finds_nothing(page: Client, kind: str) -> None:
    factories.NoticeFactory()

    answer = page.get(f"/admin/consent/notice/?kind={kind}")

    assert answer.status_code == 200
    assert list(answer.context_data["cl"].result_list) == []  # type: ignore[attr-defined]
