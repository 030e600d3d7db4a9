"""What a browser remembers of the public log, and what it says of one that was forged."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Locator, Page, expect

from common.clock import database_now
from common.sql.triggers import Rule, lifted
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditHead, LogQueue
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent.rules import RULES
from pkm.notes import VaultNotes
from tests.chains import entries_about
from tests.system.browser.page_faults import THEMES, Complaints, axe_findings_in
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, unlock

pytestmark = pytest.mark.browser
WAITS = "Your history is as it was written. Not all of it is published yet."


def test_what_is_not_in_the_log_yet_is_on_its_way(denied: Page, consent_request: ConsentRequest) -> None:
    audit.append(chain="person:else", kind="denied", actor="person", at=consent_request.created_at, facts={})
    LogQueue.objects.exclude(entry__in=AuditEntry.objects.of("person:else")).delete()
    sequence_and_sign()
    result = verify(denied)
    expect(title(result)).to_have_text(WAITS)
    expect(result).to_contain_text("Up to entry 0; what came after is on its way")
    expect(result).to_contain_text("The log takes new entries every few seconds: come back in a minute.")


def test_a_log_without_a_checkpoint_is_no_fault_of_the_history(denied: Page, complaints: Complaints) -> None:
    with complaints.expecting(404):
        result = verify(denied)
    expect(title(result)).to_have_text(WAITS)
    expect(result.locator("li")).to_have_text(
        [
            "Holds: 1 entry is as it was written",
            "Holds: You approved everything that is shared now",
            "Not checked: What your other devices saw, since your vault is locked",
            "Not yet: The public log is signed by the key that this browser knows. Nothing has been published yet. "
            "The log takes new entries every few seconds: come back in a minute.",
            "Not checked: Whether others see the same log",
        ]
    )
    assert axe_findings_in(THEMES, denied) == []

    sequence_and_sign()
    expect(title(verify(denied))).to_have_text("Your history is as it was written.")


def test_entries_that_wait_for_long_are_told(denied: Page, consent_request: ConsentRequest) -> None:
    """Nobody is told that the history is forged, and nobody that all is well."""
    sequence_and_sign()
    before = database_now() - timedelta(hours=1)
    audit.append(chain=f"person:{consent_request.user.public_id}", kind="denied", actor="person", at=before, facts={})
    LogQueue.objects.all().delete()

    result = verify(denied)
    expect(title(result)).to_have_text(WAITS)
    expect(result).to_contain_text(
        "Up to entry 1; what came after is on its way. It has been for more than ten minutes"
    )


def test_a_log_that_publishes_nothing_any_more_shows_to_who_saw_it(denied: Page, complaints: Complaints) -> None:
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text("Your history is as it was written.")
    with lifted(connection, rules_of("consent_audit_checkpoints")):
        AuditCheckpoint.objects.all()._raw_delete(connection.alias)

    with complaints.expecting(404):
        result = verify(denied)
    expect(title(result)).to_contain_text("does not hold")
    expect(result).to_contain_text("It publishes nothing any more, though it was seen before.")


@pytest.mark.parametrize(
    ("whose", "message"), [("person:", "Entry by entry it is another history now."), ("app:", "It was rewritten.")]
)
def test_what_was_forged_and_logged_anew_shows_to_the_browser_that_saw_it(
    denied: Page, consent_request: ConsentRequest, whose: str, message: str
) -> None:
    """Somebody with the database and the log's key rewrites this entry, or one beside it, and the log, flawlessly."""
    sequence_and_sign()
    expect(title(verify(denied))).to_have_text("Your history is as it was written.")
    forge(f"person:{consent_request.user.public_id}" if whose == "person:" else whose)

    result = verify(denied)
    expect(title(result)).to_contain_text("does not hold")
    expect(result).to_contain_text(message)


def open_vault(page: Page, passphrase: str = PASSPHRASE) -> None:
    page.goto("/vault/data/lifestyle/")
    unlock(page, passphrase)


