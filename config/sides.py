"""Remembers which side of the service somebody opened last, whichever of its pages that was."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from accounts.models import Persona
from accounts.personas import remember_side

# Pages of the account, documents and the admin belong to no side.
_SIDES = {
    "/consent/": Persona.PERSON,
    "/connect/": Persona.PERSON,
    "/vault/": Persona.PERSON,
    "/profile/": Persona.PERSON,
    "/developers/": Persona.DEVELOPER,
}


class RememberSide:
    """After a page was shown to somebody who is signed in; an answer to a script, or a redirect, is none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        side = next((side for start, side in _SIDES.items() if request.path.startswith(start)), None)
        if side is not None and _is_shown(request, response) and request.user.is_authenticated:
            remember_side(request.user, side)
        return response


def _is_shown(request: HttpRequest, response: HttpResponse) -> bool:
    kind = response.get("Content-Type", "").partition(";")[0]
    return request.method == "GET" and response.status_code == 200 and kind == "text/html"
