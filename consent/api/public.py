"""The addresses that are open to all: what verifies receipts and checkpoints (contract 1.6)."""

import base64
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from common.problems import NotFound
from consent.api import descriptions as described
from consent.api.base import PublicView
from consent.ledger import receipts
from consent.ledger.models import AuditCheckpoint
from consent.shapes import ConsentCheckpoint as CheckpointShape


class ConsentKeys(PublicView):
    """The public keys of receipts and checkpoints, old ones kept. HEAD is what watchers of an address send."""

    http_method_names = ["get", "head"]

    @described.consent_keys
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(receipts.public_keys())


class ConsentCheckpoint(PublicView):
    """The newest signed statement of where all audit chains stood."""

    @described.consent_checkpoint
    def get(self, request: HttpRequest) -> HttpResponse:
        newest = AuditCheckpoint.objects.order_by("-id").values_list("jws", flat=True).first()
        if newest is None:
            raise NotFound("No checkpoint has been signed yet.")
        checkpoint: CheckpointShape = {"jws": newest, "claims": _claims(newest)}
        return json_answer(checkpoint)


def _claims(jws: str) -> Any:
    """What our own JWS says, without checking it: whoever wants proof checks `jws` with the keys."""
    payload = jws.split(".")[1]
    return orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
