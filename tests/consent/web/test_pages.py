"""The consent app's pages: whose they are, what they say, and the forms that work without a script."""

import re
from datetime import timedelta
from urllib.parse import parse_qsl

import pytest

from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from tests.consent.decisions import approval_body
from tests.consent.web.test_long_lists import clock_queries
from tests.factories import (
    AuditEntryFactory,
    ConsentRequestFactory,
    DirectoryFindFactory,
    DiscoveryFactory,
    ExportFactory,
    GrantFactory,
    ReadFactory,
    give_vault,
)
from tests.factories.consent_requests import now
from tests.vouched import vouch_for

FOLDED = re.compile(r"(<details[^>]*>\s*<summary.*?</summary>).*?</details>", re.DOTALL)


def text(answer):
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    return answer.content.decode()


# --- what every page keeps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "back"),
    [
        ("requests/req_x/deny/", "requests/req_x/"),
        *((f"grants/grt_x/{form}/", "grants/") for form in ("stop", "pause", "keep")),
        *((f"apps/app_x/{form}/", "apps/app_x/") for form in ("block", "unblock", "report")),
        ("history/verify/", "history/"),
        ("pause/", "pause/"),
        ("apps/unused/", "apps/"),
    ],
)
def test_who_signs_in_comes_back_to_the_page_of_the_form(client_json, db, form, back):
    answer = client_json.send("POST", f"/consent/{form}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next=/consent/{back}")


def test_home_is_for_strangers_and_leads_others_on(client_json, owner):
    assert "data-user-id" in text(client_json.get("/"))
    assert owner.get("/").headers["Location"] == "/consent/"


# --- inbox ------------------------------------------------------------------------------------------------------------


def test_inbox_shows_what_waits_and_nothing_of_others(owner, person, django_assert_max_num_queries):
    for number in range(4):
        ConsentRequestFactory(user=person, purpose=f"Waiting number {number}")
    ConsentRequestFactory(user=person, status="denied", purpose="Was refused before")
    ConsentRequestFactory(
        user=person,
        created_at=now() - timedelta(days=2),
        expires_at=now() - timedelta(seconds=1),
        purpose="Too late now",
    )
    ConsentRequestFactory(purpose="Of somebody else")

    # session, user, side, vault and wrappers, waiting, decided, newest, twice the count, names of what the first asks
    with django_assert_max_num_queries(12 + clock_queries(1)):
        shown = text(owner.get("/consent/inbox/"))

    assert [f"Waiting number {number}" in shown for number in range(4)] == [True] * 4
    assert "Of somebody else" not in shown
    assert "Too late now" not in shown
    assert shown.index("Decided lately") > shown.index("Waiting number 0")


def test_empty_inbox_says_what_will_appear(owner):
    assert "Nothing waits for you" in text(owner.get("/consent/inbox/"))


# --- review -----------------------------------------------------------------------------------------------------------


def test_review_says_everything_without_a_click(owner, person, django_assert_max_num_queries):
    give_vault(person)
    request = ConsentRequestFactory(
        user=person,
        binding_message="Blue heron 42",
        max_reads=3,
        required_attributes=["lifestyle.food.diet_preference"],
        required_because="We leave out what you must not eat",
    )
    vouch_for(request)
    application = request.app.application

    # six of them who vouches for the key; PostgreSQL is asked for the time with a query, seven times
    with django_assert_max_num_queries(21 + clock_queries(2)):
        shown = text(owner.get(f"/consent/requests/{request.request_id}/"))

    unfolded = FOLDED.sub(r"\1", shown)
    for words in (
        request.app_name, application.legal_name, application.privacy_policy, request.purpose, "Blue heron 42",
        "Without what is needed:", "We leave out what you must not eat", "up to 3", "Checked", "1 thing to know",
        "first time it asks", "If you deny", "Choose Stop under Apps", "Their words. We check names, not promises.",
    ):  # fmt: skip
        assert words in unfolded, words
    assert request.connector_thumbprint in shown  # for experts, and folded
    assert re.findall(r'<button class="([^"]*)" type="submit"[^>]* id="(deny|approve)"', shown) == [
        ("btn", "deny"), ("btn", "approve"),
    ]  # fmt: skip


def test_review_warns_of_what_was_not_registered_and_not_checked(owner, person):
    request = ConsentRequestFactory(user=person, app__verified=False, scope="attr.location.home.*")
    request.app.application.needed_scopes = ["attr.lifestyle.*"]
    request.app.application.save()
    shown = text(owner.get(f"/consent/requests/{request.request_id}/"))
    assert "Nobody has checked who is behind" in shown
    assert "wants more than it told us" in shown
    assert "confidential data" in shown


def test_review_says_that_a_key_is_new(owner, person):
    older = GrantFactory(request__user=person, status="revoked")
    known = ConsentRequestFactory(user=person, app=older.app, connector=older.request.connector)
    new = ConsentRequestFactory(user=person, app=older.app)
    assert "its key is new" not in text(owner.get(f"/consent/requests/{known.request_id}/"))
    assert "its key is new" in text(owner.get(f"/consent/requests/{new.request_id}/"))


