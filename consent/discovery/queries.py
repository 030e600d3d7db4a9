"""What an app could ask a person for, and the catalogue of all scopes. Nothing here writes."""

from typing import Any

import orjson
from django.db import DatabaseError, InterfaceError, OperationalError

from common.problems import InvalidRequest
from consent import status
from consent.discovery.person_read import PersonRead, reading_registry
from consent.errors import ScopeRegistryUnavailable
from consent.schemas import LONGEST_ACCESS, SHORTEST_ACCESS, USUAL_ACCESS, ScopesQuery
from consent.shapes import Runtime, UserScopes
from pkm.registry.copy import Entry, RegistryCopy, current_version
from pkm.sealed import CONNECTOR_CURVES, EXPORT_ALG

ALL_SCOPES = ScopesQuery()


def user_scopes(person: PersonRead, wanted: ScopesQuery) -> UserScopes:
    """The body of contract 1.2, from the process's copy of the registry; of the scopes that are wanted alone."""
    registry = _registry(person.registry_version)
    found = registry.discovered_for(person.holdings, person.hidden)
    domains, further = found.domains, dict[str, Any]()
    if wanted != ALL_SCOPES:
        chosen = [entry for scope in found.scopes if wanted.selects((entry := registry.by_scope[scope]).body)]
        page, further = _page(registry, chosen, wanted)
        domains, found = registry.only(chosen).domains, registry.only(page)
    scopes: UserScopes = {
        "available_domains": list(domains),
        "scopes": list(found.scopes),
        "scope_entries": found.bodies,  # type: ignore[typeddict-item]  # a list of them, in JSON already
        "runtime": _runtime(can_approve=person.vault_status in ("active", "rotating")),
    }
    if further:
        scopes["next_cursor"] = further["next_cursor"]
    return scopes if person.pairwise_id is None else {"user_id": person.pairwise_id, **scopes}


def _runtime(*, can_approve: bool) -> Runtime:
    return {
        "can_approve": can_approve,
        "wrapping_algorithms": [EXPORT_ALG],
        "connector_curves": list(CONNECTOR_CURVES),
        "refresh_policies": ["snapshot", "continuous"],
        "access_duration": {"default": USUAL_ACCESS, "min": SHORTEST_ACCESS, "max": LONGEST_ACCESS},
        "interval": status.INTERVAL,
    }


def scope_catalog(wanted: ScopesQuery = ALL_SCOPES) -> bytes:
    """The deployment's exposable entries; those that are wanted alone."""
    try:
        with reading_registry():
            registry = _registry(current_version())
        if wanted == ALL_SCOPES:
            return registry.catalog
        chosen = [entry for entry in registry.entries if wanted.selects(entry.body)]
        page, further = _page(registry, chosen, wanted)
        return orjson.dumps({"scope_entries": [entry.body for entry in page], **further})
    except (OperationalError, InterfaceError, InvalidRequest):
        raise
    except Exception as error:  # a registry without its version row is as unreadable as a broken one
        raise ScopeRegistryUnavailable() from error


def _page(registry: RegistryCopy, chosen: list[Entry], wanted: ScopesQuery) -> tuple[list[Entry], dict[str, Any]]:
    """Those after the cursor, which is the last scope of the page before, and what is said of the next page."""
    if wanted.cursor is not None:
        if wanted.cursor not in registry.by_scope:
            raise InvalidRequest("cursor is the `next_cursor` of a page.")
        places = {entry.body["scope"]: place for place, entry in enumerate(registry.entries)}
        chosen = [entry for entry in chosen if places[entry.body["scope"]] > places[wanted.cursor]]
    if wanted.limit is None:
        return chosen, {}
    page = chosen[: wanted.limit]
    return page, {"next_cursor": page[-1].body["scope"] if len(chosen) > len(page) else None}


def _registry(version: str) -> RegistryCopy:
    try:
        with reading_registry():
            return RegistryCopy.for_version(version)
    except (OperationalError, InterfaceError):
        raise  # the database is away: temporarily_unavailable
    except (DatabaseError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScopeRegistryUnavailable() from error
