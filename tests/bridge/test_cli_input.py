"""Input that cannot be used is one line of reason, whatever it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from consent_bridge.sealed import generate_recovery_code
from tests.bridge.refusals import refusal

AWAY = {"CONSENT_BASE_URL": "http://127.0.0.1:9/api/v1", "CONSENT_DEVELOPER_TOKEN": "t"}
MALFORMED = {
    "empty": (b"", "empty"),
    "blank": (b" \n\t", "empty"),
    "words": (b"this is not sealed", "no compact JWE"),
    "not UTF-8": (b"\xff\xfe\x00", "not ASCII"),
    "NUL": (b"a\x00b", "no compact JWE"),
    "JSON": (b'{"protected": "e30"}', "no compact JWE"),
    "dots": (b"....", "the header is not JSON"),
    "deep header": (b"WyJ" + b"bW1tb" * 600 + b"....", "header"),
    "long header": (b"e30" + b"A" * 5000 + b"....", "header"),
    "huge": (b"A" * (25 * 1024 * 1024), "longer than"),
}


@pytest.mark.parametrize("what", MALFORMED)
@pytest.mark.parametrize("command", ["open-export", "open-segment", "unwrap"])
def test_malformed_input_is_one_line_of_reason(cli, key_file, command, what):
    sealed, reason = MALFORMED[what]
    arguments = {
        "open-export": ["open-export", "--key", str(key_file)],
        "open-segment": ["open-segment", "--vault-key-hex", "00" * 32],
        "unwrap": ["unwrap", "--kind", "recovery"],
    }[command]
    before = generate_recovery_code().encode() + b"\n" if command == "unwrap" else b""

    assert reason in refusal(cli(*arguments, stdin=before + sealed))


def test_truncated_export_is_refused_at_every_length(cli, export, key_file):
    for length in (1, 100, 500, 700, 900, len(export["jwe"]) - 1):
        assert refusal(cli("open-export", "--key", str(key_file), stdin=export["jwe"][:length].encode()))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a JSON object"),
        (b"{}", "no d"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"kty":"OKP","kty":"EC"}', "given twice"),
        (b'{"kty":"OKP","crv":"X25519","x":"AA","d":"AA"}', "x has 1 bytes"),
        (b'{"kty":"RSA","n":"AA","e":"AQAB","d":"AA"}', "RSA"),
        (b'{"d": ' + b"9" * 5000 + b"}", "number is too long"),
        (b" " * (1024 * 1024 + 1), "larger than"),
    ],
)
def test_broken_key_file_is_one_line_of_reason(cli, export, tmp_path, content, reason):
    path = tmp_path / "broken.jwk"
    path.write_bytes(content)

    assert reason in refusal(cli("open-export", "--key", str(path), stdin=export["jwe"].encode()))


def test_file_that_is_not_there_is_one_line_of_reason(cli, export, key_file, tmp_path):
    absent = str(tmp_path / "absent\nfile\x1b[31m")

    assert "cannot be read" in refusal(cli("open-export", "--key", absent, stdin=export["jwe"].encode()))
    assert "cannot be read" in refusal(cli("open-export", "--key", str(key_file), absent))
    assert "cannot be read" in refusal(cli("open-export", "--key", str(key_file), str(tmp_path)))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["unknown"],
        ["open-segment"],
        ["open-export", "--expect", "no value"],
        ["open-export", "--expect", "=value"],
        ["unwrap", "--kind", "fingerprint"],
        ["keygen", "--curve", "P-521"],
        ["request", "usr_a", "attr.a.*"],
        ["wait", "req_a", "--timeout", "soon"],
        ["wait", "req_a", "--timeout", "nan"],
        ["wait", "req_a", "--timeout=-1"],
    ],
)
def test_wrong_command_line_is_exit_2(cli, arguments):
    done = cli(*arguments)

    assert done.returncode == 2
    assert done.stdout == b""
    assert b"usage: consent-bridge" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    ["keygen", "discover", "request", "wait", "read", "open-export", "open-segment", "unwrap", "open-archive"],
)
def test_help_explains_itself(cli, command):
    assert cli("--help").stdout.startswith(b"usage: consent-bridge")
    done = cli(command, "--help")

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: consent-bridge")


@pytest.mark.own_process("a closed standard output is met at exit")
def test_output_that_nobody_reads_is_no_traceback(cli, export, key_file):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "consent_bridge", "open-export", "--key", str(key_file)],
            input=export["jwe"].encode(),
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "bridge")},
        )

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({}, "CONSENT_BASE_URL is not set"),
        ({"CONSENT_BASE_URL": "http://127.0.0.1:9/api/v1"}, "CONSENT_DEVELOPER_TOKEN is not set"),
        ({**AWAY, "CONSENT_BASE_URL": "ftp://127.0.0.1"}, "base address"),
        ({**AWAY, "CONSENT_BASE_URL": "http://127.0.0.1:99999"}, "base address"),
        ({**AWAY, "CONSENT_BASE_URL": "http://a:b@127.0.0.1"}, "base address"),
        ({**AWAY, "CONSENT_DEVELOPER_TOKEN": "a\nb"}, "developer token"),
        (AWAY, "no connection"),
    ],
)
def test_service_that_cannot_be_asked_is_one_line_of_reason(cli, environ, reason):
    assert reason in refusal(cli("discover", "usr_a", **environ))


def test_request_without_a_key_is_one_line_of_reason(cli):
    done = cli("request", "usr_a", "attr.a.*", "--purpose", "Suggest restaurants", **AWAY)

    assert "connector-key.json cannot be read" in refusal(done)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name a request"),
        (["req_unknown"], "was not made on this machine"),
        (["../../etc/passwd"], "not a request id"),
        (["--request", "/dev/null"], "not JSON"),
    ],
)
def test_read_of_a_request_that_is_not_known_is_one_line_of_reason(cli, arguments, reason):
    assert reason in refusal(cli("read", *arguments))


def test_argument_that_is_not_utf_8_is_one_line_of_reason(cli):
    assert "not UTF-8" in refusal(cli("discover", os.fsdecode(b"usr_\xff"), **AWAY))
