"""What a signed-in person's own addresses of this room have in common."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from common.limits import Count, headers
from common.problems import InvalidRequest


class SmallOwnerView(OwnerView):
    """A signed-in person's own address for small bodies."""

    body_limit = settings.BODY_LIMIT


class QuerylessOwnerView(SmallOwnerView):
    """The same, for addresses that say so where anything stands in the query, before they look at the body."""

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if request.query_params:
            raise InvalidRequest("This address takes no query.")


class LimitedPost(SmallOwnerView):
    """To be named before the view whose `POST` is limited: only who was let in is told where the limit stands."""

    let_in = False

    def counts(self) -> Sequence[Count]:
        """Where this person stands, and the app whose token asks."""
        raise NotImplementedError

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        self.let_in = True

    def limit_headers(self, status: int) -> Mapping[str, str]:
        if self.let_in and self.request.method == "POST" and status < 500:
            return headers(self.counts())
        return {}
