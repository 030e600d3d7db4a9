"""`/api/a2a/consents` (contract 4.2): a signed-in person's own consent to processing."""

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.http import HttpResponse
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.answers import json_answer
from accounts.database import rfc3339
from accounts.errors import InvalidRequest, checked
from agents_proxy import consents
from agents_proxy.schemas import ConsentBody

if TYPE_CHECKING:
    from accounts.models import User


class OwnerView(APIView):
    """A signed-in person's own address; the method is checked before the session, and no query is taken."""

    body_limit = settings.BODY_LIMIT
    http_method_names = ["get", "head", "post", "put", "delete"]  # what `Allow` may list

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "OPTIONS" or request.method not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        if request.query_params:
            raise InvalidRequest("This address takes no query.")

    @property
    def person(self) -> "User":
        return cast("User", self.request.user)


class Consents(OwnerView):
    """Agree, and see what one agreed to."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer({"consents": consents.listed(self.person)})

    def post(self, request: Request) -> HttpResponse:
        body = checked(ConsentBody, request.data)
        given = consents.give(by=self.person, purposes=body.purposes)
        told = {"consentId": given.consent_id, "purposes": given.purposes, "expiresAt": rfc3339(given.expires_at)}
        return json_answer(told, status=201)


class OneConsent(OwnerView):
    """Withdraw one, at once."""

    def delete(self, request: Request, consent_id: str) -> HttpResponse:
        consents.withdraw(consent_id=consent_id, by=self.person)
        return HttpResponse(status=204)
