"""What the worker does with requests to delete: whatever the other side answers, and whoever dies meanwhile."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from accounts.models import User
from agents_proxy.deletions import deliveries
from agents_proxy.deletions.actions import KEPT
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.sealing import opened
from common import encryption
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.forgetting import Forgetting, as_if_requested, attempt, states, withdraw
from tests.agents_proxy.proxy_calls import CALL, consenting, owning
from tests.callers import signed_in
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((500, b""), "refused"),
        ((404, b""), "refused"),
        ((301, b""), "refused"),
        ((202, b"later"), "accepted"),
        ((200, b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}'), "refused"),
        ((200, b'{"jti": "of-another-request", "deleted": 1}'), "refused"),
        ((200, b"x" * 20_000_000), "refused"),
        ((0, b""), "unreachable"),
    ],
    ids=["fails", "unknown", "redirects", "later", "error", "another", "floods", "hangs"],
)  # fmt: skip
def test_what_confirms_nothing_is_asked_again(
    reply: tuple[int, bytes], error: str, caller: Any, person: User, there: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    there.reply = reply
    if not reply[0]:
        there.go_on.clear()
        monkeypatch.setattr(deliveries, "ANSWER_SECONDS", 0.2)
    attempt()
    assert states() == {"brand": ("queued", error)}
    there.go_on.set()
    there.reply = (204, b"")
    attempt()

    assert states() == {"brand": ("confirmed", "")}
    first, second = there.claims[:2]
    assert (first["jti"] != second["jti"], first["before"]) == (True, second["before"])


def test_a_signed_answer_confirms_its_own_request_alone(caller: Any, person: User, there: Forgetting) -> None:
    from joserfc import jws
    from joserfc.jwk import OKPKey

    key = OKPKey.generate_key("Ed25519")
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)

    def signs(jti: str) -> bytes:
        return jws.serialize_compact({"alg": "EdDSA"}, orjson.dumps({"jti": jti}), key, algorithms=["EdDSA"]).encode()

    there.reply = lambda _agent, _claims: (200, signs("another"))
    attempt()
    assert states() == {"brand": ("queued", "refused")}
    there.reply = lambda _agent, claims: (200, signs(claims["jti"]))
    attempt()
    assert states() == {"brand": ("confirmed", "")}
    assert Deletion.objects.get().confirmation.count(".") == 2


def test_what_is_kept_of_an_answer_is_cut_and_cleaned(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    there.reply = (200, "gone\x00\x1b[31m\u202e  for\r\n\ud7ffgood ".encode() + b"\xff<b>" + b"a" * 5000)
    attempt()

    kept = Deletion.objects.get().confirmation
    assert kept.startswith("gone[31m for good")
    assert (len(kept), kept.isprintable()) == (2000, True)


def test_pauses_grow_and_end_after_thirty_days(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    there.reply = (503, b"")
    seen = []
    for _ in range(10):
        attempt()
        row = Deletion.objects.get()
        seen.append((row.next_attempt_at - database_now()).total_seconds())  # type: ignore[operator]  # it is queued
    for pause, base in zip(seen, [each.total_seconds() for each in deliveries.PAUSES], strict=False):
        assert 0.79 * base - 5 < pause < 1.21 * base + 1
    assert seen[-1] > 0.79 * 86400 - 5

    as_if_requested(KEPT - timedelta(minutes=1))
    attempt()
    row = Deletion.objects.get()
    assert row.next_attempt_at is not None
    assert row.next_attempt_at <= database_now() + timedelta(minutes=1)
    as_if_requested(KEPT)
    attempt()
    row = Deletion.objects.get()
    assert (row.status, row.subject, len(there.got)) == ("unconfirmed", None, 11)


def test_nobody_reads_whom_it_is_about_or_puts_somebody_in_their_place(
    caller: Any, person: User, there: Forgetting
) -> None:
    other = owning(PersonFactory(email="zoe@example.org"))
    caller.post("/api/a2a/brand", CALL)
    signed_in(consenting(other)).post("/api/a2a/brand", CALL)
    mine, hers = Deletion.objects.order_by("pk")
    assert mine.subject is not None
    assert "ana@" not in mine.subject
    Deletion.objects.filter(pk=mine.pk).update(subject=hers.subject)
    withdraw(person)
    attempt()

    assert there.claims == [] or there.claims[0]["subject"]["emails"] == ["ana@example.org"]
    with pytest.raises(encryption.DecryptionFailed):
        opened(Deletion(deletion_id=mine.deletion_id, subject=hers.subject))


def test_two_workers_send_it_once(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    Deletion.objects.update(next_attempt_at=database_now() - timedelta(seconds=3))
    claimed = deliveries._claim(Deletion.objects.get().pk)
    assert claimed is not None
    deliveries.send(claimed.pk)  # another one meanwhile
    assert there.got == []

    Deletion.objects.update(lease_until=database_now() - timedelta(seconds=3))  # the first was killed
    assert deliveries.due() == [claimed.pk]
    deliveries.send(claimed.pk)
    assert (there.names, states()) == (["brand"], {"brand": ("confirmed", "")})
    deliveries._record(claimed, None, "unreachable")  # and comes back
    assert states() == {"brand": ("confirmed", "")}


def test_a_slow_receiver_holds_up_no_other(person: User, there: Forgetting, agents: Agents) -> None:
    for _ in range(5):
        consenting(person)
        signed_in(person).post("/api/a2a/brand", CALL)
        withdraw(person)
    consenting(person)
    signed_in(person).post("/api/a2a/core", CALL)
    withdraw(person)
    Deletion.objects.update(next_attempt_at=database_now() - timedelta(seconds=3))
    agent_of = dict(Deletion.objects.values_list("pk", "agent"))

    assert [agent_of[pk] for pk in deliveries.due(limit=2)] == ["brand", "core"]
    for pk in [pk for pk, agent in agent_of.items() if agent == "brand"][:3]:
        deliveries._claim(pk)
    assert Deletion.objects.filter(status="sending").count() == 2
    assert [agent_of[pk] for pk in deliveries.due()] == ["core"]
