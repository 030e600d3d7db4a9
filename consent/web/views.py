"""The consent app's pages. All of them work without JavaScript, but for approving: only the browser can seal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button
from accounts.models import Persona
from accounts.personas import side_of
from accounts.sign_in.confirming import signed_in_recently
from accounts.zones import browser_zone
from common.clock import database_now
from common.durations import duration
from common.problems import Problem
from consent.decisions import actions as decision_actions
from consent.decisions import queries as decision_queries
from consent.decisions.sensitivity import tier_of
from consent.errors import AlreadyDecided, AuditUnavailable, MoveNotAllowed, RequestExpired
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import queries as ledger_queries
from consent.log import keys as log_keys
from consent.log.published import is_confirmed
from consent.requests.models import ConsentRequest, RefreshPolicy
from consent.requests.named_keys import is_of_nobody
from consent.requests.return_addresses import is_still_registered
from consent.requests.vouching import vouching_of
from consent.states import RequestStatus
from consent.web import history as web_history
from consent.web import history_links, inbox
from consent.web import queries as web_queries
from consent.web.cautions import cautions_of
from consent.web.entering import to_enter
from consent.web.forms import DenyForm, HistoryFilter, duration_choices
from consent.web.overview import overview as shown_overview
from consent.web.sharing import app_of_grant
from developers.apps.models import AppStatus
from pkm.registry import labels
from pkm.registry.models import SensitivityTier
from pkm.vault import queries as vault_queries


@dataclass(frozen=True)
class Before:
    """The newest approval of the same scope for the same app; `live` where approving again would replace it."""

    grant: Grant
    live: bool
    changes: list[str]


def before_of(consent_request: ConsentRequest) -> Before | None:
    """None where the person never approved this scope for this app."""
    grant = decision_queries.grant_before(consent_request)
    if grant is None:
        return None
    return Before(grant, grant.is_live(database_now()), list(_changes(consent_request, grant.request)))


def _changes(consent_request: ConsentRequest, then: ConsentRequest) -> list[str]:
    changes = []
    if consent_request.purpose != then.purpose:
        changes.append(gettext("The purpose changed. Before, it was: “%(words)s”") % {"words": then.purpose})
    if consent_request.access_duration != then.access_duration:
        changes.append(
            gettext("They ask for %(now)s; before, they asked for %(then)s.")
            % {"now": duration(consent_request.access_duration), "then": duration(then.access_duration)}
        )
    if consent_request.max_reads != then.max_reads:
        changes.append(
            gettext("How often it may be read changed: %(now)s. Before: %(then)s.")
            % {"now": _reads(consent_request.max_reads), "then": _reads(then.max_reads)}
        )
    if consent_request.refresh_policy != then.refresh_policy:
        changes.append(
            gettext("Now they want your later changes too; before, they got the values as they were.")
            if consent_request.refresh_policy == RefreshPolicy.CONTINUOUS
            else gettext("Now they want the values as they are; before, they got your later changes too.")
        )
    return changes


def _reads(most: int | None) -> str:
    if most is None:
        return gettext("without a limit")
    return ngettext("%(n)d read", "%(n)d reads", most) % {"n": most}


LONG_LIST = 5  # so many to choose from, and a tap for all of them is worth its room
LONG_PURPOSE = 120  # characters: longer ones are cut on the first screen of a phone and stand whole below


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is; somebody who is signed in goes on to the side that they opened last."""
    if not request.user.is_authenticated:
        return render(request, "home.html")
    is_developer = side_of(person_of(request)) == Persona.DEVELOPER
    return redirect("portal:home" if is_developer else "consent:overview")


@signed_in_page
def overview(request: HttpRequest) -> HttpResponse:
    """Where a person comes after signing in."""
    return render(request, "consent/overview.html", shown_overview(person_of(request)))


@signed_in_page
def review(request: HttpRequest, request_id: str) -> HttpResponse:
    """One decision, or what became of it."""
    consent_request = web_queries.own_request(person_of(request), request_id)
    now = database_now()
    status = consent_request.status_at(now)
    if status is not RequestStatus.PENDING:
        return render(request, "consent/decided.html", _decided(consent_request, status))
    return render(request, "consent/review.html", _review(request, consent_request))


