"""What all addresses have in common that a developer's program calls with a token, whichever kind of token it is."""

from django.http import HttpRequest
from rest_framework.request import Request

from common.admission.views import ProgramView
from developers.errors import BrowserPathRefused


class ServerView(ProgramView):
    """An address that only servers may call: a token must not travel through a browser (contract 1.1)."""

    http_method_names = ["get"]

    def perform_authentication(self, request: Request) -> None:
        self.refuse_browser(request)
        super().perform_authentication(request)

    def refuse_browser(self, request: HttpRequest) -> None:
        """Raise where the call comes from a web page."""
        if "HTTP_ORIGIN" in request.META or "HTTP_SEC_FETCH_SITE" in request.META:
            raise BrowserPathRefused("A developer token must not travel through a browser.")
