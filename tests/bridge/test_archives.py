"""Sealed archives: opened offline by passphrase or code, and refused whole where one part does not fit."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from consent_bridge.archives import FORMAT, MAX_SEGMENTS, MAX_WRAPPERS
from consent_bridge.sealed import SegmentHeader, generate_recovery_code, generate_vault_key, seal_segment, wrap
from tests.bridge.handmade import with_header
from tests.bridge.refusals import refusal

pytestmark = pytest.mark.usefixtures("real_passphrases")

PASSPHRASE = "gravel lantern otter plum 7"
CODE = generate_recovery_code()
KEY = generate_vault_key()
USER = "usr_a"
DEEP = 300


def nested(depth):
    value = "the end"
    for _ in range(depth):
        value = {"in": [value]}
    return value


VALUES = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai", "note": None, "constructor": "odd"},
    ("identity", "basic"): {
        "full_name": "👩‍👩‍👧‍👦 שלום مرحبا Zoë\u200f",
        "age": 34,
        "exact": 1.5,
        "deep": nested(DEEP),
    },
    ("intents", "now"): {"needs": ["a" * 1_000_000, "", None, False, 0]},
}


def segment(place, values, *, key=KEY, **header):
    members = {"kid": key.key_id, "sub": USER, "domain": place[0], "segment_id": place[1], "content_revision": 2}
    sealed = seal_segment(values, key.secret, SegmentHeader(**{**members, **header}))
    return {
        "domain": place[0], "segment_id": place[1], "content_revision": 2, "attributes": sorted(values), "jwe": sealed,
        "updated_at": "2026-11-20T10:00:00Z",
    }  # fmt: skip


def wrapper(kind, secret, *, key=KEY, user=USER):
    return {
        "kind": kind, "label": "A way in", "credential_id": "Y3JlZA" if kind == "passkey" else None,
        "jwe": wrap(key, kind, secret, user), "created_at": "2026-11-20T10:00:00Z",
    }  # fmt: skip


@pytest.fixture(scope="module")
def archive():
    return {
        "format": FORMAT,
        "user_id": USER,
        "wrappers": [wrapper("passphrase", PASSPHRASE), wrapper("recovery", CODE), wrapper("passkey", "ab" * 32)],
        "segments": [segment(place, values) for place, values in VALUES.items()],
    }


@pytest.fixture
def written(tmp_path):
    def write(archive):
        path = tmp_path / "archive.json"
        path.write_text(archive if isinstance(archive, str) else json.dumps(archive))
        return str(path)

    return write


def expected():
    data = {}
    for (domain, name), values in VALUES.items():
        data.setdefault(domain, {})[name] = values
    return {"user_id": USER, "data": data}


@pytest.mark.parametrize(
    "secret", [PASSPHRASE, CODE, CODE.lower().replace("-", " ")], ids=["passphrase", "code", "typed"]
)
def test_passphrase_or_code_opens_every_value(cli, archive, written, secret):
    done = cli("open-archive", written(archive), stdin=f"{secret}\n".encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == expected()


def test_secret_comes_from_a_file_and_the_archive_from_standard_input(cli, archive, tmp_path):
    (tmp_path / "secret").write_text(f"{PASSPHRASE}\r\nnot this\n")
    arguments = ["open-archive", "-", "--passphrase-file", str(tmp_path / "secret")]

    done = cli(*arguments, stdin=json.dumps(archive).encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == expected()


def test_values_are_written_to_a_file_of_this_user_alone(cli, archive, written, tmp_path):
    out = tmp_path / "new" / "values.json"

    done = cli("open-archive", written(archive), "--out", str(out), stdin=CODE.encode())
    again = cli("open-archive", written(archive), "--out", str(out), stdin=CODE.encode())

    assert json.loads(done.stdout) == {"user_id": USER, "segments": 3, "written_to": str(out)}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert json.loads(out.read_text()) == expected()
    assert "exists" in refusal(again)
    assert cli("open-archive", written(archive), "--out", str(out), "--force", stdin=CODE.encode()).returncode == 0


@pytest.mark.own_process("a terminal belongs to a process")
def test_at_a_terminal_the_secret_is_asked_for_without_an_echo(archive, written):
    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "bridge")}
    command = [sys.executable, "-m", "consent_bridge", "open-archive", written(archive)]
    running = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environ, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    while b"recovery code:" not in shown:
        shown += os.read(ours, 1000)
    os.write(ours, f"{PASSPHRASE}\n".encode())
    opened, _ = running.communicate(timeout=60)
    shown += os.read(ours, 1000)
    os.close(ours)

    assert (running.returncode, json.loads(opened)) == (0, expected())
    assert b"otter" not in shown


def _change(**members):
    return lambda archive: {**archive, **members}


def _segment(change):
    return lambda archive: {**archive, "segments": [change(archive["segments"][0]), *archive["segments"][1:]]}


def _wrapper(change):
    return lambda archive: {**archive, "wrappers": [change(archive["wrappers"][0]), *archive["wrappers"][1:]]}


def _swapped(archive):
    first, second, *rest = archive["segments"]
    return {**archive, "segments": [{**first, "jwe": second["jwe"]}, second, *rest]}


def _count(count):
    return _wrapper(lambda one: {**one, "jwe": with_header(one["jwe"], lambda header: header.update(p2c=count))})


OTHER = generate_vault_key()
FOOD = ("lifestyle", "food")
HOSTILE = {
    "another format": (_change(format="consent-archive/2"), "format is"),
    "no format": (lambda archive: [], "not a JSON object"),
    "another member": (_change(signing_key="x"), "does not belong"),
    "no segments": (lambda archive: {"format": FORMAT, "user_id": USER, "wrappers": []}, "no segments"),
    "no wrapper": (_change(wrappers=[]), "no way to unlock"),
    "wrappers that are no list": (_change(wrappers={"a": 1}), "not a list"),
    "too many wrappers": (lambda archive: {**archive, "wrappers": archive["wrappers"] * MAX_WRAPPERS}, "more than"),
    "too many segments": (_change(segments=[{}] * (MAX_SEGMENTS + 1)), "more than"),
    "a huge count": (_count(2_000_000_000), "p2c"),
    "a tiny count": (_count(1000), "p2c"),
    "a count in text": (_count("250000"), "p2c"),
    "another person": (_change(user_id="usr_b"), "sub is"),
    "no person": (_change(user_id=7), "not text"),
    "swapped segments": (_swapped, "lifestyle.food: header member domain"),
    "another revision": (_segment(lambda one: {**one, "content_revision": 3}), "content_revision is 2, not 3"),
    "no revision": (_segment(lambda one: {**one, "content_revision": True}), "content_revision"),
    "another key's name": (_segment(lambda one: segment(FOOD, {"a": 1}, kid=OTHER.key_id)), "header member kid"),
    "another's segment": (_segment(lambda one: segment(FOOD, {"a": 1}, sub="usr_b")), "header member sub"),
    "a key that is not the one named": (
        _segment(lambda one: {**segment(FOOD, {"a": 1}, key=OTHER, kid=KEY.key_id)}), "does not open"),
    "one segment twice": (lambda archive: {**archive, "segments": archive["segments"] * 2}, "lifestyle.food twice"),
    "two keys": (
        lambda archive: {**archive, "wrappers": [*archive["wrappers"], wrapper("recovery", CODE, key=OTHER)]},
        "more than one vault key"),
    "other attributes than named": (_segment(lambda one: {**one, "attributes": ["a"]}), "not those that"),
    "a name from a prototype": (_segment(lambda one: segment(FOOD, {"__proto__": {"admin": True}})), "no name of"),
    "a domain from a prototype": (_segment(lambda one: {**one, "domain": "__proto__"}), "is no name"),
    "content that was changed": (
        _segment(lambda one: {**one, "jwe": one["jwe"][:-3] + ("AAA" if one["jwe"][-3:] != "AAA" else "BBA")}), "food"),
    "an unknown wrapper": (_wrapper(lambda one: {**one, "kind": "fingerprint"}), "no kind of wrapper"),
    "a wrapper of another kind": (_wrapper(lambda one: {**one, "kind": "recovery"}), "wrapper 1"),
    "no sealed text": (_segment(lambda one: {**one, "jwe": None}), "not text"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_archive_that_does_not_fit_is_refused_whole(cli, archive, written, tmp_path, what):
    change, reason = HOSTILE[what]
    out = tmp_path / "out.json"

    refused = refusal(cli("open-archive", written(change(archive)), "--out", str(out), stdin=PASSPHRASE.encode()))

    assert reason in refused
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{" * 100_000, "not JSON"),
        ('{"format":' + "[" * 100_000, "nested too deep"),
        ('{"format": "consent-archive/1", "format": "consent-archive/1"}', "given twice"),
        ('{"format": "\\ud800"}', "surrogate"),
    ],
)
def test_text_that_is_no_archive_is_refused(cli, written, text, reason):
    assert reason in refusal(cli("open-archive", written(text), stdin=b"x"))


@pytest.mark.parametrize(
    "secret",
    ["another passphrase", generate_recovery_code(), "", "\udcff"],
    ids=["passphrase", "code", "empty", "no-text"],
)
def test_another_secret_opens_nothing(cli, archive, written, secret):
    done = cli("open-archive", written(archive), stdin=f"{secret}\n".encode("utf-8", "surrogateescape"))
    assert refusal(done)


def test_archive_that_only_a_passkey_opens_says_so(cli, archive, written):
    only = {**archive, "wrappers": archive["wrappers"][2:]}
    assert "passkey alone" in refusal(cli("open-archive", written(only), stdin=b"x"))


def test_archive_and_secret_cannot_both_come_from_standard_input(cli):
    assert "--passphrase-file" in refusal(cli("open-archive", "-", stdin=b"{}"))
    assert "cannot be read" in refusal(cli("open-archive", "absent.json", stdin=b"{}"))
