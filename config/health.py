"""Whether this process lives, and whether it can do its work."""

from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from accounts.database import missing_rules
from consent.rules import RULES as CONSENT_RULES
from pkm.rules import RULES as PKM_RULES


@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 where the database answers, is migrated, keeps its rules, and the broker can be reached; else 503."""
    checks = {name: _passes(check) for name, check in _CHECKS.items()}
    ready = all(checks.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", "checks": checks}, status=200 if ready else 503)


def _passes(check: Any) -> bool:
    try:
        return bool(check())
    except Exception:
        return False  # which part failed is told, why is in that part's own log


def _migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _broker() -> bool:
    if not settings.REDIS_URL:
        return True  # the embedded default's broker is a folder of this machine
    import redis

    return bool(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping())


_CHECKS = {
    "database": lambda: connection.introspection.table_names() is not None,
    "migrations": _migrated,
    "audit": lambda: not missing_rules(connection, [*CONSENT_RULES, *PKM_RULES]),
    "broker": _broker,
}