@pytest.mark.parametrize(
    ("status", "message"), [("denied", "You denied this"), ("cancelled", "cancelled"), ("expired", "has expired")]
)
def test_decided_request_says_what_happened(owner, person, status, message):
    request = ConsentRequestFactory(user=person, status=status)
    shown = text(owner.get(f"/consent/requests/{request.request_id}/"))
    assert message in shown
    assert 'id="approve"' not in shown


def test_markup_in_an_apps_words_stays_text(owner, person):
    hostile = "<script>alert(1)</script> & </json>"
    request = ConsentRequestFactory(user=person, purpose=hostile, binding_message="</script><b>")
    shown = text(owner.get(f"/consent/requests/{request.request_id}/"))
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


# --- forms ------------------------------------------------------------------------------------------------------------


def test_deny_form_denies_once(owner, consent_request):
    path = f"/consent/requests/{consent_request.request_id}/"

    first = owner.client.post(f"{path}deny/", {"reason": "No"})
    second = owner.client.post(f"{path}deny/", follow=True)

    assert (first.status_code, first.headers["Location"]) == (302, path)
    assert "decided already" in second.content.decode()
    kept = ConsentRequest.objects.get(pk=consent_request.pk)
    assert (kept.status, kept.decision_note) == ("denied", "No")


def test_a_note_that_is_too_long_decides_nothing_and_is_kept(owner, consent_request):
    answer = owner.client.post(f"/consent/requests/{consent_request.request_id}/deny/", {"reason": "n" * 501})
    consent_request.refresh_from_db()

    assert (answer.status_code, consent_request.status) == (400, "pending")
    assert "n" * 501 in answer.content.decode()
    assert "at most 500 characters" in answer.content.decode()
    owner.client.post(f"/consent/requests/{consent_request.request_id}/deny/")
    again = owner.client.post(f"/consent/requests/{consent_request.request_id}/deny/", {"reason": "n" * 501})
    assert again.headers["Location"] == f"/consent/requests/{consent_request.request_id}/"


def test_a_suspended_app_gets_nothing_and_the_page_says_so(owner, person):
    vault = give_vault(person)
    request = ConsentRequestFactory(user=person, app__status="suspended")
    page = text(owner.get(f"/consent/requests/{request.request_id}/"))
    answer = owner.post(f"/consent/requests/{request.request_id}/decision", approval_body(request, vault))
    request.refresh_from_db()

    assert "Our staff suspended" in page
    assert "data-ready" not in page
    assert (answer.status_code, answer.json()["code"], request.status) == (403, "app_suspended", "pending")


RENEWED = {
    "purpose": ({"purpose": "Plan a dinner"}, "The purpose changed. Before, it was: “Suggest restaurants"),
    "longer": ({"access_duration": 31536000}, "They ask for 1 year; before, they asked for 1 day."),
    "reads": ({"max_reads": 20}, "How often it may be read changed: 20 reads. Before: without a limit."),
    "policy": ({"refresh_policy": "continuous"}, "Now they want your later changes too"),
}


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize(("changed", "words"), RENEWED.values(), ids=RENEWED)
def test_a_renewal_says_what_changed_since_last_time(owner, person, changed, words, ended):
    give_vault(person)
    started = now() - timedelta(days=3 if ended else 0)
    before = GrantFactory(
        request__user=person, starts_at=started, approved_attributes=["lifestyle.food.diet_preference"]
    )  # fmt: skip
    same = {"user": person, "app": before.app}
    page = text(owner.get(f"/consent/requests/{ConsentRequestFactory(**same, **changed).request_id}/"))

    assert ("You shared this before" if ended else "You share this already") in page
    assert [phrase for _, phrase in RENEWED.values() if phrase in page] == [words]
    assert page.count('class="is-changed') == 2  # cuisine and coffee are new


def test_deny_form_of_an_expired_request_says_so(owner, person):
    over = ConsentRequestFactory(
        user=person, created_at=now() - timedelta(days=2), expires_at=now() - timedelta(seconds=1)
    )
    answer = owner.client.post(f"/consent/requests/{over.request_id}/deny/", follow=True)
    assert "had expired before" in answer.content.decode()


@pytest.mark.parametrize(
    ("before", "form", "after", "message"),
    [
        ("active", "stop", "revoked", "cannot be recalled"),
        ("active", "pause", "paused", "Paused"),
        ("released", "stop", "released", "had ended already"),
    ],
)
def test_sharing_forms_move_the_grant(owner, person, before, form, after, message):
    grant = GrantFactory(request__user=person, status=before)
    answer = owner.client.post(f"/consent/grants/{grant.grant_id}/{form}/", follow=True)
    assert answer.redirect_chain == [(f"/consent/apps/{grant.app.app_id}/", 302)]
    assert message in answer.content.decode()
    assert Grant.objects.get(pk=grant.pk).status == after