def verify(page: Page) -> Locator:
    page.goto("/consent/history/")
    page.get_by_role("button", name="Check this history").click()
    result = page.locator("#verify-result")
    expect(title(result)).to_be_visible()
    return result


def test_a_log_that_was_forged_shows_to_a_device_that_never_saw_it(
    denied: Page, consent_request: ConsentRequest, new_profile: NewProfile, sign_in: SignIn
) -> None:
    """What one device saw lies sealed in the vault, so that the others know it too."""
    sequence_and_sign()
    open_vault(denied)
    expect(verify(denied)).to_contain_text("as it was written")
    forge("app:")

    other = new_profile().new_page()
    sign_in(other, consent_request.user)
    expect(verify(other)).to_contain_text("Not checked: What your other devices saw")
    third = new_profile().new_page()
    sign_in(third, consent_request.user)
    open_vault(third)
    result = verify(third)
    expect(title(result)).to_contain_text("does not hold")
    expect(result).to_contain_text("It was rewritten.")


def test_notes_that_were_taken_away_or_rolled_back_show(denied: Page, consent_request: ConsentRequest) -> None:
    sequence_and_sign()
    open_vault(denied)
    expect(verify(denied)).to_contain_text("as it was written")
    older = VaultNotes.objects.get(user=consent_request.user)
    audit.append(chain="person:else", kind="denied", actor="person", at=consent_request.created_at, facts={})
    sequence_and_sign()
    expect(verify(denied)).to_contain_text("as it was written")

    VaultNotes.objects.filter(user=consent_request.user).update(jwe=older.jwe, revision=older.revision)
    expect(verify(denied)).to_contain_text("It is older than what this browser put there.")
    VaultNotes.objects.filter(user=consent_request.user).delete()
    expect(verify(denied)).to_contain_text("It is gone, though this browser put it there.")


def test_a_history_under_another_name_shows(denied: Page, consent_request: ConsentRequest) -> None:
    """The name of a chain is the server's word: another one is no reason to forget."""
    sequence_and_sign()
    expect(verify(denied)).to_contain_text("as it was written")
    forge(f"person:{consent_request.user.public_id}", chain="c" * 22)

    expect(verify(denied)).to_contain_text("Entry by entry it is another history now.")


def title(result: Locator) -> Locator:
    """What is said of the history; under the title where nobody else confirms it, and the title itself otherwise."""
    return result.locator(".notice-body > p").last


def rules_of(*names: str) -> list[Rule]:
    """Those of the tables whose names begin so."""
    return [rule for rule in RULES if rule.table.startswith(names) and rule.statements(connection.vendor)]


def forge(subject: str, chain: str | None = None) -> None:
    """Rewrite the first entry of such a chain, which may get another name, and build and sign the log over it anew."""
    rules = rules_of("consent_log_", "consent_audit", "audit_facts", "audit_chains")
    entry = entries_about(subject).order_by("pk").first()
    assert entry is not None
    with lifted(connection, rules):
        named = AuditChain.objects.filter(chain=entry.chain)
        entry.actor, entry.chain = "staff", chain or entry.chain
        hashed = ("chain", "sequence", "prev_hash", "kind", "actor", "at", "facts_hash")
        entry.entry_hash = audit.entry_hash(**{name: getattr(entry, name) for name in hashed})
        entry.save()
        AuditHead.objects.filter(chain__in=named.values("chain")).update(chain=entry.chain, entry_hash=entry.entry_hash)
        named.update(chain=entry.chain)
        for model in (LogLeaf, LogTile, AuditCheckpoint, LogQueue):
            model.objects.all()._raw_delete(connection.alias)
        LogState.objects.update(size=0, frontier=b"")
    Path(settings.LOG_SIGNER_FILE).unlink()
    LogQueue.objects.bulk_create(LogQueue(entry=each) for each in AuditEntry.objects.all())
    assert sequence_and_sign()
