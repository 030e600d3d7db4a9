"""The addresses that are open to all: what verifies receipts and checkpoints (contract 1.6)."""

import base64

import orjson
from django.http import HttpRequest, HttpResponse

from accounts.answers import json_answer
from accounts.errors import NotFound
from consent import receipts
from consent.api import descriptions as described
from consent.api.base import PublicView, no_arguments
from consent.models import AuditCheckpoint


class ConsentKeys(PublicView):
    """The public keys of receipts and checkpoints, old ones kept. HEAD is what watchers of an address send."""

    http_method_names = ["get", "head"]

    @described.consent_keys
    def get(self, request: HttpRequest) -> HttpResponse:
        no_arguments(request)
        return json_answer(receipts.public_keys())


class ConsentCheckpoint(PublicView):
    """The newest signed statement of where all audit chains stood."""

    @described.consent_checkpoint
    def get(self, request: HttpRequest) -> HttpResponse:
        no_arguments(request)
        newest = AuditCheckpoint.objects.order_by("-id").values_list("jws", flat=True).first()
        if newest is None:
            raise NotFound("No checkpoint has been signed yet.")
        return json_answer({"jws": newest, "claims": _claims(newest)})


def _claims(jws: str) -> object:
    """What our own JWS says, without checking it: whoever wants proof checks `jws` with the keys."""
    payload = jws.split(".")[1]
    return orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
