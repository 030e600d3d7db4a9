"""What a signed-in person's own addresses of this room have in common."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from rest_framework.request import Request

from accounts.owner_api import OwnerView
from agents_proxy.errors import UnknownAgent
from common.limits import Count, headers
from common.operations import Refusal
from common.problems import InvalidRequest

# where the documentation lists an operation
CONSENT, CALLS = "5. Agents: consent to processing", "6. Agents: calls"
ANALYSES, MESSAGES = "7. Agents: analyses", "8. Agents: phone numbers"
INSTITUTIONS = "9. Agents: linked institutions"


class SmallOwnerView(OwnerView):
    """A signed-in person's own address for small bodies."""

    body_limit = settings.BODY_LIMIT

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        found = super().common_refusals(method, path, takes_body=takes_body)
        return [*found, UnknownAgent] if "{" in path else found  # whatever is no other address is taken for an agent's

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return "For pages of this site: a signed-in person's own."


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
