"""The release that this deployment serves, for whoever compares it with what a browser is given."""

from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from common.problems import NotFound
from consent.api.base import PublicView
from consent.release import entry
from consent.release.current import release


class ConsentRelease(PublicView):
    """The signed manifest of the release, and where the log has it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        found = release()
        if found is None:
            raise NotFound("This deployment serves no release.")
        return json_answer(entry.document(found))
