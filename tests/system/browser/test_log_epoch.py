"""A log that began anew after a restore, in a real browser: what a person is told, and how they go on."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection
from playwright.sync_api import Page, expect

from common.clock import database_now
from common.sql.triggers import lifted
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditHead
from consent.log import keys, restoring
from consent.log.models import LogLeaf
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from pkm.notes import VaultNotes
from tests.chains import entries_about
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn
from tests.system.browser.test_log import forge, open_vault, rules_of, title, verify

pytestmark = pytest.mark.browser
HOLDS = "Your history is as it was written."
FINDING = "The public log begins anew, and nothing shows what was lost."
LOST = "Entries that were seen of your history: 2. Left of them: 1"


def begin_anew(name: str = "one") -> str:
    """What the operator does after a restore without a mirror; the name of the new log."""
    restoring.begin_epoch(name)
    sequence_and_sign()
    return keys.origin(name)


def accept(page: Page, what: str = "the new log", taking: str = "take the new log") -> None:
    """Both looks of the person at what happened."""
    take = page.get_by_role("button", name=f"I know of the restore: {taking}")
    expect(take).to_be_hidden()
    page.get_by_role("button", name=f"Go on with {what}").click()
    take.click()


def test_a_log_that_began_anew_waits_for_the_persons_word(denied: Page) -> None:
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    size = LogLeaf.objects.count()  # with the entry of the release, where this is the first test of the process
    old, new = keys.origin(), begin_anew()

    result = verify(denied)
    expect(title(result)).to_have_text(FINDING)
    expect(result).to_contain_text("It begins anew under another name")
    expect(result.locator("#log-epoch-offer dd")).to_have_text(
        [f"{old}, with {size} entries", new, "All that was seen of your history is still in it"]
    )
    denied.get_by_role("button", name="Go on with the new log").click()
    assert axe_findings_in(THEMES, denied) == []
    expect(title(verify(denied))).to_have_text(FINDING)  # looking again takes nothing

    accept(denied)
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text("The new log is remembered from now on")
    expect(title(verify(denied))).to_have_text(HOLDS)
    expect(result).to_contain_text("The log begins with all that was seen of it before")
    forge("app:")
    expect(title(verify(denied))).to_contain_text("does not hold")


def test_entries_that_a_restore_lost_are_told(denied: Page, consent_request: ConsentRequest) -> None:
    chain = f"person:{consent_request.user.public_id}"
    audit.append(chain=chain, kind="denied", actor="person", at=database_now(), facts={})
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    lose_newest(chain)
    begin_anew()

    result = verify(denied)
    expect(result.locator("#log-epoch-offer dd").last).to_have_text(LOST)
    accept(denied)
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text(LOST)
    expect(title(verify(denied))).to_have_text(HOLDS)


def test_what_one_device_accepted_counts_on_the_others(
    denied: Page, consent_request: ConsentRequest, new_profile: NewProfile, sign_in: SignIn
) -> None:
    sequence_and_sign()
    open_vault(denied)
    expect(title(verify(denied))).to_have_text(HOLDS)
    other = new_profile().new_page()
    sign_in(other, consent_request.user)
    open_vault(other)
    expect(title(verify(other))).to_have_text(HOLDS)
    begin_anew()
    expect(title(verify(other))).to_have_text(FINDING)
    accept(other)
    expect(title(other.locator("#verify-result"))).to_have_text(HOLDS)

    expect(title(verify(denied))).to_have_text(HOLDS)


def test_a_log_of_another_name_and_key_is_a_finding_of_the_key(denied: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    another = Ed25519PrivateKey.generate()
    monkeypatch.setattr(keys, "signing_keys", lambda: [another])
    begin_anew()
    expect(title(verify(denied))).to_contain_text("The public log has another key")


# --- A restore from the mirror: the log is the same, and the rows are those of the backup -----------------------------
def lose_newest(chain: str) -> None:
    """As a backup from before it has it: the leaf is there again, from the mirror, and the entry is not."""
    newest = entries_about(chain).latest("sequence")
    with lifted(connection, rules_of("consent_audit", "audit_facts")):
        newest.kept.delete()
        AuditEntry.objects.filter(pk=newest.pk)._raw_delete(connection.alias)
        AuditHead.objects.filter(chain=newest.chain).update(sequence=1, entry_hash=newest.prev_hash)


@pytest.fixture
def seen_twice(denied: Page, consent_request: ConsentRequest) -> str:
    """The chain, of which the log and this browser have two entries."""
    chain = f"person:{consent_request.user.public_id}"
    audit.append(chain=chain, kind="denied", actor="person", at=database_now(), facts={})
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    return chain


def test_a_person_goes_on_with_what_a_restore_left_of_their_history(denied: Page, seen_twice: str) -> None:
    lose_newest(seen_twice)

    result = verify(denied)
    expect(title(result)).to_contain_text("does not hold")
    expect(result).to_contain_text("Entry by entry it is another history now.")
    expect(result.locator("#history-loss-offer dd")).to_have_text(LOST)
    denied.get_by_role("button", name="Go on with what is left").click()
    assert axe_findings_in(THEMES, denied) == []
    expect(title(verify(denied))).to_contain_text("does not hold")  # looking again takes nothing

    accept(denied, "what is left", "go on")
    expect(title(result)).to_have_text(HOLDS)
    expect(result).to_contain_text(LOST)
    expect(title(verify(denied))).to_have_text(HOLDS)


def test_who_goes_on_with_what_is_left_takes_no_other_log(denied: Page, seen_twice: str) -> None:
    lose_newest(seen_twice)
    forge("app:")
    expect(title(verify(denied))).to_contain_text("does not hold")

    accept(denied, "what is left", "go on")
    result = denied.locator("#verify-result")
    expect(result).to_contain_text("It is older than what was seen: it was rolled back.")
    expect(title(result)).to_contain_text("does not hold")
    expect(denied.locator("#history-loss-offer")).to_have_count(0)


def test_notes_of_the_backup_are_taken_and_then_the_new_log(denied: Page, consent_request: ConsentRequest) -> None:
    sequence_and_sign()
    open_vault(denied)
    expect(title(verify(denied))).to_have_text(HOLDS)
    backup = VaultNotes.objects.get(user=consent_request.user)
    audit.append(chain="person:else", kind="denied", actor="person", at=consent_request.created_at, facts={})
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text(HOLDS)
    VaultNotes.objects.filter(user=consent_request.user).update(jwe=backup.jwe, revision=backup.revision)
    begin_anew()

    result = verify(denied)
    expect(result).to_contain_text("It is older than what this browser put there.")
    accept(denied, "what is left", "go on")
    expect(result).to_contain_text("What your vault remembers of the log is that of the backup")
    expect(title(result)).to_have_text(FINDING)
    accept(denied)
    expect(title(result)).to_have_text(HOLDS)
    expect(title(verify(denied))).to_have_text(HOLDS)
