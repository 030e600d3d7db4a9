"""A signed-in person's address whose POST is limited: its answers and refusals say what is left."""

from typing import Any

from rest_framework.request import Request
from rest_framework.views import APIView

from common.limits import Count, headers


class LimitedPost(APIView):
    """To be named before the view that checks the session: only who was let in is told."""

    let_in = False

    def standing(self, request: Request) -> Count:
        """Where this person stands."""
        raise NotImplementedError

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.let_in = True

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.let_in and request.method == "POST" and answer.status_code < 500:
            for name, value in headers([self.standing(request)]).items():
                answer.headers[name] = value
        return answer
