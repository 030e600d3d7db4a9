"""A service restored to yesterday: the person's own program says what went back, before anything is shown or sealed."""

import json

import pytest

from consent.grants.models import Grant
from consent_bridge.sealed import generate_connector_key
from consent_bridge.vault_notes import RolledBack
from tests.factories.accounts import PASSWORD
from tests.system.backup import Backup
from tests.system.bridge.steps import CUISINE, PASSPHRASE, ask


@pytest.fixture
def approve(cli, service, person, tmp_path):
    """`consent-bridge approve`, which keeps what it saw in a folder of its own."""

    def run(request_id, *arguments):
        where = ("--site", service, "--login", person.email)
        return cli("approve", request_id, "--invited", *where, *arguments, stdin=f"{PASSWORD}\n{PASSPHRASE}\n".encode())

    return run


def test_what_went_back_is_told_before_anything_is_shown_or_sealed(approve, caller, owner, person, tmp_path):
    first, second = (ask(caller, person, generate_connector_key(), refresh_policy="continuous") for _ in range(2))
    approve(first.request_id, "--digest", first.request_digest, "--attribute", CUISINE)
    yesterday = Backup(tmp_path)
    owner.update("lifestyle", "food", {"favorite_cuisine": "Korean"})
    assert json.loads(approve(second.request_id).stdout)["values_that_would_leave"][CUISINE] == "Korean"
    approve(second.request_id, "--digest", second.request_digest, "--attribute", CUISINE)
    assert Grant.objects.filter(status="active").count() == 1  # the second took the place of the first

    yesterday.restore()
    outcomes = [approve(second.request_id), approve(second.request_id, "--digest", second.request_digest)]

    for done in outcomes:
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"lifestyle.food went back from revision 2 to 1" in done.stderr
        assert b"ask the operator" in done.stderr
    assert [grant.request.request_id for grant in Grant.objects.all()] == [first.request_id]

    taken = approve(second.request_id, "--take-older-state", "--digest", second.request_digest, "--attribute", CUISINE)
    assert (taken.returncode, json.loads(taken.stdout)["status"]) == (0, "approved")


def test_a_grant_that_was_stopped_and_is_back_gets_nothing(caller, owner, person, tmp_path):
    """Of the program that stopped it, and after the person went on with the older state."""
    made_request = ask(caller, person, generate_connector_key(), refresh_policy="continuous")
    approved = owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)
    yesterday = Backup(tmp_path)
    owner.revoke(approved.grant.grant_id)

    yesterday.restore()
    assert Grant.objects.get().status == "active"

    with pytest.raises(RolledBack):
        owner.refresh_grant(approved)
    owner.take_older_state()
    with pytest.raises(Exception, match="remembers no such approval"):
        owner.refresh_grant(approved)
    assert Grant.objects.get().exports.count() == 1
