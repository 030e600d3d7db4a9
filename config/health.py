"""Liveness and readiness of this process."""

import threading
from concurrent.futures import Future

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common.problems import TemporarilyUnavailable
from config import probes

# Without these nothing can be answered. Without the broker reads and decisions go on, and what waits for the worker is
# found in its rows as soon as it is back. Without the audit nobody reads, and everybody can stop.
_NEEDED = ("database", "migrations", "rules")

# what people are told of the rest: worker, timer and broker are one thing to them
_LATE = {
    "worker": _("Mails, alerts and analyses come later than usual."),
    "timer": _("Mails, alerts and analyses come later than usual."),
    "broker": _("Mails, alerts and analyses come later than usual."),
    "log": _("The public log shows new entries later than usual."),
    "audit": _("What happens cannot be written down now. So apps can read nothing, and you can approve nothing."),
}


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


@csrf_exempt  # so that another method is 405 and not a missing token: nothing is taken here
@require_safe
def status_page(request: HttpRequest) -> HttpResponse:
    """The same for people: whether all is well, and what is late, without a name of any part."""
    checks = _shared.probe()
    if not all(checks[name] for name in _NEEDED):
        raise TemporarilyUnavailable(headers={"Retry-After": "5"})
    late = dict.fromkeys(str(words) for name, words in _LATE.items() if not checks[name])
    return render(request, "docs/status.html", {"late": list(late)})


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
