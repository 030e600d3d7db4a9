"""Who may see what a person keeps, and who asked to, for the cards of "My data"; two queries and the clock."""

from typing import TYPE_CHECKING

import pkm.scopes
from common.clock import database_now
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.hooks import Audience

if TYPE_CHECKING:
    from accounts.models import User


def audience_of(user: "User") -> dict[str, Audience]:
    """Domain → the names of apps, each once: live grants that are not paused, and requests that wait."""
    now = database_now()
    found: dict[str, Audience] = {}
    grants = Grant.objects.filter(user=user).live(now).active().order_by("app__name")
    for paths, name in grants.values_list("approved_attributes", "app__name"):
        for domain in _domains(paths):
            _once(found.setdefault(domain, Audience()).may_see, name)
    requests = ConsentRequest.objects.filter(user=user).pending(now).order_by("app_name")
    for paths, scope, name in requests.values_list("attributes", "scope", "app_name"):
        for domain in _domains(paths) or _domain_of(scope):
            _once(found.setdefault(domain, Audience()).asked, name)
    return found


def _domains(paths: list[str]) -> set[str]:
    return {path.partition(".")[0] for path in paths}


def _domain_of(scope: str) -> set[str]:
    """For a scope without attributes of its own."""
    parsed = pkm.scopes.parse(scope)
    return {parsed.domain} if parsed is not None and parsed.domain is not None else set()


def _once(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)