def _review(request: HttpRequest, consent_request: ConsentRequest, deny_form: DenyForm | None = None) -> dict[str, Any]:
    user, before, tier = person_of(request), before_of(consent_request), tier_of(consent_request)
    first_time = decision_queries.is_first_time_app(consent_request)
    groups = web_queries.requested_groups(consent_request, user, before.grant if before else None)
    rows = [row for group in groups for row in group.rows]
    back, vault_kinds = urlencode({"next": request.path}), vault_queries.kinds_of(user)
    has_vault = bool(vault_kinds)  # the last way to open one cannot be removed
    enter = to_enter(consent_request, rows, user, has_vault=has_vault)
    return {
        "consent_request": consent_request,
        "verb": labels.verb_phrase(consent_request.scope_entry),
        "title": f"{consent_request.app_name} {labels.verb_phrase(consent_request.scope_entry)}",
        "queue": web_queries.queue_of(user, consent_request.request_id),
        "before": before,
        "groups": groups,
        **_choices(rows, before, web_queries.answers_about(consent_request, rows, first_time=first_time)),
        **_warnings(consent_request, before, tier, first_time=first_time),
        "until": database_now() + timedelta(seconds=consent_request.access_duration),
        "durations": duration_choices(consent_request.access_duration),
        "further_terms": web_queries.further_terms(consent_request),
        "has_long_purpose": len(consent_request.purpose) > LONG_PURPOSE,
        "has_vault": has_vault,
        "enter": enter,
        # the vault that is made with it needs it
        "confirm_before_vault": bool(enter.get("person")) and not signed_in_recently(request),
        "vault_kinds": vault_kinds,
        "needs_fresh_sign_in": tier == SensitivityTier.RESTRICTED and not signed_in_recently(request),
        "reauthenticate_url": f"{reverse('account_reauthenticate')}?{back}",
        "suspended": consent_request.app.status != AppStatus.ACTIVE,
        "deny_form": deny_form or DenyForm(),
    }


def _choices(
    rows: Sequence[web_queries.RequestedAttribute], before: Before | None, answers: list[labels.Attribute]
) -> dict[str, Any]:
    """What of the attributes in the request can be ticked, is ticked, and is missing."""
    return {
        "requested": len(rows),
        "ticked": sum(row.ticked for row in rows),
        "is_long": sum(row.is_stored and not row.required for row in rows) >= LONG_LIST,
        "words": {
            **{one.path: _word(one, is_answer=True) for one in answers},
            **{row.attribute.path: _word(row.attribute, is_answer=row.is_answer) for row in rows},
        },
        "missing": [row.attribute.label for row in rows if row.required and not row.is_stored],
        "nothing_stored": not any(row.is_stored for row in rows),
        "gone": _gone(before, {one.path for row in rows for one in (row.attribute, *row.coarser)}),
    }


def _word(attribute: labels.Attribute, *, is_answer: bool) -> dict[str, Any]:
    """How the script shows its value; an answer that the rule cannot give says so."""
    return {**attribute.word, "options": {"cannot_say": gettext("cannot say")}} if is_answer else attribute.word


def _warnings(consent_request: ConsentRequest, before: Before | None, tier: str, *, first_time: bool) -> dict[str, Any]:
    """The cautions, the gravest first, and what an app whose key nobody vouches for may not have."""
    vouching = vouching_of(consent_request)
    cautions = cautions_of(
        consent_request,
        first_time=first_time,
        new_key=not first_time and not decision_queries.is_known_connector(consent_request),
        beyond_registered=web_queries.is_beyond_registered(consent_request),
        tier=tier,
        unvouched=vouching.is_missing,
        replaced_at=inbox.replaced_at(consent_request),
    )
    return {
        "cautions": cautions,
        "gravest": cautions[0].tone if cautions else "info",
        "to_look_at": len(cautions) + (before is not None),
        "vouching": vouching,
        "is_of_nobody": is_of_nobody(consent_request),
        "cannot_vouch": vouching.is_missing and tier == SensitivityTier.RESTRICTED,
        "confirms_twice": vouching.is_missing and tier == SensitivityTier.CONFIDENTIAL,
    }


def _gone(before: Before | None, paths: set[str]) -> list[str]:
    """What was shared and would no longer be, were this approved."""
    lost = [path for path in before.grant.approved_attributes if path not in paths] if before is not None else []
    return [attribute.label for group in labels.described(lost) for attribute in group.attributes]


