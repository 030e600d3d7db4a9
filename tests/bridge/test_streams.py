"""Server-sent events: read as the HTML standard says, resumed where they broke off."""

import json
from functools import partial

import pytest

from consent_bridge import streams
from consent_bridge.errors import BadAnswer, Problem, Unreachable
from consent_bridge.results import Processing, Status, build
from consent_bridge.streams import Event, Stream
from tests.bridge.fake_service import DROP, Reply, problem
from tests.bridge.wire import APPROVED, PENDING

PATH = "/api/v1/consent-events"


def event(number, status=APPROVED):
    return f"event: consent\nid: {number}\ndata: {json.dumps(status)}\n\n".encode()


def numbers(events):
    return [event.id for event in events]


def take(events, count):
    return [next(events) for _ in range(count)]


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_bytes_become_events_however_they_are_cut(size, end):
    text = (b"id: 3\nretry: 1000\n\n: still here\n\n" + event(4) + event(5, PENDING)).replace(b"\n", end) + b"\n"
    stream, found = Stream(), []

    for start in range(0, len(text), size):
        found += stream.feed(text[start : start + size])

    assert found == [Event(4, build(Status, APPROVED)), Event(5, build(Status, PENDING))]
    assert stream.last_event_id == 5


def test_data_of_several_lines_is_one_text():
    lines = json.dumps(APPROVED, indent=1).splitlines()

    assert numbers(Stream().feed("".join(f"data:{line}\n" for line in lines).encode() + b"id:7\n\n")) == [7]


def test_event_of_another_name_tells_of_agents():
    data = {
        "consent_id": "pcn_1", "analysis_id": None, "activation_id": None, "deletion_id": None, "status": "live",
        "sequence": 8,
    }  # fmt: skip
    text = f"event: processing_consent.given\nid: 8\ndata: {json.dumps(data)}\n\n"

    assert Stream().feed(event(7) + text.encode()) == [
        Event(7, build(Status, APPROVED)),
        Event(8, None, "processing_consent.given", build(Processing, data)),
    ]


def test_event_that_was_seen_comes_once():
    assert numbers(Stream(last_event_id=4).feed(event(3) + event(4) + event(5) + event(5))) == [5]


def test_part_of_an_event_is_left_behind_with_its_connection():
    stream = Stream()
    stream.feed(event(4)[:-10])
    assert stream.headers().get("Last-Event-ID") is None

    assert numbers(stream.feed(event(4))) == [4]
    assert stream.headers()["Last-Event-ID"] == "4"


@pytest.mark.parametrize(
    "text",
    [
        b"id: x\ndata: {}\n\n",
        b"id: 4\ndata: {}\n\n",
        b"id: 4\ndata: no JSON\n\n",
        b"data: " + b"x" * 2_000_000,
    ],
)
def test_what_is_no_event_of_the_contract_is_a_bad_answer(text):
    with pytest.raises(BadAnswer):
        Stream().feed(text)


def test_stream_goes_on_after_it_broke_off(fake, client, pauses):
    first = b"id: 40\nretry: 100\n\n"
    fake.on("GET", PATH, Reply(first), DROP, Reply(event(41)), problem("x", 503), Reply(event(41) + event(42)))

    events = client.events()

    assert numbers(take(events, 2)) == [41, 42]
    assert [call.headers.get("last-event-id") for call in fake.received] == [None, "40", "40", "41", "41"]
    assert len(pauses) == 4
    assert all(0.05 <= pause <= 0.2 for pause in pauses)


def test_stream_begins_where_the_caller_says(fake, client):
    fake.on("GET", PATH, Reply(event(8)))

    assert numbers(take(client.events(7), 1)) == [8]
    assert fake.received[0].headers["last-event-id"] == "7"
    assert fake.received[0].headers["accept"] == "text/event-stream"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_refusal_that_stays_ends_the_stream(fake, client, status):
    fake.on("GET", PATH, problem("some_code", status))

    with pytest.raises(Problem):
        next(client.events())

    assert len(fake.received) == 1


def test_redirect_and_other_answers_end_the_stream(fake, client):
    fake.on("GET", PATH, Reply(b"", 302, (("Location", fake.url),)), Reply(b"", 204))

    with pytest.raises(BadAnswer, match="redirect"):
        next(client.events())
    with pytest.raises(BadAnswer, match="204"):
        next(client.events())


def test_stream_is_given_up_when_patience_ends(fake, client, pauses):
    fake.on("GET", PATH, DROP)

    with pytest.raises(Unreachable, match="no connection"):
        next(client.events(patience=1.5))

    assert len(fake.received) == len(pauses) + 1


def test_only_waiting_for_the_service_uses_up_patience():
    now = 0.0
    stream = Stream(patience=300, clock=lambda: now)
    stream.feed(event(41))

    now = 1000.0  # the consumer took its time for that event
    stream.wait_again()
    assert stream.pause_after(Unreachable("gone")) <= 2

    now = 1300.0  # and since then nothing came
    with pytest.raises(Unreachable):
        stream.pause_after(Unreachable("gone"))


def test_slow_consumer_finds_its_stream_again(fake, client, pauses, monkeypatch):
    now = 0.0
    monkeypatch.setattr(streams, "Stream", partial(Stream, clock=lambda: now))
    fake.on("GET", PATH, Reply(b"retry: 100\n\n" + event(41)), DROP, Reply(event(42)))
    events = client.events(patience=4)

    first = next(events)
    now = 4.1

    assert (first.id, next(events).id) == (41, 42)


def test_busy_service_says_when_to_come_back(fake, client, pauses):
    busy = problem("too_many_requests", 429, headers=[("Retry-After", "30")])
    fake.on("GET", PATH, busy, Reply(event(1)))

    assert numbers(take(client.events(), 1)) == [1]
    assert pauses == [30.0]
