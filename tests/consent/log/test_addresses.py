"""What is published under /log/, to the letter of C2SP: it works, wrong methods, strangers, bad input."""

import base64
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from consent.log import keys
from consent.log.models import LogLeaf
from consent_bridge import merkle, notes
from tests.consent.api.addresses import problem
from tests.consent.log.conftest import Grow

ADDRESSES = (
    "/log/checkpoint", "/log/key", "/log/tile/0/000.p/3", "/log/tile/entries/000.p/3", f"/log/proof/{'A' * 43}",
    "/log/consistency?old=1&new=3", "/log/witnesses",
)  # fmt: skip
VERIFIERS = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]


def get(path: str, **headers: Any) -> HttpResponse:
    answer: HttpResponse = Client().get(path, headers=headers)
    return answer


def test_the_checkpoint_is_a_note_that_the_published_key_verifies(grow: Grow) -> None:
    assert problem(get("/log/checkpoint")) == (404, "not_found")
    grow(3)

    answer = get("/log/checkpoint")
    key = notes.VerifierKey.parse(get("/log/key").content.decode().removesuffix("\n"))
    read = notes.read_checkpoint(answer.content.decode(), [key])

    assert (answer["Content-Type"], answer["Cache-Control"]) == ("text/plain; charset=utf-8", "no-store")
    assert (read.origin, read.size, key.name) == ("localhost:8000/log", 3, "localhost:8000/log")


def test_tiles_and_entries_are_those_of_the_tree(grow: Grow) -> None:
    grow(258)
    entries = [bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")]
    leaves = [merkle.leaf_hash(entry) for entry in entries]

    full, partial, above = get("/log/tile/0/000"), get("/log/tile/0/001.p/2"), get("/log/tile/1/000.p/1")
    assert (full.content, partial.content) == (b"".join(leaves[:256]), b"".join(leaves[256:]))
    assert (full["Content-Type"], full["Cache-Control"]) == (
        "application/octet-stream", "public, max-age=31536000, immutable",
    )  # fmt: skip
    assert len(above.content) == 32
    assert get("/log/tile/entries/001.p/2").content == b"".join(b"\x00\x20" + entry for entry in entries[256:])
    assert len(get("/log/tile/entries/000").content) == 256 * 34


def test_every_published_size_keeps_its_partial_tiles(grow: Grow) -> None:
    for count in (3, 250, 10):
        grow(count)

    assert [len(get(f"/log/tile/0/000.p/{width}").content) for width in (3, 253)] == [96, 253 * 32]
    assert get("/log/tile/0/001.p/7").status_code == 200
    assert get("/log/tile/0/001.p/8").status_code == 404


@pytest.mark.parametrize(
    "place",
    [
        "0/0", "0/00", "0/0000", "0/x000/000", "0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/", "0/000.p/4",
        "0/001", "0/x001/000", "0/001.p/1", "1/000", "00/000.p/3", "64/000", "-1/000", "x/000", "0/-01",
        "0/\N{ARABIC-INDIC DIGIT ONE}00", "9" * 5000 + "/000", "\N{ARABIC-INDIC DIGIT ONE}/000",
        "entries/001", "entries/000.p/4", "entries/0", "0/000/000", "0/000.p/3.p/3", "0/" + "x999/" * 9 + "999",
    ],
)  # fmt: skip
def test_what_is_no_tile_of_this_tree_is_not_found(grow: Grow, place: str) -> None:
    grow(3)
    assert get("/log/tile/0/000.p/3").status_code == 200

    assert problem(get(f"/log/tile/{place}")) == (404, "not_found")


def test_a_proof_holds_for_its_entry_and_for_no_other(grow: Grow) -> None:
    entries = [*grow(2), *grow(5)][2:]
    for index, entry in enumerate(entries):
        answer = get(f"/log/proof/{entry.entry_hash}")
        proof = notes.read_proof(answer.content.decode(), VERIFIERS)

        assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
        assert proof.index == index
        proof.check(base64.urlsafe_b64decode(entry.entry_hash + "="))
        with pytest.raises(notes.Refused):
            proof.check(bytes(32))
    assert [get(f"/log/proof/{entries[0].entry_hash}").content.count(b"\n2\n")] == [1]  # against the first that has it


def test_a_proof_that_is_not_there_yet_is_asked_for_again(grow: Grow) -> None:
    grow(1)
    answer = get(f"/log/proof/{'B' * 42}A")

    assert (answer.status_code, answer.content, answer["Retry-After"]) == (202, b"", "3")


@pytest.mark.parametrize("name", ["x", "B" * 42, "B" * 44, "B" * 42 + "="])
def test_what_is_no_hash_has_no_proof(grow: Grow, name: str) -> None:
    assert problem(get(f"/log/proof/{name}")) == (404, "not_found")


def test_consistency_is_proved_between_any_two_sizes(grow: Grow) -> None:
    roots = {0: merkle.EMPTY_ROOT}
    for count in (1, 2, 300):
        grow(count)
        read = notes.read_checkpoint(get("/log/checkpoint").content.decode(), VERIFIERS)
        roots[read.size] = read.root

    for old in roots:
        for new in roots:
            answer = get(f"/log/consistency?old={old}&new={new}")
            if old > new:
                assert problem(answer) == (404, "not_found")
                continue
            proof = notes.read_hashes(answer.content.decode().splitlines())
            assert merkle.is_consistent(old, roots[old], new, roots[new], proof)
    assert problem(get("/log/consistency?old=1&new=304")) == (404, "not_found")


@pytest.mark.parametrize(
    "query", ["", "?old=1", "?old=1&new=x", "?old=01&new=3", "?old=1&old=1&new=3", "?old=-1&new=3"]
)
def test_sizes_that_are_none_are_refused(grow: Grow, query: str) -> None:
    assert problem(get(f"/log/consistency{query}")) == (400, "invalid_request")


@pytest.mark.parametrize("path", ADDRESSES)
def test_the_log_is_open_to_everybody_and_only_to_be_read(grow: Grow, path: str) -> None:
    grow(3)
    assert get(path).status_code in (200, 202)
    assert get(path, authorization="Bearer cr_live_unknown").status_code in (200, 202)
    assert Client().head(path).status_code in (200, 202)
    refused = Client().post(path, b"{}", content_type="application/json")
    assert problem(refused) == (405, "method_not_allowed")
    assert refused["Allow"] == "GET, HEAD"
    assert problem(get(path + ("&" if "?" in path else "?") + "other=x")) == (400, "invalid_request")
