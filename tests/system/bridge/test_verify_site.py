"""`verify-site` against the deployed form of the service, behind a proxy that alters one thing at a time."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings

from consent.release.manifest import Release, read_key, signed, verifier_of
from consent_bridge.owner import Owner
from tests.altering import Exchange, altered
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.fresh import signing_key
from tests.patience import eventually
from tests.served_site import Served

RELEASE = "/.well-known/consent-release.json"
JOSE = re.compile(r"/static/vendor/jose\.[0-9a-f]{12}\.js\Z")


@pytest.fixture(scope="module")
def served() -> Any:
    """One server for all looks, made within the first one, which has a database."""
    made: list[Served] = []
    yield made
    for server in made:
        server.stop()
        server.close()


@pytest.fixture
def site(served: list[Served], transactional_db: None) -> str:
    if not served:
        served.append(Served())
        served[0].start()
    return served[0].address


@pytest.fixture
def key(site: str) -> str:
    """The release key as its releaser would have published it."""
    return collected("done").read_text()


def collected(name: str) -> Path:
    """What was made beside the static files of this run: tests/served_site.py."""
    return Path(settings.RUN_VAR) / "collected" / name


@pytest.fixture
def look(cli: Any, tmp_path: Path) -> Any:
    """Look at a site: exit code, what was printed, and what was said."""

    def run(url: str, *arguments: str, **environ: str) -> tuple[int, dict[str, Any], str]:
        done = cli("verify-site", url, *arguments, CONSENT_BRIDGE_STATE=str(tmp_path / "state"), **environ)
        return done.returncode, json.loads(done.stdout or b"{}"), done.stderr.decode()

    return run


def found(report: dict[str, Any]) -> set[tuple[str, str]]:
    return {(finding["where"], finding["what"]) for finding in report["findings"]}


def test_a_site_that_runs_its_release_is_told_so_signed_out_and_in(site: str, key: str, look: Any) -> None:
    person = PersonFactory()
    with Owner(site) as owner:
        owner.sign_in(person.email, PASSWORD)
        session = "\n".join(f"{cookie.name}={cookie.value}" for cookie in owner._site._session.cookies)

    code, report, error = look(site, "--release-key", key, CONSENT_SESSION=session)

    assert (code, error, report["findings"]) == (0, "", [])
    out, inside = report["looks"]["signed out"], report["looks"]["signed in"]
    assert out["files"] > 100
    assert out["pages"] > 10
    assert inside["pages"] > out["pages"]
    served = Release(released(site)["note"])
    assert report["release"]["manifest_sha256"] == served.sha256


def one_byte(answer: Exchange) -> None:
    """A space more at the end of one module that only others import: nothing of it shows."""
    if JOSE.match(answer.path):
        answer.body += b" "


def another_worker(answer: Exchange) -> None:
    """No page names it as its script, and it may answer for all of them."""
    if answer.path == "/service-worker.js":
        answer.body += b" "


def inline(answer: Exchange) -> None:
    put(answer, "/accounts/login/", b"<script>steal()</script>")


def put(answer: Exchange, path: str, markup: bytes) -> None:
    """Markup at the end of one page."""
    if answer.path == path:
        answer.body = answer.body.replace(b"</body>", markup + b"</body>")


def loosened(answer: Exchange) -> None:
    if answer.path == "/accounts/login/":
        policy = answer.headers["content-security-policy"]
        answer.headers["content-security-policy"] = policy.replace("script-src ", "script-src 'unsafe-inline' ")


def no_policy(answer: Exchange) -> None:
    if answer.path == "/":
        del answer.headers["content-security-policy"]


def another_script(answer: Exchange) -> None:
    put(answer, "/", b'<script src="/static/js/new.js"></script>')


def from_elsewhere(answer: Exchange) -> None:
    put(answer, "/", b'<script src="https://evil.example/x.js"></script>')


def handler(answer: Exchange) -> None:
    put(answer, "/", b"<img src=x onerror=steal()>")


def hidden(answer: Exchange) -> None:
    """For this parser all of it is a comment, and for a browser only its beginning."""
    put(answer, "/", b"<!-- --!><script>steal()</script> -->")


def without_hash(answer: Exchange) -> None:
    if answer.path == "/":
        answer.body = re.sub(rb' integrity="[^"]+"', b"", answer.body, count=1)


def another_map(answer: Exchange) -> None:
    if answer.path == "/":
        answer.body = answer.body.replace(b'{"integrity"', b'{ "integrity"')


@pytest.mark.parametrize(
    ("alter", "where", "what"),
    [
        (one_byte, "/static/vendor/jose.", "the file is not the release's"),
        (another_worker, "/service-worker.js", "the service worker is not the release's"),
        (inline, "/accounts/login/", "an inline script that is not the release's"),
        (loosened, "/accounts/login/", "another policy than the release's: script-src"),
        (no_policy, "/", "no policy"),
        (another_script, "/", "a script that the release does not have, /static/js/new.js"),
        (from_elsewhere, "/", "a script from elsewhere, https://evil.example/x.js"),
        (handler, "/", "an inline handler, onerror"),
        (hidden, "/", "a script hidden in the markup"),
        (without_hash, "/", "a script without the hash that the release has of it"),
        (another_map, "/", "an inline script that is not the release's"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_each_alteration_is_found(alter: Any, where: str, what: str, site: str, key: str, look: Any) -> None:
    with altered(site, alter) as proxy:
        code, report, error = look(proxy, "--release-key", key)

    assert code == 1
    assert "runs something else than its release" in error
    assert found(report)
    assert all(at.startswith(where) and finding.startswith(what) for at, finding in found(report)), found(report)


def test_what_is_served_to_one_session_alone_is_found_by_a_look_with_it(site: str, key: str, look: Any) -> None:
    def for_one(answer: Exchange) -> None:
        if "sessionid=victim" in answer.request_headers.get("cookie", ""):
            inline(answer)

    with altered(site, for_one) as proxy:
        assert look(proxy, "--release-key", key)[0] == 0
        code, report, _ = look(proxy, CONSENT_SESSION="sessionid=victim")

    assert code == 1
    assert {finding["as"] for finding in report["findings"]} == {"signed in"}


def test_a_manifest_that_somebody_else_signed_is_refused(site: str, key: str, look: Any, tmp_path: Path) -> None:
    def rewritten(answer: Exchange) -> None:
        if answer.path == RELEASE:
            body = json.loads(answer.body)
            answer.body = json.dumps({**body, "note": body["note"].replace('"format":1', '"format":1 ')}).encode()

    with altered(site, rewritten) as proxy:
        code, _, error = look(proxy, "--release-key", key)
    assert (code, "does not hold" in error) == (1, True)

    other = tmp_path / "other.json"
    other.write_text(json.dumps(signing_key()))
    another = str(verifier_of(read_key(other)))
    code, _, error = look(site, "--release-key", another)
    assert (code, "no key of this release's releaser" in error) == (1, True)


def test_the_first_look_needs_a_key_and_pins_it(site: str, key: str, look: Any) -> None:
    code, _, error = look(site)
    assert (code, "give --release-key" in error) == (1, True)

    assert look(site, "--release-key", key, "--pages", "1")[1]["release_keys_are"].startswith("new")
    assert look(site, "--pages", "1")[1]["release_keys_are"] == "known"


def test_a_manifest_got_elsewhere_shows_another_release(site: str, key: str, look: Any, tmp_path: Path) -> None:
    """Such as an older release, which the same key signed and whose script-src has the hash of another import map."""
    older = json.loads(Release(released(site)["note"]).text)
    older["assets"] = {name: "0" * 64 if "/jose." in name else digest for name, digest in older["assets"].items()}
    private = read_key(collected("release-key.json"))
    elsewhere = tmp_path / "release.note"
    elsewhere.write_text(signed(f"{json.dumps(older)}\n", private, verifier_of(private)))

    code, report, _ = look(site, "--release-key", key, "--manifest", str(elsewhere))

    assert code == 1
    assert "the file is not the release's" in {what for _, what in found(report)}


@pytest.mark.usefixtures("transactional_db")
def test_the_release_is_entered_once_and_proved_by_the_log(look: Any, tmp_path: Path) -> None:
    site = Served(LOG_SIGNER_FILE=str(tmp_path / "signer.json"))
    try:
        site.start()
        key = collected("done").read_text()
        eventually(lambda: released(site.address)["entry"], "the release's entry")
        assert look(site.address, "--release-key", key, "--pages", "1")[1]["log"] == {"entered": True, "proved": False}
        site.stop()
        site.start()  # the same release once more: no second entry
        site.manage("sequence_log", "--once")

        code, report, error = look(site.address, "--pages", "1")
    finally:
        site.stop()
        site.close()

    assert (code, error) == (0, "")
    assert (report["log"]["proved"], report["log"]["index"], report["log"]["size"]) == (True, 0, 1)


def released(site: str) -> dict[str, Any]:
    body: dict[str, Any] = requests.get(f"{site}{RELEASE}", timeout=60).json()
    return body
