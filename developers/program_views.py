"""What all addresses have in common that a developer's program calls with a token, whichever kind of token it is."""

from django.http import HttpRequest
from rest_framework.request import Request

from common.admission.views import JSONView, ProgramView
from common.operations import Refusal
from developers.errors import BrowserPathRefused, InvalidToken


class ServerView(ProgramView):
    """An address that only servers may call: a token must not travel through a browser (contract 1.1)."""

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        # not of an owner's view that this may be mixed into: a token stands in the place of the session
        return [*JSONView.common_refusals(method, path, takes_body=takes_body), InvalidToken, BrowserPathRefused]

    def perform_authentication(self, request: Request) -> None:
        self.refuse_browser(request)
        super().perform_authentication(request)

    def refuse_browser(self, request: HttpRequest) -> None:
        """Raise where the call comes from a web page."""
        if "HTTP_ORIGIN" in request.META or "HTTP_SEC_FETCH_SITE" in request.META:
            raise BrowserPathRefused("A developer token must not travel through a browser.")
