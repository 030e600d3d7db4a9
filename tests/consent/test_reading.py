"""Every 200 is one read, and only what lives is read."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import orjson
import pytest

from common import metrics
from consent.errors import GrantEnded
from consent.exports import reads
from consent.exports.models import Export, Read
from consent.exports.read_batches import COLUMNS, batch_hash, chain_pending_reads
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditEntry
from developers.authentication import AppContext
from tests.consent.test_races import app_context
from tests.factories import ExportFactory
from tests.refused import refused_as


def read(grant: Grant, app: AppContext | None = None, **changes: object) -> reads.ExportAnswer:
    arguments: dict[str, object] = {
        "app": app or app_context(grant),
        "request_id": grant.request.request_id,
        "accept_jose": False,
        "if_none_match": None,
        "idempotency_key": None,
        "address": "203.0.113.77",
        **changes,
    }
    return reads.read_export(**arguments)  # type: ignore[arg-type]


def refreshed(grant: Grant) -> Export:
    """What a refresh leaves behind: the older ciphertext gone, a newer one there."""
    newest = Export.objects.filter(grant=grant).latest("revision")
    Export.objects.filter(grant=grant).update(ciphertext=None)
    return ExportFactory(grant=grant, revision=newest.revision + 1)


def test_a_repeat_after_a_refresh_is_another_read(
    db: None, django_capture_on_commit_callbacks: Callable[[], AbstractContextManager[list[Callable[[], None]]]]
) -> None:
    grant = ExportFactory().grant
    app = app_context(grant)
    read(grant, app, idempotency_key="k1")
    newer = refreshed(grant)

    with django_capture_on_commit_callbacks() as counted:
        answers = [read(grant, app, idempotency_key="k1") for _ in range(2)]

    assert [orjson.loads(answer.body)["export_id"] for answer in answers] == [newer.export_id] * 2
    assert Read.objects.count() == 2
    assert counted.count(metrics.READS.inc) == 1


@pytest.mark.parametrize("accept_jose", [True, False])
def test_a_refresh_between_the_look_and_the_claim_is_what_is_read(
    db: None, monkeypatch: pytest.MonkeyPatch, accept_jose: bool
) -> None:
    grant = ExportFactory().grant
    look, newer = reads.refuse_unless_live, []

    def refreshes(*args: object) -> None:
        look(*args)  # type: ignore[arg-type]
        newer.append(refreshed(grant))

    monkeypatch.setattr(reads, "refuse_unless_live", refreshes)
    answer = read(grant, accept_jose=accept_jose, if_none_match='"older"')

    assert answer.status == 200
    assert newer[0].ciphertext.encode() in answer.body
    assert newer[0].export_id in answer.etag
    assert Read.objects.get().export_id == newer[0].pk


@pytest.mark.parametrize("known", ["{}", "W/{}", '"older", {}', "*"])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_the_reader_has_is_no_read(db: None, known: str, compressed: bool) -> None:
    grant = ExportFactory().grant
    etag = read(grant).etag
    named = etag.removesuffix('"') + '-gzip"' if compressed else etag

    assert read(grant, if_none_match=known.format(named)) == reads.ExportAnswer(status=304, etag=etag)
    assert Read.objects.count() == 1


def test_the_last_read_exhausts_the_grant(db: None) -> None:
    export = ExportFactory(grant__request__max_reads=2)
    grant = export.grant

    remaining = [orjson.loads(read(grant).body)["reads_remaining"] for _ in range(2)]

    assert remaining == [1, 0]
    grant.refresh_from_db()
    assert (grant.status, grant.reads, grant.ended_by) == ("exhausted", 2, "system")
    assert Export.objects.get().ciphertext is None
    with refused_as(GrantEnded) as refused:
        read(grant)
    assert refused.value.members == {"request_status": "approved", "grant_status": "exhausted"}


@pytest.mark.parametrize(
    "chain_of", [lambda grant: f"person:{grant.user.public_id}", lambda grant: f"app:{grant.app.app_id}"]
)
def test_reads_enter_both_chains_in_batches(db: None, chain_of: Callable[[Grant], str]) -> None:
    grant = ExportFactory().grant
    app = app_context(grant)
    for _ in range(3):
        read(grant, app)

    assert chain_pending_reads() == 3
    assert chain_pending_reads() == 0

    entry = AuditEntry.objects.of(chain_of(grant)).get()
    assert (entry.kind, entry.facts["count"]) == ("reads", 3)
    in_order = Read.objects.order_by("pk").values(*COLUMNS)
    assert batch_hash(list(in_order), entry.facts["salt"]) == entry.facts["batch"]
    assert list(verifying.verify()) == []
