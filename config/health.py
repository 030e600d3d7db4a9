"""Liveness and readiness of this process."""

import threading
from concurrent.futures import Future

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from config import probes

# Without these nothing can be answered. Without the broker reads and decisions go on, and what waits for the worker is
# found in its rows as soon as it is back. Without the audit nobody reads, and everybody can stop.
_NEEDED = ("database", "migrations", "rules")


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Within a second: 200 where the database answers, is migrated and has its rules; else 503.

    `degraded` names what is away and can be done without, such as the worker. An audit that takes no entries is that:
    a process that is taken out of service for it could let nobody stop what they share any more (decision 0016).
    """
    checks = _shared.probe()
    ready = all(checks[name] for name in _NEEDED)
    degraded = [name for name, passes in checks.items() if not passes and name not in _NEEDED]
    body = {"status": "ok" if ready else "unavailable", "checks": checks, "degraded": degraded}
    return JsonResponse(body, status=200 if ready else 503, headers={} if ready else {"Retry-After": "5"})


class _SharedProbe:
    """One run of the probes at a time, shared by all who ask meanwhile: anybody may ask, and each run connects anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Future[probes.Found] | None = None

    def probe(self) -> probes.Found:
        with self._lock:
            shared, mine = self._under_way, Future[probes.Found]()
            if shared is None:
                self._under_way = mine
        if shared is not None:
            return shared.result()
        try:
            mine.set_result(probes.probe())
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                self._under_way = None
        return mine.result()


_shared = _SharedProbe()