# --- sharing, history, receipts ---------------------------------------------------------------------------------------


def test_history_tells_reads_discoveries_decisions_and_ends(owner, person, django_assert_max_num_queries):
    request = ConsentRequestFactory(user=person, app_name="Lunch Finder")
    owner.client.post(f"/consent/requests/{request.request_id}/deny/")
    ReadFactory(export=ExportFactory(grant=GrantFactory(request__user=person)))
    DiscoveryFactory(user=person, app=request.app, count=3)
    grant = GrantFactory(request__user=person)
    owner.client.post(f"/consent/grants/{grant.grant_id}/stop/")
    sentences = {
        "decisions": "You denied “Food and drink” to Lunch Finder",
        "reads": "read “Food and drink”",
        "discoveries": "looked at what could be asked of you",
        "ends": "You stopped sharing “Food and drink”",
    }

    # one each for what staff looked at, entries that follow, the side, what runs, last week, own changes
    with django_assert_max_num_queries(23 + clock_queries(1)):
        everything = text(owner.get("/consent/history/"))

    assert [words in everything for words in sentences.values()] == [True] * 4
    for kind in sentences:
        shown = text(owner.get("/consent/history/", kind=kind))
        assert {other: words in shown for other, words in sentences.items()} == {
            other: other == kind for other in sentences
        }


def test_history_of_one_app_and_of_nobody_else(owner, person):
    mine = DiscoveryFactory(user=person)
    other = DiscoveryFactory(user=person)
    DiscoveryFactory()
    titles = text(owner.get("/consent/history/", app=mine.app.app_id)).count('class="event-title"')
    both = text(owner.get("/consent/history/")).count('class="event-title"')
    assert (titles, both) == (1, 2)
    assert other.app.name in text(owner.get("/consent/history/"))


def test_history_tells_who_found_them_in_the_directory(owner, person):
    found = DirectoryFindFactory(user=person)
    DirectoryFindFactory()

    shown = text(owner.get("/consent/history/", kind="discoveries", app=found.app.app_id))

    assert shown.count('class="event-title"') == 1
    assert f"{found.app.name} found you in the directory" in shown
    assert owner.client.post(f"/consent/apps/{found.app.app_id}/block/").status_code == 302


STRANGE_PLACES = (
    "x", "c", "c0", f"c{2**63}", "r9.r1-1", "r999999999999999999-1", "d9999999-1-1", "c1.q1", "c1." * 200,
    "q1", "c1\x00",
)  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "nonsense"}, {"page": "0"}, {"app": "\x00"}, {"app": "a/b"},
        *({"older": place} for place in STRANGE_PLACES),
    ],
)  # fmt: skip
def test_history_with_a_strange_filter_still_answers(owner, query):
    assert "History" in text(owner.get("/consent/history/", **query))


def test_history_is_paged(owner, person):
    for number in range(45):
        ReadFactory(export=ExportFactory(grant=GrantFactory(request__user=person)), at=now() - timedelta(hours=number))
    first = owner.get("/consent/history/", kind="reads")
    second = owner.get("/consent/history/", **dict(parse_qsl(first.context["older_url"].removeprefix("?"))))
    assert (text(first).count("event-title"), text(second).count("event-title")) == (25, 20)
    assert (first.context["newest_url"], second.context["newest_url"]) == ("", "?kind=reads")
    assert second.context["older_url"] == ""
    ends = "Each read is listed for 3 years, each look at what you could share for 2 years."
    assert (ends in text(first), ends in text(second)) == (False, True)


def test_history_is_verified_and_a_changed_entry_is_named(owner, person, consent_request):
    owner.client.post(f"/consent/requests/{consent_request.request_id}/deny/")
    assert "has 1 entry" in verified(owner)

    grant = GrantFactory(request__user=person)
    assert f"tells of none for {grant.app.name}" in verified(owner)
    for kind, holds in (("approved", True), ("revoked", False)):  # brought back after its end
        entered = {"grant_id": grant.grant_id, "grant": facts_of(grant).as_facts()}
        audit.append(
            chain=audit.person_chain(person.public_id), kind=kind, actor="person", at=grant.starts_at, facts=entered
        )
        assert ("tells of none" not in verified(owner)) is holds
    Grant.objects.filter(pk=grant.pk).update(status="revoked", ended_at=grant.starts_at, ended_by="person")
    assert "has 3 entries" in verified(owner)

    entry = AuditEntry.objects.of(f"person:{person.public_id}").latest("sequence")
    AuditEntryFactory(chain=entry.chain, sequence=4, prev_hash=entry.entry_hash, entry_hash="A" * 43)

    assert "Entry 4 of your history" in verified(owner)


def verified(owner):
    """What the page says without a script."""
    return owner.client.post("/consent/history/verify/", follow=True).content.decode()
