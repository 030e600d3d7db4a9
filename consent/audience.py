"""Who may see what a person keeps, and who asked to, for the cards of "My data"; two queries and the clock."""

from django.urls import reverse

import pkm.scopes
from accounts.models import User
from common.clock import database_now
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.hooks import Audience, Concerned

_APP = ("app_id", "app__logo_digest")


def audience_of(user: User, **_: object) -> dict[str, Audience]:
    """Domain → the apps, each once: those of live grants that are not paused, and of requests that wait."""
    now = database_now()
    found: dict[str, Audience] = {}
    seen = set[tuple[str, int, str]]()

    def add(kind: str, domains: set[str], app_pk: int, app: Concerned) -> None:
        for domain in domains:
            if (domain, app_pk, kind) not in seen:
                seen.add((domain, app_pk, kind))
                getattr(found.setdefault(domain, Audience()), kind).append(app)

    grants = Grant.objects.filter(user=user).live(now).active().order_by("app__name")
    for paths, name, public_id, pk, logo in grants.values_list(
        "approved_attributes", "app__name", "app__app_id", *_APP
    ):
        add("may_see", _domains(paths), pk, Concerned(name, logo, reverse("consent:app", args=[public_id])))
    requests = ConsentRequest.objects.filter(user=user).pending(now).order_by("app_name", "-pk")
    for paths, scope, name, request_id, pk, logo in requests.values_list(
        "attributes", "scope", "app_name", "request_id", *_APP
    ):
        address = reverse("consent:review", args=[request_id])
        add("requesters", _domains(paths) or _domain_of(scope), pk, Concerned(name, logo, address))
    return found


def _domains(paths: list[str]) -> set[str]:
    return {path.partition(".")[0] for path in paths}


def _domain_of(scope: str) -> set[str]:
    """For a scope without attributes of its own."""
    parsed = pkm.scopes.parse(scope)
    return {parsed.domain} if parsed is not None and parsed.domain is not None else set()
