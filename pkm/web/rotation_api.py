"""The addresses that change a vault's key (contract §2). What changes anything needs a fresh sign-in."""

from django.http import HttpResponse
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.owner_api import OwnerView, SignedInRecently
from common.admission.schemas import Nothing
from common.json_bodies import json_answer
from pkm.rotation import actions as rotation_actions
from pkm.rotation import queries as rotation_queries
from pkm.vault.actions import NewWrapper
from pkm.web import schemas as web_schemas


class FreshToChange(SignedInRecently):
    """Looking needs a session; every change a sign-in of the last ten minutes."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class RotationView(OwnerView):
    permission_classes = (FreshToChange,)


class Rotation(RotationView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(rotation_queries.rotation(self.person))

    def post(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.RotationBody)
        wrappers = [NewWrapper(**wrapper.model_dump()) for wrapper in body.wrappers]
        started = rotation_actions.start_rotation(
            by=self.person,
            key_id=body.key_id,
            wrappers=wrappers,
            signing_jwe=body.signing_jwe,
            possession=body.possession,
            possession_sha256=body.possession_sha256,
        )
        return json_answer(started, status=201)

    def delete(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        rotation_actions.give_up_rotation(by=self.person)
        return HttpResponse(status=204)


class ResealedSegment(RotationView):
    def get(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        found = rotation_queries.resealed_segment(self.person, domain=domain, segment_id=segment_id)
        return json_answer(found)

    def put(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        body = self.body(web_schemas.ResealedBody)
        kept = rotation_actions.keep_resealed(by=self.person, domain=domain, segment_id=segment_id, **body.model_dump())
        return json_answer(kept)


class ResealedNotes(RotationView):
    def put(self, request: Request) -> HttpResponse:
        rotation_actions.keep_resealed_notes(by=self.person, **self.body(web_schemas.ResealedNotesBody).model_dump())
        return HttpResponse(status=204)


class FinishRotation(RotationView):
    def post(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.FinishBody)
        return json_answer(rotation_actions.finish_rotation(by=self.person, read_back=body.read_back))
