"""`GET /consent-events`: the app's notices as server-sent events."""

import re
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.limits import Count, Limit
from common.operations import operation
from common.problems import FieldError, InvalidRequest, TemporarilyUnavailable, TooManyRequests
from consent.api.base import REQUEST, DeveloperView
from consent.notices import streams
from consent.notices.forgetting import forgotten_up_to
from consent.notices.long_polling import hub, most_of_app

_SOON = {"Retry-After": "1"}
_SEQUENCE = re.compile(r"[0-9]{1,15}\Z")


class OpenStreams(BaseThrottle):
    """How many answers of this process may be held for one app at a time."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if hub.has_ended():
            raise TemporarilyUnavailable("This process is about to end; open the stream again.", headers=_SOON)
        if hub.is_full(view.app.app_pk, is_live=view.app.is_live):
            raise TooManyRequests("Too many streams are open; poll instead.", headers={"Retry-After": "30"})
        return True


class ConsentEvents(DeveloperView):
    """What happens to this app's requests, as it happens; `Last-Event-ID` resumes without a gap."""

    throttle_classes = (OpenStreams,)
    needs = frozenset({"request", "read"})

    def note_limits(self) -> None:
        allowed = Limit("streams-and-waits", most_of_app(is_live=self.app.is_live), 0)
        self.note(Count(allowed, hub.waiters_of(self.app.app_pk), 0))

    @operation(
        name="streamConsentEvents",
        tag=REQUEST,
        summary="Everything that happens to your requests, as it happens",
        description="Server-sent events: `event: consent`, `id` your app's own sequence number, `data` the status body "
        "as it was then, as the schema `ConsentEvent` has them. What happened to a request is its `status`; what "
        "happened to an approval is `grant.status`: `released` and `superseded` both keep the request's `approved`. "
        "The field `type`, which readers of such events pass over, has the type of the webhook that tells the same. "
        "What agents do for your site comes in the same sequence, each under the name of its webhook's type, as "
        "`ProcessingNotice`. "
        "Send `Last-Event-ID` to resume without a gap; without it, the stream begins now. A comment comes every "
        "15 seconds. A stream ends after an hour, or when its token does.",
        parameters=[
            OpenApiParameter(
                "Last-Event-ID",
                {"type": "string", "pattern": "^[0-9]{0,15}$"},
                OpenApiParameter.HEADER,
                description="The last sequence number that you have seen; 0 for everything that is kept; empty as "
                "without it; 400 beyond your app's newest, and where events after it are no longer kept.",
            )
        ],
        stream="The events.",
        refusals=[TooManyRequests],
    )
    def get(self, request: HttpRequest) -> StreamingHttpResponse:
        newest = streams.newest_sequence(self.app.app_pk)
        last = request.META.get("HTTP_LAST_EVENT_ID")
        answer = StreamingHttpResponse(
            streams.stream(app=self.app, after=self._seen(last, newest) if last else newest),
            content_type="text/event-stream",
        )
        answer["X-Accel-Buffering"] = "no"  # a proxy that gathers the answer would hold the events back
        return answer

    def _seen(self, last: str, newest: int) -> int:
        """The event that the stream goes on after; of an unknown or too old one, others would be passed over."""
        if not _SEQUENCE.match(last):
            raise _unfit("send the id of an event", "Last-Event-ID does not fit.")
        after, forgotten = int(last), forgotten_up_to(self.app.app_pk)
        if 0 < after < forgotten:
            reason = f"events of your app up to {forgotten} are no longer kept"
            raise _unfit(
                reason,
                f"The stream cannot go on after this Last-Event-ID: {reason}. Send 0 for all that is kept: the newest "
                "event of each request, and every one since.",
            )
        if after > newest or (after > forgotten and not streams.knows(self.app.app_pk, after)):
            reason = f"your app's newest event is {newest}"
            raise _unfit(
                reason, f"No event has this Last-Event-ID: {reason}. Send an id that you got here, or 0 for all."
            )
        return after


def _unfit(message: str, detail: str) -> InvalidRequest:
    error: FieldError = {"field": "Last-Event-ID", "code": "unknown", "message": message}
    return InvalidRequest(detail, errors=[error])
