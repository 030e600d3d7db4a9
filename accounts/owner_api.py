"""A signed-in person's own JSON addresses (contract 2): a session with its CSRF token, never a developer token."""

from collections.abc import Sequence
from typing import TypeVar, cast

from django.conf import settings
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import SignedIn, person_of, require_recent_sign_in
from accounts.models import User
from common.admission.views import JSONView
from common.operations import Refusal
from common.problems import AuthenticationRequired, CsrfFailed, InvalidRequest

Model = TypeVar("Model", bound=BaseModel)


class SignedInRecently(BasePermission):
    """The sign-in is of the last ten minutes; for steps that a stolen session must not be enough for."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        cast("OwnerView", view).require_recent_sign_in()
        return True


class OwnerView(JSONView):
    """A signed-in person's own address; `self.person` is who that is. `body_limit` fits a sealed export."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (SignedIn,)
    body_limit = settings.OWNER_BODY_LIMIT
    http_method_names = ["get", "head", "post", "put", "delete"]  # what `Allow` may list

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        changes = method != "GET"  # and may then have a body, described or not
        found = super().common_refusals(method, path, takes_body=takes_body or changes)
        return [*found, AuthenticationRequired, CsrfFailed] if changes else [*found, AuthenticationRequired]

    @property
    def person(self) -> User:
        """Whose session this is; `SignedIn` let nobody else in."""
        return person_of(self.request)

    def require_recent_sign_in(self) -> None:
        """Raise unless they showed within the last ten minutes that it is them."""
        require_recent_sign_in(self.request._request)

    def query(self, model: type[Model]) -> Model:
        for name, values in self.request.query_params.lists():
            if len(values) != 1:
                raise InvalidRequest(f"The query names {name[:64]} more than once.")
        return super().query(model)
