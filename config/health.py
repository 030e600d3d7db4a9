"""Whether this process lives, and whether it can do its work."""

from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts.database import database_now, missing_rules
from consent import audit
from consent.rules import RULES as CONSENT_RULES
from consent.states import Actor
from pkm.rules import RULES as PKM_RULES


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 where the database answers, is migrated, takes audit entries, and the broker can be reached; else 503."""
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


def _audit() -> bool:
    """The rules are there, and an entry can be written: it is taken back, nobody ever sees it."""
    if missing_rules(connection, [*CONSENT_RULES, *PKM_RULES]):
        return False
    with transaction.atomic():
        audit.append(chain="readyz", kind="ready", actor=Actor.SYSTEM.value, at=database_now(), facts={})
        transaction.set_rollback(True)
    return True


_CHECKS = {
    "database": lambda: connection.introspection.table_names() is not None,
    "migrations": _migrated,
    "audit": _audit,
    "broker": _broker,
}
