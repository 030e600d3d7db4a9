"""The addresses that are open to all: what verifies receipts, the newest checkpoint (contract 1.6), the release."""

from typing import cast

from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from common.operations import operation
from common.problems import NotFound
from consent import shapes
from consent.api.base import VERIFY, PublicView
from consent.ledger import receipts
from consent.log import published
from consent.release import entry
from consent.release.current import release


class ConsentKeys(PublicView):
    """The public keys of receipts, old ones kept."""

    @operation(
        name="getConsentKeys",
        tag=VERIFY,
        summary="The keys that verify receipts",
        description="A JSON Web Key Set. Open to all, without a token. Old keys stay in it.",
        answers={200: shapes.ConsentKeys},
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer(receipts.public_keys())


class ConsentCheckpoint(PublicView):
    """The newest checkpoint of the log, and which witnesses have not cosigned it."""

    @operation(
        name="getConsentCheckpoint",
        tag=VERIFY,
        summary="The newest signed checkpoint",
        description="Where the log of all audit entries stood. Open to all, without a token. 404 until one is signed.",
        answers={200: shapes.ConsentCheckpoint},
    )
    def get(self, request: HttpRequest) -> HttpResponse:
        newest = published.newest_published()
        if newest is None:
            raise NotFound("No checkpoint has been signed yet.")
        return json_answer(cast("shapes.ConsentCheckpoint", published.document(newest)))


class ConsentRelease(PublicView):
    """The signed manifest of the release, and where the log has it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        found = release()
        if found is None:
            raise NotFound("This deployment serves no release.")
        return json_answer(entry.document(found))
