"""Asking witnesses to cosign the newest checkpoint, as C2SP's tlog-witness says."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import transaction

from common import addresses
from common.clock import database_now
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed
from consent.log import keys, notes, published, tree
from consent.log.keys import Witness
from consent.log.models import AuditCheckpoint

_log = logging.getLogger(__name__)
_RENEWED_AFTER = timedelta(hours=12)  # well within the day for which readers take a cosignature for fresh
_SECONDS = 5.0  # for a whole answer
_LIMIT = 16 * 1024  # bytes of an answer
_SIZE = re.compile(r"\s*[0-9]{1,18}\s*\Z", re.ASCII)
_client = Client(may_reach=addresses.is_host)  # the operator names them, and one may stand inside the same network
_sizes: dict[str, int] = {}  # of each witness, by its key, the size that it cosigned last: a guess, which it corrects


def is_due() -> bool:
    """Whether there is somebody to ask about the newest checkpoint."""
    newest = _newest() if keys.witnesses() else None
    return newest is not None and bool(_missing_witnesses(newest))


def _newest() -> AuditCheckpoint | None:
    return AuditCheckpoint.objects.filter(epoch=published.epoch()).order_by("-size").first()


def _missing_witnesses(checkpoint: AuditCheckpoint) -> list[Witness]:
    """Who lacks under it until enough are there, everybody once that was long ago, and in any case who is leaving.

    Readers counted the leaving ones until now, and follow to the others by their cosignature.
    """
    witnesses = keys.witnesses()
    if checkpoint.cosigned_at and checkpoint.cosigned_at < database_now() - _RENEWED_AFTER:
        return witnesses
    return [
        witness
        for witness in witnesses
        if (witness.retiring or not checkpoint.cosigned_at) and not published.has_cosigned(witness.key, checkpoint)
    ]


def request_cosignatures() -> int:
    """Ask for the cosignatures that the newest checkpoint lacks; returns how many came. Safe to run twice at once."""
    newest = _newest()
    missing = _missing_witnesses(newest) if newest is not None else []
    if newest is None or not missing:
        return 0
    # proofs are read here: a thread of the pool has no connection to the database to give back
    requests = [(witness, _request(newest, witness)) for witness in missing]
    with ThreadPoolExecutor(len(missing)) as pool:
        answers = list(pool.map(lambda request: _send(*request), requests))
    lines = {witness: _line(newest, witness, answer) for witness, answer in zip(missing, answers, strict=True)}
    return _keep(newest, {witness: line for witness, line in lines.items() if line})


def _request(checkpoint: AuditCheckpoint, witness: Witness) -> bytes:
    """The body of add-checkpoint, from the size that the witness is taken to have."""
    old = min(_sizes.get(str(witness.key), 0), checkpoint.size)
    proof = tree.consistency_proof(old, checkpoint.size)
    lines = [f"old {old}", *map(notes.base64_of, proof), "", ""]
    return ("\n".join(lines) + checkpoint.note).encode()


def _send(witness: Witness, body: bytes) -> Answer | None:
    try:
        headers = {"Content-Type": "text/plain; charset=utf-8", "User-Agent": "Consent-Runtime-Log"}
        return _client.post(f"{witness.url}/add-checkpoint", body, headers=headers, seconds=_SECONDS, limit=_LIMIT)
    except ExchangeFailed as failure:
        _log.warning("the witness %s does not answer: %s", witness.key.name, type(failure).__name__)
        return None


def _line(checkpoint: AuditCheckpoint, witness: Witness, answer: Answer | None) -> str | None:
    """Its cosignature, if that is what it answered; where it has seen another size, that is asked from next time."""
    if answer is None:
        return None
    text = answer.body.decode("utf-8", "replace")
    if answer.status == 409 and _SIZE.match(text):
        size = int(text)
        if size > checkpoint.size:
            _log.critical(
                "the witness %s cosigned %d leaves, and the log has %d", witness.key.name, size, checkpoint.size
            )
        _sizes[str(witness.key)] = size
        return None
    line = notes.cosignature_line(checkpoint.note, text, witness.key) if answer.status == 200 else None
    if line is None:
        _log.error("the witness %s refused: status %d", witness.key.name, answer.status)
        return None
    _sizes[str(witness.key)] = checkpoint.size
    return line


def _keep(checkpoint: AuditCheckpoint, lines: dict[Witness, str]) -> int:
    """Keep the newest line of each under the row's lock; complete is what as many cosigned as must."""
    with transaction.atomic():
        row = AuditCheckpoint.objects.select_for_update().get(pk=checkpoint.pk)
        for witness, line in lines.items():
            former = notes.cosignature_line(row.note, row.cosignatures, witness.key) or ""
            row.cosignatures = row.cosignatures.replace(former, "") + line
        renewed = [witness for witness in lines if not witness.retiring]
        counted = (
            renewed
            if row.cosigned_at
            else [key for key in keys.counted_witnesses() if published.has_cosigned(key, row)]
        )
        if renewed and len(counted) >= keys.quorum():
            row.cosigned_at = database_now()
        row.save(update_fields=["cosignatures", "cosigned_at"])
    return len(lines)
