"""The views of the management addresses (contract 5.1): a token that may be good here, and the app it is about.

An address of one app has its `app_id` in the path. A view takes the membership of the token's person from
`self.member()`, which answers 404 where there is none; what acts says `by=self.manager.user`.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar, cast

from django.conf import settings
from django.db.models import Model, QuerySet
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from common.admission.cursors import cursor_of, position_of
from common.admission.schemas import PageQuery
from common.identifiers import is_identifier
from common.limits import Count, Limit, count, headers, peek
from common.operations import Refusal, path_parameter
from common.problems import NotFound, TooManyRequests
from developers.errors import InsufficientScope
from developers.manage.authentication import ManagementTokenHeader, Manager
from developers.members.errors import OwnerRequired
from developers.members.models import AppMember, MemberRole
from developers.program_views import ServerView

Row = TypeVar("Row", bound=Model)

READ, WRITE = "read", "write"
EXAMPLE_APP_ID = "app_o7w3vq5d2ykx6bq4m2nrzj5cfe"
APP_ID = path_parameter("app_id", "The app.", EXAMPLE_APP_ID)


class Page(TypedDict):
    items: list[Any]
    next_cursor: str | None


class TokenManages(BasePermission):
    """The token carries `read` for what looks and `write` for what changes, for the app in the path."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        managed = cast("ManagementView", view)
        managed.manager.require(managed.permission, managed.permission_for())
        return True


class ManagementCalls(BaseThrottle):
    """How many calls the tokens of one person may make."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        managed = cast("ManagementView", view)
        managed.calls = count(_limit(), managed.manager.user.public_id)  # what is refused counts too
        managed.calls.require(TooManyRequests)
        return True


def _limit() -> Limit:
    """Of one person, with all their tokens together (contract 1.3)."""
    return Limit("management-calls", settings.MANAGEMENT_CALLS_PER_HOUR, 3600)


class ManagementView(ServerView):
    """An address that a program calls with a personal management token; `self.manager` is who calls."""

    authentication_classes = (ManagementTokenHeader,)
    permission_classes = (TokenManages,)
    throttle_classes = (ManagementCalls,)
    manager: Manager
    calls: Count | None = None  # where the person stands, once this call was counted
    tag = "5. Manage"
    path_parameters = [APP_ID]
    about = "the app"  # what the token needs its permission for, in words

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        found = super().common_refusals(method, path, takes_body=takes_body)
        return [*found, TooManyRequests, InsufficientScope]

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return f"Needs the permission `{READ if method == 'GET' else WRITE}` for {cls.about}, in a management token."

    def perform_authentication(self, request: Request) -> None:
        super().perform_authentication(request)
        self.manager = cast("Manager", request.auth)

    def limit_headers(self, status: int) -> Mapping[str, str]:
        if not hasattr(self, "manager") or status >= 500:
            return {}
        return headers([self.calls or peek(_limit(), self.manager.user.public_id)])

    @property
    def permission(self) -> str:
        """What the token needs for this call."""
        return READ if self.request.method == "GET" else WRITE

    def permission_for(self) -> str | None:
        """The `app_id` that the token needs it for, `*` for every app of the person, or None for any of them."""
        return cast("str | None", self.kwargs.get("app_id"))

    def memberships(self) -> QuerySet[AppMember]:
        """The person's memberships in those apps that the token has the permission of this call for."""
        found = AppMember.objects.select_related("app__application", "user").filter(user=self.manager.user)
        app_ids = self.manager.app_ids(self.permission)
        return found if app_ids is None else found.filter(app__app_id__in=app_ids)

    def member(self, *, owner: bool = False) -> AppMember:
        """The person's membership of the app in the path, with the app.

        Raises `NotFound` where there is no such app or they have no part in it, `OwnerRequired` where `owner` says that
        only owners may and they are none.
        """
        app_id = self.kwargs["app_id"]
        found = self.memberships().filter(app__app_id=app_id).first() if is_identifier(app_id) else None
        if found is None:
            raise NotFound("There is no such app, or it is not yours.")
        if owner and found.role != MemberRole.OWNER:
            raise OwnerRequired()
        return found

    def page(self, rows: QuerySet[Row], body: Callable[[Row], Any]) -> Page:
        """The page of `rows` that the query asks for, newest first, each as `body` makes it. Needs `takes_query`."""
        query = self.query(PageQuery)
        if query.cursor is not None:
            rows = rows.filter(pk__lt=position_of(query.cursor))
        found = list(rows.order_by("-pk")[: query.limit + 1])
        shown = found[: query.limit]
        following = cursor_of(shown[-1].pk) if len(found) > query.limit else None
        return {"items": [body(row) for row in shown], "next_cursor": following}
