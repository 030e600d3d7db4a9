"""Who watches the log is remembered by browser and vault, and changes by the word of those alone who were known."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection
from playwright.sync_api import Page, expect

from common.clock import database_now
from common.sql.triggers import lifted
from consent.ledger import audit
from consent.log import cosigning, keys, witness_changes
from consent.log.models import AuditCheckpoint
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent_bridge import notes
from tests.fakes.serving import serving
from tests.fakes.witness import Witness, server_of
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn
from tests.system.browser.test_log import WAITS, open_vault, rules_of, title, verify

pytestmark = pytest.mark.browser
HOLDS = "Your history is as it was written."
UNCONFIRMED = "Not confirmed by others"
CONFIRMED = "Holds: Witnesses saw the same log within a day"
FOLLOWED = "Other witnesses watch the log now, and those that were known vouch for them"

Hire = Callable[[str], tuple[str, str]]


@pytest.fixture
def hire(settings: Any, tmp_path: Path) -> Iterator[Hire]:
    """Starts a witness, and tells what LOG_WITNESSES names it by."""
    settings.LOG_WITNESSES, settings.LOG_WITNESS_QUORUM = [], None
    cosigning._sizes.clear()
    with ExitStack() as running:

        def start(name: str) -> tuple[str, str]:
            logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
            witness = Witness(name=name, key=Ed25519PrivateKey.generate(), logs=logs, path=tmp_path / name)
            return str(witness.key), running.enter_context(serving(server_of(witness)))

        yield start


@pytest.fixture
def watched_by(settings: Any) -> Callable[..., None]:
    """Lets these watch the log, as after a start with them, and cosign what is in it."""

    def watch(*witnesses: tuple[str, str]) -> None:
        settings.LOG_WITNESSES = list(witnesses)
        witness_changes.record()
        audit.append(chain="person:else", kind="denied", actor="person", at=database_now(), facts={})
        sequence_and_sign()
        cosigning.request_cosignatures()

    return watch


def leaving(witness: tuple[str, str]) -> tuple[str, str]:
    return f"-{witness[0]}", witness[1]


def test_what_witnesses_saw_is_confirmed(denied: Page, hire: Hire, watched_by: Callable[..., None]) -> None:
    watched_by(hire("w1.example"), hire("w2.example"))

    result = verify(denied)

    expect(result.locator(".notice-title")).to_have_text(HOLDS)
    expect(result).to_contain_text(CONFIRMED)
    assert axe_findings_in(THEMES, denied) == []


def test_one_of_two_is_no_quorum(denied: Page, hire: Hire, watched_by: Callable[..., None]) -> None:
    second, _ = hire("w2.example")
    watched_by(hire("w1.example"), (second, "http://127.0.0.1:9"))
    with lifted(connection, rules_of("consent_audit_checkpoints")):  # it has waited long enough for the second
        AuditCheckpoint.objects.update(at=database_now() - timedelta(seconds=11))

    result = verify(denied)

    expect(result.locator(".notice-title")).to_have_text(UNCONFIRMED)
    expect(title(result)).to_have_text(WAITS)  # its proofs wait for the quorum, too
    expect(result).to_contain_text("too few of the witnesses that are known saw this one within a day")
    assert axe_findings_in(THEMES, denied) == []


def test_witnesses_that_others_vouch_for_are_followed(
    denied: Page, hire: Hire, watched_by: Callable[..., None]
) -> None:
    first, second = hire("w1.example"), hire("w2.example")
    watched_by(first)
    expect(verify(denied).locator(".notice-title")).to_have_text(HOLDS)

    watched_by(leaving(first), second)
    result = verify(denied)
    expect(result.locator(".notice-title")).to_have_text(HOLDS)
    expect(result).to_contain_text(FOLLOWED)

    watched_by(second)
    result = verify(denied)
    expect(result.locator(".notice-title")).to_have_text(HOLDS)
    expect(result).not_to_contain_text(FOLLOWED)


def test_witnesses_that_nobody_vouches_for_confirm_nothing(
    denied: Page, consent_request: ConsentRequest, hire: Hire, watched_by: Callable[..., None],
    new_profile: NewProfile, sign_in: SignIn,
) -> None:  # fmt: skip
    """Whoever writes the database and serves the log names witnesses of their own: who saw the former ones notices."""
    watched_by(hire("w1.example"))
    open_vault(denied)
    expect(verify(denied).locator(".notice-title")).to_have_text(HOLDS)

    watched_by(hire("mallory.example"))

    result = verify(denied)
    expect(result.locator(".notice-title")).to_have_text(UNCONFIRMED)
    expect(result).not_to_contain_text(FOLLOWED)

    # a device that meets the log only now believes them until the vault says whom the person knew
    other = new_profile().new_page()
    sign_in(other, consent_request.user)
    expect(verify(other).locator(".notice-title")).to_have_text(HOLDS)
    open_vault(other)
    expect(verify(other).locator(".notice-title")).to_have_text(UNCONFIRMED)


def test_a_first_witness_is_taken_as_the_log_names_it(
    denied: Page, hire: Hire, watched_by: Callable[..., None]
) -> None:
    sequence_and_sign()
    expect(verify(denied).locator(".notice-title")).to_have_text(UNCONFIRMED)

    watched_by(hire("w1.example"))

    result = verify(denied)
    expect(result.locator(".notice-title")).to_have_text(HOLDS)
    expect(result).to_contain_text(FOLLOWED)
