"""Which task the timer starts, and how often, in seconds. docs/operating.md says what each does."""

from typing import Any

TASKS: dict[str, dict[str, Any]] = {
    "write-down-expiry": {"task": "consent.tasks.write_down_expiry", "schedule": 15.0},
    "finish-withdrawals": {"task": "consent.tasks.finish_withdrawals", "schedule": 5.0},
    "chain-reads": {"task": "consent.tasks.chain_reads", "schedule": 5.0},
    "write-pending-audit": {"task": "consent.tasks.write_pending_audit", "schedule": 5.0},
    "find-unrecorded-ends": {"task": "consent.tasks.find_unrecorded_ends", "schedule": 60.0},
    "deliver-webhooks": {"task": "consent.tasks.deliver_webhooks", "schedule": 2.0},
    "write-mails": {"task": "consent.tasks.write_mails", "schedule": 10.0},
    "write-token-mails": {"task": "developers.tasks.write_token_mails", "schedule": 30.0},
    "write-to-members": {"task": "developers.tasks.write_to_members", "schedule": 10.0},
    "write-team-mails": {"task": "developers.tasks.write_team_mails", "schedule": 10.0},
    "sequence-log": {"task": "consent.tasks.sequence_log", "schedule": 2.0},
    "ask-log-witnesses": {"task": "consent.tasks.ask_log_witnesses", "schedule": 2.0},
    "tidy": {"task": "consent.tasks.tidy", "schedule": 3600.0},
    "forget-records": {"task": "consent.tasks.forget_records", "schedule": 600.0},
    "forget-agent-calls": {"task": "agents_proxy.tasks.forget_agent_calls", "schedule": 600.0},
    "forget-rate-counts": {"task": "common.tasks.forget_rate_counts", "schedule": 600.0},
    "write-application-mails": {"task": "developers.tasks.write_application_mails", "schedule": 30.0},
    "recheck-domains": {"task": "developers.tasks.recheck_domains", "schedule": 600.0},
    "forget-unused-logos": {"task": "developers.tasks.forget_unused_logos", "schedule": 3600.0},
    "carry-out-vault-resets": {"task": "pkm.tasks.carry_out_vault_resets", "schedule": 60.0},
    "write-vault-reset-mails": {"task": "pkm.tasks.write_vault_reset_mails", "schedule": 10.0},
    "bring-manifests-up-to-date": {"task": "pkm.tasks.bring_manifests_up_to_date", "schedule": 30.0},
    "forget-logged-requests": {"task": "developers.tasks.forget_logged_requests", "schedule": 600.0},
    "carry-out-erasures": {"task": "accounts.tasks.carry_out_erasures", "schedule": 60.0},
    "write-erasure-mails": {"task": "accounts.tasks.write_erasure_mails", "schedule": 10.0},
    "write-security-mails": {"task": "accounts.tasks.write_security_mails", "schedule": 10.0},
    "resume-analyses": {"task": "agents_proxy.tasks.resume_analyses", "schedule": 2.0},
    "resume-activations": {"task": "agents_proxy.tasks.resume_activations", "schedule": 2.0},
    "maintain-institutions": {"task": "agents_proxy.tasks.maintain_institutions", "schedule": 10.0},
    "purge-analyses": {"task": "agents_proxy.tasks.purge_analyses", "schedule": 60.0},
}

# Where the rows of a queue tell whether its task would find anything: who answers that, by its dotted name. The message
# of such a task is sent only then, and where none was sent for so many seconds.
ANYWAY_AFTER = 60.0
IS_DUE: dict[str, str] = {
    "write-down-expiry": "consent.decisions.expiry.is_due",
    "finish-withdrawals": "consent.decisions.withdrawals.is_due",
    "chain-reads": "consent.exports.read_batches.is_due",
    "write-pending-audit": "consent.ledger.pending.is_due",
    "deliver-webhooks": "consent.notices.webhooks.is_due",
    "write-mails": "consent.mail.actions.is_due",
    "write-token-mails": "developers.tokens.mails.is_due",
    "write-to-members": "developers.members.suspension_mail.is_due",
    "write-team-mails": "developers.members.mail.is_due",
    "sequence-log": "consent.log.sequencing.is_due",
    "ask-log-witnesses": "consent.log.cosigning.is_due",
    "write-application-mails": "developers.applications.mail.is_due",
    "write-vault-reset-mails": "pkm.reset.mail.is_due",
    "bring-manifests-up-to-date": "pkm.segments.exposure.is_due",
    "write-erasure-mails": "accounts.erasure.mail.is_due",
    "write-security-mails": "accounts.security_mail.mail.is_due",
    "resume-analyses": "agents_proxy.analyses.steps.is_due",
    "resume-activations": "agents_proxy.activations.deliveries.is_due",
    "maintain-institutions": "agents_proxy.financial.tasks.is_due",
}
