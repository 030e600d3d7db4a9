"""The command line as its user meets it: a process with its output, its reason and its exit code."""

import json
import stat

import pytest

from consent_bridge.sealed import generate_vault_key, thumbprint, wrap
from tests.bridge.refusals import refusal


@pytest.mark.parametrize("curve", ["X25519", "P-256"])
def test_keygen_writes_the_private_key_and_prints_the_public(cli, tmp_path, curve):
    path = tmp_path / "new" / "app.jwk"

    done = cli("keygen", "--key", str(path), "--curve", curve)

    private = json.loads(path.read_text())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {
        "connector_public_key": {name: value for name, value in private.items() if name != "d"},
        "thumbprint": thumbprint(private),
    }
    assert private["crv"] == curve
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_keygen_keeps_an_existing_file_unless_forced(cli, key_file):
    before = key_file.read_text()

    assert "exists" in refusal(cli("keygen", "--out", str(key_file)))
    assert key_file.read_text() == before
    assert cli("keygen", "--out", str(key_file), "--force").returncode == 0
    assert key_file.read_text() != before
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


def test_keygen_without_a_file_uses_the_state_directory(cli, state, tmp_path):
    assert cli("keygen").returncode == 0
    assert cli("keygen", CONSENT_CONNECTOR_KEY=str(tmp_path / "other.jwk")).returncode == 0
    assert (state / "connector-key.json").exists()
    assert (tmp_path / "other.jwk").exists()


def test_keygen_where_it_cannot_write_is_refused(cli, tmp_path):
    (tmp_path / "file").write_text("")

    assert "cannot be written" in refusal(cli("keygen", "--key", str(tmp_path / "file" / "app.jwk")))


@pytest.mark.parametrize("way", ["standard input", "a dash", "a file"])
def test_open_export_prints_the_content(cli, export, key_file, tmp_path, way):
    sealed = f"\n{export['jwe']}\r\n".encode()
    (tmp_path / "export.jwe").write_bytes(sealed)
    named = {"standard input": [], "a dash": ["-"], "a file": [str(tmp_path / "export.jwe")]}[way]

    done = cli("open-export", "--key", str(key_file), *named, stdin=b"" if way == "a file" else sealed)

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == export["plaintext"]


def test_open_export_checks_what_is_expected(cli, export, key_file):
    right = [f"--expect={name}={value}" for name, value in export["header"].items()]

    done = cli("open-export", "--key", str(key_file), *right, stdin=export["jwe"].encode())

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ("aud=app_other", "header member aud is"),
        ("revision=2", 'header member revision is 1, not "2"'),
        ("revision=01", "header member revision is"),
        ("color=red", 'the header has no member "color"'),
        ("iss=", "header member iss is"),
        ("request_digest=a=b", "header member request_digest is"),
    ],
)
def test_open_export_that_is_not_what_is_expected_is_refused(cli, export, key_file, expected, reason):
    done = cli("open-export", "--key", str(key_file), "--expect", expected, stdin=export["jwe"].encode())

    assert reason in refusal(done)


def test_open_segment_prints_the_attributes(cli, vectors):
    segment = vectors["segments"][1]
    arguments = ["--expect", "domain=identity", "--expect", "content_revision=4"]

    done = cli(
        "open-segment",
        "--vault-key-hex",
        vectors["vault"]["vault_key_hex"],
        *arguments,
        stdin=segment["jwe"].encode(),
        LC_ALL="C",
        PYTHONIOENCODING="ascii",
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("utf-8")) == segment["plaintext"]
    assert "Zoë Łukasiewicz-Ñandú" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("vault_key", "expected", "reason"),
    [
        ("00" * 32, "domain=lifestyle", "does not open"),
        ("00" * 31, "domain=lifestyle", "31 bytes, not 32"),
        ("zz", "domain=lifestyle", "not hexadecimal"),
        ("00" * 32, "segment_id=fitness", 'segment_id is "food", not "fitness"'),
    ],
)
def test_open_segment_that_is_not_right_is_refused(cli, vectors, vault_key, expected, reason):
    sealed = vectors["segments"][0]["jwe"].encode()

    done = cli("open-segment", "--vault-key-hex", vault_key, "--expect", expected, stdin=sealed)

    assert reason in refusal(done)


@pytest.mark.parametrize(
    ("kind", "secret"), [("passphrase", "passphrase"), ("recovery", "code"), ("passkey", "prf_output_hex")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.usefixtures("real_passphrases")
def test_unwrap_prints_the_vault_key(cli, vectors, kind, secret, end):
    wrapper = vectors["wrappers"][kind]

    done = cli("unwrap", "--kind", kind, stdin=f"{wrapper[secret]}{end}{wrapper['jwe']}{end}".encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == vectors["vault"]


def test_unwrap_takes_the_sealed_text_from_a_file_too(cli, vectors, tmp_path):
    wrapper = vectors["wrappers"]["recovery"]
    (tmp_path / "wrapper.jwe").write_text(wrapper["jwe"])

    done = cli("unwrap", "--kind", "recovery", str(tmp_path / "wrapper.jwe"), stdin=wrapper["code"].encode())

    assert json.loads(done.stdout) == vectors["vault"]


def test_unwrap_keeps_the_spaces_of_a_passphrase(cli):
    key = generate_vault_key()
    sealed = wrap(key, "passphrase", " spaces at both ends ", "usr_a")

    assert cli("unwrap", "--kind", "passphrase", stdin=f" spaces at both ends \n{sealed}".encode()).returncode == 0
    refused = cli("unwrap", "--kind", "passphrase", stdin=f"spaces at both ends\n{sealed}".encode())
    assert "does not open" in refusal(refused)


@pytest.mark.parametrize(
    ("kind", "secret", "reason"),
    [
        ("passphrase", b"", "the passphrase is empty"),
        ("passphrase", b"\xff\xfe", "not UTF-8"),
        ("passphrase", b"p" * 9000, "longer than 8192"),
        ("passphrase", b"wrong horse battery", "does not open"),
        ("recovery", b"wrong", "recovery code"),
        ("passkey", b"not hex", "not hexadecimal"),
    ],
)
def test_unwrap_with_a_wrong_secret_is_refused(cli, vectors, kind, secret, reason):
    sealed = vectors["wrappers"][kind]["jwe"]

    assert reason in refusal(cli("unwrap", "--kind", kind, stdin=secret + b"\n" + sealed.encode()))
