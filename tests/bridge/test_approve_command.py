"""`consent-bridge approve`: first what would leave is shown, then that very request is approved."""

import json

import pytest

from consent_bridge.sealed import request_digest
from consent_bridge.signatures import verified
from tests.bridge.fake_site import LOGIN, PASSPHRASE, PASSWORD

SECRETS = f"{PASSWORD}\n{PASSPHRASE}\n".encode()
CUISINE = "lifestyle.food.favorite_cuisine"


@pytest.fixture
def approve(cli, fake, unlocked):
    def run(*arguments, stdin=SECRETS):
        return cli("approve", "req_a", "--site", fake.url, "--login", LOGIN, *arguments, stdin=stdin)

    return run


def test_what_would_leave_is_shown_and_nothing_is_decided(approve, site):
    shown = json.loads(approve().stdout)

    assert shown["values_that_would_leave"][CUISINE] == "Thai-canary"
    assert shown["request"] == site.request
    assert shown["digest"] == request_digest(site.request)
    assert site.decisions == []


def test_a_digest_that_begins_with_a_hyphen_is_one(approve, site):
    refused = approve("--digest", "-" + "x" * 42, "--attribute", CUISINE)

    assert (refused.returncode, site.decisions) == (1, [])
    assert b"usage:" not in refused.stderr


def test_the_request_that_was_shown_is_approved(approve, site):
    digest = json.loads(approve("--attribute", CUISINE).stdout)["digest"]

    done = approve("--digest", digest, "--attribute", CUISINE)

    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "approved")
    [decision] = site.decisions
    claims = verified(decision["approval"], "consent-approval+jwt", decision["approval_key"], "it")
    assert (claims["approved_attributes"], claims["request_digest"]) == ([CUISINE], digest)
    assert b"Thai-canary" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["--digest", "A" * 43], SECRETS, b"not the one that was shown"),
        ([], f"{PASSWORD}\nanother passphrase\n".encode(), b""),
        ([], f"wrong\n{PASSPHRASE}\n".encode(), b"the address or the password is wrong"),
        ([], PASSWORD.encode(), b"one a line"),
        ([], b"\xff\n\xff\n", b"not UTF-8"),
    ],
    ids=["another digest", "another passphrase", "another password", "one secret", "no text"],
)
def test_nothing_is_decided_where_something_does_not_fit(approve, site, arguments, stdin, message):
    done = approve(*arguments, stdin=stdin)

    assert (done.returncode, site.decisions) == (1, [])
    assert message in done.stderr
    assert PASSPHRASE.encode() not in done.stdout + done.stderr