def _decided(consent_request: ConsentRequest, status: RequestStatus) -> dict[str, Any]:
    grant = web_queries.grant_of(consent_request)
    now = database_now()
    return {
        "consent_request": consent_request,
        "status": status.value,
        "scope_label": labels.translated(consent_request.scope_entry.scope_label),
        "next_request": web_queries.queue_of(consent_request.user, consent_request.request_id).next,
        "grant": grant,
        "grant_status": grant.status_at(now).value if grant else None,
        "groups": labels.described(grant.approved_attributes) if grant else [],
        "duration": duration(int((grant.expires_at - grant.starts_at).total_seconds())) if grant else "",
        "replaced_by": inbox.replaced_by(consent_request),
        **web_queries.proof_of(consent_request),
        "returns": bool(consent_request.return_url)
        and is_still_registered(consent_request.return_url or "", consent_request.app),
    }


@page_button(_("Deny"), DenyForm)
def deny(request: HttpRequest, request_id: str) -> HttpResponse:
    """Refuse without a script; the page that follows says what happened."""
    form = DenyForm(request.POST)
    try:
        if form.is_valid():
            decision_actions.deny(request_id=request_id, by=person_of(request), reason=form.cleaned_data["reason"])
        else:
            consent_request = web_queries.own_request(person_of(request), request_id)
            if consent_request.status_at(database_now()) is RequestStatus.PENDING:
                # nothing is decided, and nothing of the note is lost
                return render(request, "consent/review.html", _review(request, consent_request, form), status=400)
    except AlreadyDecided:
        messages.info(request, gettext("This request was decided already. Nothing was changed now."))
    except RequestExpired:
        messages.info(request, gettext("This request had expired before. Nothing was shared."))
    return redirect("consent:review", request_id)


def _move(request: HttpRequest, grant_id: str, move: Any, done: str, done_unwritten: str = "") -> HttpResponse:
    app_id = app_of_grant(person_of(request), grant_id)
    if app_id is None:
        raise Http404
    try:
        request_id = move(grant_id=grant_id, by=person_of(request))
    except MoveNotAllowed:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    except AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
    except Problem as problem:
        messages.error(request, str(problem.title))
    else:
        follows = done_unwritten and ledger_queries.entry_follows(user=person_of(request), request_id=request_id)
        messages.success(request, done_unwritten if follows else done)
    return redirect("consent:app", app_id)


@page_button(_("Stop sharing"), danger=True)
def stop(request: HttpRequest, grant_id: str) -> HttpResponse:
    done = gettext("Sharing has stopped. Nothing more can be read. What the app already took cannot be recalled.")
    unwritten = gettext("Sharing has stopped. The entry in your history will follow.")
    return _move(request, grant_id, grant_actions.revoke, done, unwritten)


@page_button(_("Pause"))
def pause(request: HttpRequest, grant_id: str) -> HttpResponse:
    done = gettext("Paused. Nothing can be read until you resume.")
    unwritten = gettext("Paused. Nothing can be read until you resume. The entry in your history will follow.")
    return _move(request, grant_id, grant_actions.pause, done, unwritten)


@signed_in_page
def history(request: HttpRequest) -> HttpResponse:
    user, form, now = person_of(request), HistoryFilter(request.GET), database_now()
    chosen = form.chosen(browser_zone(request))
    apps = web_history.apps_of(user)
    page = web_history.history(user, chosen=chosen, older=form.older_than(), names=dict(apps))
    reads_for, lookups_for = web_history.listed_for()
    shown = {
        "page": page,
        "following": ledger_queries.count_entries_that_follow(user),
        "witnesses": log_keys.counted_witnesses(),
        "apps": apps,
        "reads_for": reads_for,
        "looks_for": lookups_for,
        "running": web_history.running_grants(user, now),
    }
    return render(request, "consent/history.html", shown | history_links.links(user, chosen, page, now))


@page_button(_("Check this history"))
def verify_history(request: HttpRequest) -> HttpResponse:
    """Recompute the person's chain, entry by entry, and say whether it holds."""
    count, broken = web_history.checked_chain(person_of(request))
    if broken is not None:
        messages.error(
            request,
            gettext("Entry %(n)d of your history is not what was written. Tell us: this must not happen.")
            % {"n": broken.sequence},
        )
    elif unapproved := web_history.unapproved(person_of(request)):
        words = gettext(
            "Somebody reads your data without your approval: your history tells of none for %(apps)s. "
            "Stop it, and tell us."
        )
        messages.error(request, words % {"apps": ", ".join(unapproved)})
    else:
        words = ngettext(
            "Your history has %(n)d entry, and it is as it was written.",
            "Your history has %(n)d entries, and all of them are as they were written.",
            count,
        )
        if is_confirmed():
            messages.success(request, words % {"n": count})
        else:
            messages.warning(request, gettext("Not confirmed by others") + ". " + words % {"n": count})
    return redirect("consent:history")
