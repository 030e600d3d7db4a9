"""`manage.py verify_audit`: does every chain hold?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consent.decisions.unrecorded import verify_ends
from consent.exports.read_batches import verify_reads
from consent.ledger.models import AuditChain, AuditEntry, AuditHead, AuditPending
from consent.ledger.pending import verify_pending
from consent.ledger.verifying import verify
from consent.log.verifying import verify_log


class Command(BaseCommand):
    help = (
        "Checks the audit chains, the reads they hold, the log, entries that wait to be written and ends that no entry "
        "tells of, and names the first broken entry of each."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", help="check one chain only, for example person:usr_…")

    def handle(self, *args: Any, chain: str | None = None, **options: Any) -> None:
        if chain and not AuditChain.objects.filter(subject=chain).exists():
            raise CommandError(f"There is no chain {chain}. A chain is person:<sharing ID> or app:<app ID>.")
        broken = [*verify(chain), *verify_reads(chain), *verify_pending(chain)]
        if not chain:
            broken += [*verify_log(), *verify_ends()]
        for flaw in broken:
            self.stderr.write(f"{flaw.chain} entry {flaw.sequence}: {flaw.reason}")
        if broken:
            chains = AuditHead.objects.count()
            raise CommandError(f"{len(broken)} of {chains} chains or the log do not hold.")
        waiting = AuditPending.objects.filter(chain=chain) if chain else AuditPending.objects.all()
        if count := waiting.count():
            self.stdout.write(f"{count} entries wait to be written.")
        if chain:
            self.stdout.write(f"{chain}, {AuditEntry.objects.of(chain).count()} entries: all hold.")
        else:
            self.stdout.write(f"{AuditHead.objects.count()} chains, {AuditEntry.objects.count()} entries: all hold.")
