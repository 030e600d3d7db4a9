"""Reading an approved slice: each read checks the live row, counts itself, and is written down."""

from dataclasses import dataclass

import orjson

from common.clock import rfc3339
from consent.exports import read_at_once, read_steps
from consent.exports.taken_reads import ReadCall, TakenRead, address_prefix
from consent.shapes import ConsentExport
from developers.authentication import AppContext


@dataclass(frozen=True)
class ExportAnswer:
    """What `consent-export` answers: 200 with the sealed slice, or 304 without."""

    status: int
    etag: str
    content_type: str = ""
    body: bytes = b""


def read_export(
    *,
    app: AppContext,
    request_id: str,
    accept_jose: bool,
    if_none_match: str | None,
    idempotency_key: str | None,
    address: str,
) -> ExportAnswer:
    """The approved slice, sealed. Liveness is checked first; a 304 counts no read, every 200 one."""
    call = ReadCall(app, request_id, address_prefix(address), idempotency_key)
    if if_none_match is None:
        return _answer(take_read(call), accept_jose)
    request = read_steps.find_live(call)
    etag = _etag(request.newest_export, accept_jose)  # type: ignore[attr-defined]  # find_live annotates it
    if _matches(if_none_match, etag):
        return ExportAnswer(status=304, etag=etag)
    return _answer(read_steps.take_read(call, request), accept_jose)


def take_read(call: ReadCall) -> TakenRead:
    """One read under a live grant, in one statement where that is possible; raises what refuses it."""
    return read_at_once.take_read(call) or read_steps.take_read(call, read_steps.find_live(call))


def _etag(export_id: str, accept_jose: bool) -> str:
    return f'"{export_id}-{"jose" if accept_jose else "json"}"'


def _matches(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


def _answer(read: TakenRead, accept_jose: bool) -> ExportAnswer:
    etag = _etag(read.export_id, accept_jose)
    if accept_jose:
        return ExportAnswer(status=200, etag=etag, content_type="application/jose", body=read.ciphertext.encode())
    return ExportAnswer(status=200, etag=etag, content_type="application/json", body=_body(read))


def _body(read: TakenRead) -> bytes:
    export: ConsentExport = {
        "request_id": read.request_id,
        "grant_id": read.grant_id,
        "export_id": read.export_id,
        "revision": read.revision,
        "user_id": read.user_id,
        "scope": read.scope,
        "approved_attributes": read.approved_attributes,
        "connector_key_id": read.connector_key_id,
        "sealed_at": rfc3339(read.sealed_at),
        "expires_at": rfc3339(read.grant_expires_at),
        "reads_remaining": read.reads_remaining,
        "size_bytes": read.size_bytes,
        "jwe": read.ciphertext,
        "approval": read.approval,
        "owner_key": read.owner_key,
        "key_history": read.key_history,
        "owner_key_reset": read.owner_key_reset,
    }
    return orjson.dumps(export)
