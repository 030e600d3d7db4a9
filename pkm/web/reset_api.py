"""`/vault/reset` (contract §2): for whoever lost every way in."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.owner_api import OwnerView, SignedInRecently
from common.admission.shapes import Nothing
from common.clock import rfc3339
from common.json_bodies import json_answer
from pkm.reset import actions as reset_actions


class FreshToGiveUp(SignedInRecently):
    """Giving up needs a sign-in of the last ten minutes; taking it back protects, and a session is enough."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method == "DELETE" or super().has_permission(request, view)


class Reset(OwnerView):
    permission_classes = (FreshToGiveUp,)

    def post(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        asked = reset_actions.ask_for_reset(by=self.person)
        return json_answer({"vault_status": "locked_out", "takes_effect_at": rfc3339(asked.due_at)})

    def delete(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        reset_actions.take_back_reset(by=self.person)
        return HttpResponse(status=204)
