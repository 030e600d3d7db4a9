"""The log as C2SP's tlog-tiles publishes it, under /log/, and what is easier asked for than computed from tiles."""

import re
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from common.admission.schemas import Strict
from common.admission.views import ProgramView
from common.jose import from_base64url
from common.json_bodies import json_answer
from common.problems import NotFound
from consent.log import keys, published, tree, witness_changes
from consent.log.merkle import WIDTH, tile_width
from consent.log.notes import base64_of

_TEXT = "text/plain; charset=utf-8"
_FOR_EVER = "public, max-age=31536000, immutable"
_NUMBER = re.compile(r"(?:x\d{3}/)*\d{3}\Z", re.ASCII)
_LEVEL = re.compile(r"(?:[0-9]|[1-5][0-9]|6[0-3])\Z")
_HASH = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_SIZE = re.compile(r"\A(?:0|[1-9][0-9]{0,17})\Z")


class _Sizes(Strict):
    """Two sizes of the log, as they stand in an address."""

    old: Annotated[str, Field(pattern=_SIZE.pattern)]
    new: Annotated[str, Field(pattern=_SIZE.pattern)]


class LogView(ProgramView):
    """An address of the log: open to all, without a token."""

    authentication_classes = ()
    http_method_names = ["get", "head"]


class LogCheckpoint(LogView):
    """The newest checkpoint that is published."""

    def get(self, request: HttpRequest) -> HttpResponse:
        newest = published.newest_published()
        if newest is None:
            raise NotFound("No checkpoint has been signed yet.")
        return HttpResponse(newest.full_note, content_type=_TEXT)


class LogKey(LogView):
    """The log's verifier key; while it is being changed, the older ones under it, one a line."""

    def get(self, request: HttpRequest) -> HttpResponse:
        lines = [f"{key}\n" for key in keys.verifier_keys(published.epoch())]
        return HttpResponse("".join(lines), content_type=_TEXT)


class LogWitnesses(LogView):
    """Who watched the log, from when on: {"changes": [{"entry", "proof"}]}, oldest first."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer({"changes": witness_changes.changes()})


class LogTile(LogView):
    """A tile of the tree, full or partial, as far as a checkpoint was signed. It never changes."""

    def get(self, request: HttpRequest, level: str, place: str) -> HttpResponse:
        number, width = _place(place)
        depth = int(level) if _LEVEL.match(level) else None
        if depth is None or tile_width(depth, number, published.newest_signed_size()) < width:
            raise NotFound("There is no such tile.")
        return _unchanging(tree.tile(depth, number, width))


class LogEntries(LogView):
    """A bundle of entries: of each its length in two bytes and the 32 bytes of its hash. It never changes."""

    def get(self, request: HttpRequest, place: str) -> HttpResponse:
        number, width = _place(place)
        if tile_width(0, number, published.newest_signed_size()) < width:
            raise NotFound("There is no such bundle of entries.")
        return _unchanging(tree.entry_bundle(number, width))


class LogProof(LogView):
    """The tlog-proof of an entry, by its entry hash; 202 until it is in the log and cosigned."""

    def get(self, request: HttpRequest, entry_hash: str) -> HttpResponse:
        if not _HASH.match(entry_hash):
            raise NotFound("This is no hash of an entry.")
        proof = published.proof_of(from_base64url(entry_hash))
        if proof is None:
            return HttpResponse(status=202, content_type=_TEXT, headers={"Retry-After": "3"})
        return HttpResponse(proof, content_type=_TEXT)


class LogConsistency(LogView):
    """Why the tree of one size begins with that of another: the hashes of the proof in base64, one a line."""

    takes_query = True

    def get(self, request: HttpRequest) -> HttpResponse:
        query = self.query(_Sizes)
        old, new = int(query.old), int(query.new)
        if not old <= new <= published.newest_signed_size():
            raise NotFound("No checkpoint was signed over so many leaves.")
        lines = [f"{base64_of(digest)}\n" for digest in tree.consistency_proof(old, new)]
        return HttpResponse("".join(lines), content_type=_TEXT)


def _place(text: str) -> tuple[int, int]:
    """Number and width of what `<N>[.p/<W>]` names; a spelling that is not the one of tlog-tiles is not found."""
    path, partial, width = text.partition(".p/")
    digits = path.replace("x", "").replace("/", "")
    is_spelled = _NUMBER.match(path) and (len(digits) == 3 or not digits.startswith("000")) and len(digits) <= 18
    if not is_spelled or (partial and not (_SIZE.match(width) and 1 <= int(width) < WIDTH)):
        raise NotFound("This is no place of a tile.")
    return int(digits), int(width) if partial else WIDTH


def _unchanging(content: bytes | None) -> HttpResponse:
    if content is None:
        raise NotFound("There is no such part of the log.")
    return HttpResponse(content, content_type="application/octet-stream", headers={"Cache-Control": _FOR_EVER})
