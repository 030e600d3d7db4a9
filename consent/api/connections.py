"""`/connections`: an app lets somebody connect with it (contract 6)."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from rest_framework.request import Request

from common.admission.schemas import Nothing
from common.clock import rfc3339
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from common.problems import TooManyRequests
from consent import errors, shapes
from consent.api.base import CONNECT, DeveloperView
from consent.api.polling import pace, peek
from consent.connections import actions, queries
from consent.notices import long_polling
from consent.schemas import SPECIAL, CompleteBody, ConnectionBody, WaitQuery
from consent.states import Actor, ConnectionStatus
from consent.status import INTERVAL
from developers.permissions import require_permission

_ID = path_parameter("id", "The `connection_id`.", shapes.EXAMPLE_CONNECTION_ID)
_NAME = path_parameter(
    "id", "The person's `user_id`, or the sharing ID that they gave your app.", shapes.EXAMPLE_USER_ID
)


class Connections(DeveloperView):
    """Begin a connection."""

    needs = frozenset({"request", "discover"})

    def note_limits(self) -> None:
        if not self.limits:
            self.note(actions.begun(app_pk=self.app.app_pk))

    @operation(
        name="beginConnection",
        tag=CONNECT,
        summary="Let somebody connect with your app",
        description="Nothing has to be known of the person. With a `return_url` send them to `connect_url`, from the "
        "very browser session that asked for it: they sign in or up, see who asks, connect or decline, decide on the "
        "request that rides along, and come back to your `return_url` with `connection_id`, `status` and, where they "
        "connected, a one-time `connection_code`. Without one show `code` and `code_url`. At most 600 an hour.",
        body=ConnectionBody,
        answers={201: shapes.MadeConnection},
        refusals=[
            errors.UnknownUser,
            errors.InvalidReturnUrl,
            errors.OneScopePerRequest,
            errors.ConnectorKeyRequired,
            errors.InvalidConnectorKey,
            errors.UnsupportedWrappingAlgorithm,
            errors.InvalidScope,
            TooManyRequests,
        ],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        made, code, count = actions.begin(app=self.app, body=self.body(ConnectionBody, special=SPECIAL))
        self.note(count)
        link = f"{settings.ISSUER}{reverse('consent:connection', args=[made.connection_id])}"
        answer: shapes.MadeConnection = {
            "connection_id": made.connection_id,
            "connect_url": link if made.return_url else None,
            "code": code,
            "code_url": f"{settings.ISSUER}{reverse('consent:connect')}",
            "expires_at": rfc3339(made.expires_at),
            "expires_in": int(actions.LIFETIME.total_seconds()),
            "interval": INTERVAL,
        }
        return json_answer(answer, status=201)


class Connection(DeveloperView):
    """Where a connection stands; and its end, for which the person is named and the token has to let the app ask."""

    needs = frozenset({"request", "discover"})
    takes_query = True

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return "Needs the permission `request`." if method == "DELETE" else super().who_may_call(method)

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if request.method == "DELETE":  # it ends what may be read, as ending a consent does
            require_permission(self.app, frozenset({"request"}), path=request.path)

    def note_limits(self) -> None:
        if self.request.method == "GET" and not self.limits:
            self.note(peek(self.app.app_pk, self.kwargs["id"][:64]))

    @operation(
        name="getConnection",
        tag=CONNECT,
        summary="Where a connection stands",
        description="With `wait` the answer is held until somebody has answered. One with a `return_url` is `pending`, "
        "without IDs, until you have completed it. Polling without `wait` is paced.",
        parameters=[_ID],
        query=WaitQuery,
        answers={200: shapes.Connection},
        refusals=[errors.UnknownConnection, errors.SlowDown],
    )
    def get(self, request: HttpRequest, id: str) -> HttpResponse:  # as the address names it
        seconds, app_pk = self.query(WaitQuery).wait, self.app.app_pk
        if not seconds or long_polling.hub.is_full(app_pk, is_live=self.app.is_live):
            self.note(pace(app_pk, id[:64]))
        found = queries.for_app(app_pk=app_pk, connection_id=id)
        if seconds and found["status"] == ConnectionStatus.PENDING:
            found = long_polling.wait_while_pending(
                lambda: queries.for_app(app_pk=app_pk, connection_id=id),
                topic=f"app:{app_pk}",
                app=self.app,
                seconds=seconds,
            )
        return json_answer(found)

    @operation(
        name="endConnection",
        tag=CONNECT,
        summary="Forget a person",
        description="What waits for them is cancelled, what you may read ends as `released`, and your `user_id` names "
        "nobody until they connect or invite your app again.",
        parameters=[_NAME],
        answers={204: None},
        refusals=[errors.UnknownUser],
    )
    def delete(self, request: HttpRequest, id: str) -> HttpResponse:
        self.body(Nothing)
        user = queries.person_of_app(app_pk=self.app.app_pk, user_id=id)
        actions.disconnect(app_pk=self.app.app_pk, user=user, actor=Actor.APP)
        return HttpResponse(status=204)


class Completion(DeveloperView):
    """The app shows the code of the return."""

    needs = frozenset({"request", "discover"})

    @operation(
        name="completeConnection",
        tag=CONNECT,
        summary="Complete a connection",
        description="With the code that came back to your `return_url`, within ten minutes, and only where the browser "
        "session is the one that began: somebody may have sent the link to another person. Without it what was given "
        "ends.",
        parameters=[_ID],
        body=CompleteBody,
        answers={200: shapes.Connection},
        example={"status": "connected", "refusal": None},
        refusals=[errors.UnknownConnection, errors.InvalidConnectionCode],
    )
    def post(self, request: HttpRequest, id: str) -> HttpResponse:
        code = self.body(CompleteBody).connection_code
        actions.complete(app_pk=self.app.app_pk, connection_id=queries.readable(id), code=code)
        return json_answer(queries.for_app(app_pk=self.app.app_pk, connection_id=id))
