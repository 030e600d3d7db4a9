"""The domain of an app's website: proved by DNS or a file, looked for again, and taken away when it is gone."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import User
from developers.apps import domains
from developers.apps.domain_proof import check_app_domain, recheck_domains
from developers.apps.domains import Finding, domain_of, look_for_proof
from developers.models import App, AppAuditEntry, DeveloperApplication
from tests.developers.websites import Website, website
from tests.factories import (
    AppFactory,
    ApplicationFactory,
    ConsentRequestFactory,
    MemberFactory,
    PersonFactory,
    TestAppFactory,
)
from tests.outbox import send_mails

CHALLENGE, OURS = "proof_abc", domains._client


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Website]:
    with website(monkeypatch) as running:
        yield running


@pytest.mark.parametrize(
    ("link", "domain"),
    [
        ("https://Trips.Example/about", "trips.example"),
        ("https://trips.example.:8443/", "trips.example"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("https://localhost/", ""),
        ("https://10.0.0.1/", ""),
        ("https://[::1]/", ""),
        ("https://*.trips.example", ""),
        ("https://a b.example", ""),
        (f"https://{'a' * 64}.example", ""),
        ("https://" + ".".join(["a" * 60] * 5), ""),
        ("nothing", ""),
    ],
)
def test_the_domain_is_the_host_as_dns_writes_it(link: str, domain: str) -> None:
    assert domain_of(link) == domain


def test_both_places_are_looked_at(site: Website) -> None:
    assert look_for_proof("trips.example", CHALLENGE) == Finding("nothing", "nothing")
    site.publish_in_dns("trips.example", "something else")
    assert look_for_proof("trips.example", CHALLENGE) == Finding("other", "nothing")
    site.publish_in_dns("trips.example", "something else", CHALLENGE)
    site.status, site.body = 200, b"something else\n"
    assert look_for_proof("trips.example", CHALLENGE) == Finding("proof", "other")
    site.dns.records.clear()
    site.body = f"{CHALLENGE}\r\n".encode()
    assert look_for_proof("trips.example", CHALLENGE) == Finding("nothing", "proof")
    assert set(site.paths) == {"/.well-known/consent-runtime.txt"}
    assert set(site.dns.queries) == {"_consent-runtime.trips.example."}


@pytest.mark.parametrize("status", [301, 403, 500])
def test_a_file_counts_where_it_is_served_itself(site: Website, status: int) -> None:
    site.status, site.body = status, CHALLENGE.encode()
    assert not look_for_proof("trips.example", CHALLENGE).proves


def test_a_file_that_goes_on_and_on_is_left(site: Website) -> None:
    site.status, site.body = 200, (CHALLENGE + "\n").encode() * 10_000
    assert not look_for_proof("trips.example", CHALLENGE).proves


def test_dns_that_is_silent_is_left(site: Website, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "_DNS_SECONDS", 0.2)
    site.dns.silent = True
    assert look_for_proof("trips.example", CHALLENGE).dns == "nothing"


def test_a_site_inside_the_own_network_is_never_asked(site: Website, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "_client", OURS)  # the one that is used outside of tests
    assert list(domains._file("trips.example")) == []
    assert site.paths == []


def _app(**fields: Any) -> App:
    return AppFactory(**fields)  # type: ignore[no-any-return]


def test_a_proof_is_written_down_and_shown(db: None, site: Website, client: Client) -> None:
    member = MemberFactory()
    client.force_login(member.user)
    here = f"/developers/apps/{member.app.app_id}/domain/"
    page = client.get(here).content.decode()
    assert member.app.domain_challenge in page
    assert "_consent-runtime.trips.example" in page
    waiting = ConsentRequestFactory(app=member.app)

    site.publish_in_dns("trips.example", member.app.domain_challenge)
    for _ in range(2):
        assert client.post(here).status_code == 302

    app = App.objects.get(pk=member.app.pk)
    assert app.proved_domain == "trips.example"
    assert app.domain_proved_at is not None
    assert list(AppAuditEntry.objects.values_list("action", "member", "facts")) == [
        ("domain.proved", member.user.pk, {"domain": "trips.example"})
    ]
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"  # people would be shown something else than when it was asked
    assert "Proved" in client.get(here).content.decode()


def test_the_challenge_of_another_app_proves_nothing(db: None, site: Website) -> None:
    app, other = _app(), _app()
    site.publish_in_dns("trips.example", other.domain_challenge)
    check_app_domain(app=app, by=None)
    assert App.objects.get(pk=app.pk).proved_domain == ""


def _proved(**fields: Any) -> App:
    now = timezone.now()
    return _app(**{"proved_domain": "trips.example", "domain_proved_at": now, "domain_checked_at": now, **fields})


def _days_pass(days: float) -> None:
    for app in App.objects.all():
        moved = {
            name: getattr(app, name) - timedelta(days=days)
            for name in ("domain_checked_at", "domain_missing_since")
            if getattr(app, name) is not None
        }
        App.objects.filter(pk=app.pk).update(**moved)


def test_a_proof_that_is_gone_for_days_is_taken_away(db: None, site: Website) -> None:
    app = _proved()
    owner = MemberFactory(app=app)
    MemberFactory(app=app, role="member")
    assert recheck_domains() == 0  # looked for a moment ago
    _days_pass(1.1)
    assert recheck_domains() == 1
    app.refresh_from_db()
    assert (app.proved_domain, send_mails()) == ("trips.example", 0)
    assert app.domain_missing_since is not None
    assert recheck_domains() == 0

    _days_pass(3)
    assert recheck_domains() == 1
    app.refresh_from_db()
    assert (app.proved_domain, app.domain_proved_at, app.domain_missing_since) == ("", None, None)
    assert (send_mails(), send_mails()) == (1, 0)
    assert [(sent.to, sent.subject) for sent in mail.outbox] == [
        ([owner.user.email], f"trips.example is not proved any more for {app.name}")
    ]
    assert AppAuditEntry.objects.values_list("action", "member").get() == ("domain.lost", None)


def test_a_proof_that_is_back_stays(db: None, site: Website) -> None:
    app = _proved(domain_missing_since=timezone.now() - timedelta(days=2))
    _days_pass(1.1)
    site.publish_in_dns("trips.example", app.domain_challenge)
    recheck_domains()
    app.refresh_from_db()
    assert (app.proved_domain, app.domain_missing_since) == ("trips.example", None)


def test_another_website_is_not_the_proved_one(db: None, site: Website) -> None:
    app = _proved()
    DeveloperApplication.objects.update(website="https://other.example")
    _days_pass(1.1)
    recheck_domains()
    assert App.objects.get(pk=app.pk).proved_domain == ""


def test_an_application_s_domain_is_proved_before_staff_decide(db: None, site: Website, client: Client) -> None:
    person: User = PersonFactory()
    row = ApplicationFactory(applicant=person, status="submitted", reviewer=None, reviewed_at=None)
    client.force_login(person)
    before = DeveloperApplication.objects.get().updated_at
    site.status, site.body = 200, row.domain_challenge.encode()

    answer = client.post(f"/developers/applications/{row.pk}/domain/", follow=True)

    assert "trips.example is proved." in answer.content.decode()
    row.refresh_from_db()
    assert row.proved_domain == "trips.example"
    assert row.updated_at == before  # staff who read it meanwhile can still decide
    site.status = 404
    assert (
        "No proof was found" in client.post(f"/developers/applications/{row.pk}/domain/", follow=True).content.decode()
    )
    assert DeveloperApplication.objects.get().proved_domain == ""


def test_asking_all_day_is_stopped(db: None, site: Website, client: Client) -> None:
    member = MemberFactory()
    client.force_login(member.user)
    for _ in range(25):
        client.post(f"/developers/apps/{member.app.app_id}/domain/")
    assert len(site.paths) == 20


def test_a_test_app_has_no_such_page(db: None, client: Client) -> None:
    test = MemberFactory(app=TestAppFactory())
    client.force_login(test.user)
    assert client.get(f"/developers/apps/{test.app.app_id}/domain/").status_code == 404
