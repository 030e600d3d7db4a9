"""A log that changes its key, in a real browser: what is learned, what is shown, and what a person can do about it."""

from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import BrowserContext, Page, expect

from common.clock import database_now
from consent.ledger import audit
from consent.log import keys
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn
from tests.system.browser.test_log import forge, open_vault, title, verify

pytestmark = pytest.mark.browser
HOLDS = "Your history is as it was written."
FINDING = "The public log has another key, and nobody whom this browser knows vouches for it."
VOUCHED = "The key of the log is changing, and the known one vouches for the new one"


@pytest.fixture
def signing(denied: Page, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets the log be signed by these keys from its next entry on.

    The test is the sequencer here; the server, a process of its own, would name the keys after a restart.
    """
    name_keys(denied.context)

    def change(*signed_by: Ed25519PrivateKey) -> None:
        monkeypatch.setattr(keys, "signing_keys", lambda: list(signed_by))
        one_more()

    return change


def name_keys(context: BrowserContext) -> None:
    context.route("**/log/key", lambda route: route.fulfill(body="".join(f"{key}\n" for key in keys.verifier_keys())))


def one_more() -> None:
    """An entry of somebody else, sequenced and signed."""
    audit.append(chain="person:else", kind="denied", actor="person", at=database_now(), facts={})
    sequence_and_sign()


def test_a_new_key_is_learned_while_both_sign(denied: Page, signing: Callable[..., None]) -> None:
    [old], new = keys.signing_keys(), Ed25519PrivateKey.generate()
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)

    signing(new, old)
    result = verify(denied)
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text(VOUCHED)
    expect(verify(denied)).not_to_contain_text(VOUCHED)

    signing(new)
    result = verify(denied)  # the newest entry's own proof is of the old key's time
    expect(title(result)).to_have_text(HOLDS)
    expect(result).not_to_contain_text(VOUCHED)


def test_who_comes_after_the_change_never_knew_the_old_key(
    denied: Page, consent_request: ConsentRequest, new_profile: NewProfile, sign_in: SignIn,
    signing: Callable[..., None],
) -> None:  # fmt: skip
    """The proof of their newest entry is of the old key's time."""
    sequence_and_sign()
    signing(Ed25519PrivateKey.generate())
    profile = new_profile()
    name_keys(profile)
    other = profile.new_page()
    sign_in(other, consent_request.user)

    result = verify(other)
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text("Your newest entries are in the log")


def test_what_another_device_learned_counts_here_too(
    denied: Page, consent_request: ConsentRequest, new_profile: NewProfile, sign_in: SignIn,
    signing: Callable[..., None],
) -> None:  # fmt: skip
    [old], new = keys.signing_keys(), Ed25519PrivateKey.generate()
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    profile = new_profile()
    name_keys(profile)
    other = profile.new_page()
    sign_in(other, consent_request.user)
    open_vault(other)
    signing(new, old)
    expect(title(verify(other))).to_have_text(HOLDS)
    signing(new)
    expect(title(verify(other))).to_have_text(HOLDS)

    expect(title(verify(denied))).to_have_text(FINDING)
    open_vault(denied)
    expect(title(verify(denied))).to_have_text(HOLDS)


def test_a_key_that_nobody_vouches_for_waits_for_the_persons_word(denied: Page, signing: Callable[..., None]) -> None:
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    signing(Ed25519PrivateKey.generate())

    result = verify(denied)
    expect(title(result)).to_have_text(FINDING)
    expect(result).to_contain_text("the one that this browser knows does not vouch for it")
    [named] = keys.verifier_keys()
    expect(result.locator("#log-key-offer code")).to_have_text([str(named)])
    assert axe_findings_in(THEMES, denied) == []
    expect(title(verify(denied))).to_have_text(FINDING)  # looking again teaches nothing

    denied.get_by_role("button", name="The operator confirmed this key: take it").click()
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text("The public log is signed by the key that you took")
    expect(title(verify(denied))).to_have_text(HOLDS)


def test_a_key_that_is_taken_makes_no_rewritten_log_right(denied: Page, signing: Callable[..., None]) -> None:
    """The word counts for the key alone: what was seen has to be in the log all the same."""
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    forge("app:")
    signing(Ed25519PrivateKey.generate())
    result = verify(denied)
    expect(title(result)).to_have_text(FINDING)

    denied.get_by_role("button", name="The operator confirmed this key: take it").click()
    expect(result).to_contain_text("It was rewritten.")
    expect(title(result)).to_contain_text("does not hold")
