"""The addresses that are open to all: what verifies receipts, and the newest checkpoint (contract 1.6)."""

from typing import cast

from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from common.problems import NotFound
from consent.api import descriptions as described
from consent.api.base import PublicView
from consent.ledger import receipts
from consent.log import published
from consent.shapes import ConsentCheckpoint as CheckpointShape


class ConsentKeys(PublicView):
    """The public keys of receipts, old ones kept. HEAD is what watchers of an address send."""

    http_method_names = ["get", "head"]

    @described.consent_keys
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(receipts.public_keys())


class ConsentCheckpoint(PublicView):
    """The newest checkpoint of the log, and which witnesses have not cosigned it."""

    @described.consent_checkpoint
    def get(self, request: HttpRequest) -> HttpResponse:
        newest = published.newest_published()
        if newest is None:
            raise NotFound("No checkpoint has been signed yet.")
        return json_answer(cast("CheckpointShape", published.document(newest)))
