"""What the worker does by itself, and how often, in seconds. docs/operating.md says what each does.

`TASKS` go by the clock. The tasks of `WATCHED` work through a queue, and its rows tell whether there is anything to do:
the timer asks them (config/beat.py), so that a service with nothing to do does nothing.
"""

from typing import Any, NamedTuple


class Watched(NamedTuple):
    """`seconds` are a multiple of `LOOK_EVERY`; `is_due` is the dotted name of a function that answers whether the task
    would find anything."""

    task: str
    seconds: float
    is_due: str


LOOK, LOOK_EVERY = "look", 2.0  # the entry at which the timer asks, and for which no message is sent
ANYWAY_AFTER = 60.0  # since the last message of a queue's task; then it is sent whatever the rows say

TASKS: dict[str, dict[str, Any]] = {
    LOOK: {"task": LOOK, "schedule": LOOK_EVERY},
    "write-late-entries": {"task": "consent.tasks.write_late_entries", "schedule": 60.0},
    "tidy": {"task": "consent.tasks.tidy", "schedule": 3600.0},
    "forget-records": {"task": "consent.tasks.forget_records", "schedule": 600.0},
    "forget-agent-calls": {"task": "agents_proxy.tasks.forget_agent_calls", "schedule": 600.0},
    "forget-deletions": {"task": "agents_proxy.tasks.forget_deletions", "schedule": 600.0},
    "forget-rate-counts": {"task": "common.tasks.forget_rate_counts", "schedule": 600.0},
    "recheck-domains": {"task": "developers.tasks.recheck_domains", "schedule": 600.0},
    "forget-unused-logos": {"task": "developers.tasks.forget_unused_logos", "schedule": 3600.0},
    "forget-logged-requests": {"task": "developers.tasks.forget_logged_requests", "schedule": 600.0},
    "forget-oauth": {"task": "developers.tasks.forget_oauth", "schedule": 3600.0},
    "carry-out-vault-resets": {"task": "pkm.tasks.carry_out_vault_resets", "schedule": 60.0},
    "carry-out-erasures": {"task": "accounts.tasks.carry_out_erasures", "schedule": 60.0},
    "purge-analyses": {"task": "agents_proxy.tasks.purge_analyses", "schedule": 60.0},
}

WATCHED: dict[str, Watched] = {
    "deliver-webhooks": Watched("consent.tasks.deliver_webhooks", 2, "consent.notices.webhooks.is_due"),
    "sequence-log": Watched("consent.tasks.sequence_log", 2, "consent.log.sequencing.is_due"),
    "ask-log-witnesses": Watched("consent.tasks.ask_log_witnesses", 2, "consent.log.cosigning.is_due"),
    "resume-analyses": Watched("agents_proxy.tasks.resume_analyses", 2, "agents_proxy.analyses.steps.is_due"),
    "resume-activations": Watched(
        "agents_proxy.tasks.resume_activations", 2, "agents_proxy.activations.deliveries.is_due"
    ),
    "resume-deletions": Watched("agents_proxy.tasks.resume_deletions", 2, "agents_proxy.deletions.deliveries.is_due"),
    "resume-corrections": Watched(
        "agents_proxy.tasks.resume_corrections", 4, "agents_proxy.analyses.corrections.is_due"
    ),
    "finish-withdrawals": Watched("consent.tasks.finish_withdrawals", 4, "consent.decisions.withdrawals.is_due"),
    "chain-reads": Watched("consent.tasks.chain_reads", 4, "consent.exports.read_batches.is_due"),
    "write-pending-audit": Watched("consent.tasks.write_pending_audit", 4, "consent.ledger.pending.is_due"),
    "send-mails": Watched("accounts.tasks.send_mails", 10, "accounts.outbox.is_due"),
    "send-pushes": Watched("accounts.tasks.send_pushes", 10, "accounts.alerts.push.is_due"),
    "maintain-institutions": Watched(
        "agents_proxy.tasks.maintain_institutions", 10, "agents_proxy.financial.tasks.is_due"
    ),
    "fetch-published-keys": Watched("consent.tasks.fetch_published_keys", 10, "consent.requests.published_keys.is_due"),
    "write-down-expired-consents": Watched(
        "agents_proxy.tasks.write_down_expired_consents", 10, "agents_proxy.processing_consent.actions.is_expiry_due"
    ),
    "write-down-expiry": Watched("consent.tasks.write_down_expiry", 14, "consent.decisions.expiry.is_due"),
    "end-unused-access": Watched("consent.tasks.end_unused_access", 30, "consent.decisions.unused.is_due"),
    "bring-manifests-up-to-date": Watched("pkm.tasks.bring_manifests_up_to_date", 30, "pkm.segments.exposure.is_due"),
}
