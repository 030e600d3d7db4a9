"""`POST /leaked-tokens`: whoever finds a token where it does not belong ends it here (contract 5.1)."""

import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.json_bodies import json_answer
from common.limits import Count, Limit, count, headers
from common.network import client_address, network_of
from common.operations import operation
from common.problems import TooManyRequests
from consent.api.base import PROTECT, PublicView
from consent.schemas import LeakedTokenBody
from consent.shapes import LeakReported
from developers.tokens.leaks import report_leak

_HOUR = 3600
_ANSWERS_AFTER = 0.1  # seconds: what a real token takes longer than an unknown one is not to be told by the clock


class Reports(BaseThrottle):
    """How many reports one network may send."""

    def allow_request(self, request: Request, view: Any) -> bool:
        view.count = found = _counted(request, amount=1)
        if found is not None:
            found.require(TooManyRequests)
        return True


class LeakedTokens(PublicView):
    """The same answer, after the same time, for every text. Programs and web pages alike may report."""

    throttle_classes = (Reports,)
    count: Count | None = None

    def limit_headers(self, status: int) -> Mapping[str, str]:
        found = self.count or (_counted(self.request, amount=0) if status < 500 else None)
        return headers([found] if found else [])

    @operation(
        name="reportLeakedToken",
        tag=PROTECT,
        summary="End a token that leaked",
        description="For anybody who found a developer token or a management token where it does not belong, scanners "
        "of public code too. Open to all, without a token. A real one is revoked at once and its owners are told by "
        "mail; the answer is always the same.",
        body=LeakedTokenBody,
        answers={202: LeakReported},
        refusals=[TooManyRequests],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        began = time.monotonic()
        report_leak(token=self.body(LeakedTokenBody).token)
        time.sleep(max(0.0, _ANSWERS_AFTER - (time.monotonic() - began)))
        nothing: LeakReported = {}
        return json_answer(nothing, status=202)


def _counted(request: HttpRequest | Request, *, amount: int) -> Count | None:
    """Where the caller's network stands; None for a socket without an address, which tells nobody apart."""
    network = network_of(client_address(request))
    limit = Limit("leaked-tokens", settings.LEAKED_TOKENS_PER_HOUR, _HOUR)
    return count(limit, network, amount=amount) if network else None
