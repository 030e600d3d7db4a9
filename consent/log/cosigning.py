"""Asking witnesses to cosign the newest checkpoint, as C2SP's tlog-witness says."""

import logging
from concurrent.futures import ThreadPoolExecutor

from django.db import transaction

from common.clock import database_now
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed
from consent.log import keys, notes, published, tree
from consent.log.keys import Witness
from consent.log.models import AuditCheckpoint

_log = logging.getLogger(__name__)
_SECONDS = 5.0  # for a whole answer
_LIMIT = 16 * 1024  # bytes of an answer
_client = Client(may_reach=lambda _: True)  # the operator names them, and one may stand inside the same network
_sizes: dict[str, int] = {}  # of each witness, by its key, the size that it cosigned last: a guess, which it corrects


def is_due() -> bool:
    """Whether the newest checkpoint lacks cosignatures."""
    newest = AuditCheckpoint.objects.filter(epoch=published.epoch()).order_by("-size").values_list("cosigned_at")
    return newest.first() == (None,)


def ask_witnesses() -> int:
    """Ask for the cosignatures that the newest checkpoint lacks; returns how many came. Safe to run twice at once."""
    newest = AuditCheckpoint.objects.filter(epoch=published.epoch()).order_by("-size").first()
    if newest is None or newest.cosigned_at is not None:
        return 0
    absent = set(published.missing_witnesses(newest))
    asked = [witness for witness in keys.witnesses() if witness.key.name in absent]
    # proofs are read here: a thread of the pool has no connection to the database to give back
    requests = [(witness, _request(newest, witness)) for witness in asked]
    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        answers = list(pool.map(lambda request: _ask(*request), requests))
    lines = [_line(newest, witness, answer) for witness, answer in zip(asked, answers, strict=True)]
    return _keep(newest, [line for line in lines if line])


def _request(checkpoint: AuditCheckpoint, witness: Witness) -> bytes:
    """The body of add-checkpoint, from the size that the witness is taken to have."""
    old = min(_sizes.get(str(witness.key), 0), checkpoint.size)
    proof = tree.consistency_proof(old, checkpoint.size)
    lines = [f"old {old}", *map(notes.base64_of, proof), "", ""]
    return ("\n".join(lines) + checkpoint.note).encode()


def _ask(witness: Witness, body: bytes) -> Answer | None:
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
    if answer.status == 409 and text.strip().isdecimal():
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


def _keep(checkpoint: AuditCheckpoint, lines: list[str]) -> int:
    """Add these lines under the row's lock; complete is what as many cosigned as must."""
    with transaction.atomic():
        row = AuditCheckpoint.objects.select_for_update().get(pk=checkpoint.pk)
        new = [line for line in lines if line not in row.cosignatures]
        row.cosignatures += "".join(new)
        if row.cosigned_at is None and _cosigned(row) >= keys.quorum():
            row.cosigned_at = database_now()
        row.save(update_fields=["cosignatures", "cosigned_at"])
    return len(new)


def _cosigned(row: AuditCheckpoint) -> int:
    return len(keys.witnesses()) - len(published.missing_witnesses(row))
