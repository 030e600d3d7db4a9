"""What the worker does by itself, and how often, in seconds. docs/operating.md says what each does.

An entry is one message, whose functions are called one after another (config/tasks.py). `BY_CLOCK` go by the clock.
Those of `WATCHED` work through queues, and their rows tell whether there is anything to do: the timer asks them
(config/beat.py), so that a service with nothing to do does nothing.
"""

from typing import Any, NamedTuple


class Watched(NamedTuple):
    """`seconds` are a multiple of `LOOK_EVERY`. `work` has dotted names: of each function that works, that of the one
    which answers whether it would find anything."""

    seconds: float
    work: dict[str, str]


LOOK, LOOK_EVERY = "look", 2.0  # the entry at which the timer asks, and for which no message is sent
ANYWAY_AFTER = 60.0  # since the last message of an entry; then it is sent whatever the rows say

BY_CLOCK: dict[str, tuple[float, tuple[str, ...]]] = {
    "every-minute": (
        60.0,
        (
            "consent.decisions.late_entries.write_marked",
            "agents_proxy.analyses.actions.purge_analyses",
            "pkm.reset.actions.carry_out_resets",
            "accounts.erasure.actions.erase_due",
        ),
    ),
    "every-ten-minutes": (
        600.0,
        (
            "common.limits.forget_expired",
            "common.cache.forget_expired",
            "developers.request_log.recording.forget_old_requests",
            "agents_proxy.tasks.forget_agent_calls",
            "agents_proxy.deletions.deliveries.forget_deletions",
            "consent.retention.forget_old_records",
            "developers.apps.domain_proof.recheck_domains",
        ),
    ),
    "every-hour": (
        3600.0,
        (
            # first: where deleting takes long, no entry has to wait for it
            "consent.decisions.late_entries.write_missing",
            "consent.retention.forget_what_is_over",
            "developers.oauth.actions.forget_secrets",
            "developers.oauth.clients.forget_unused_clients",
            "developers.apps.logos.forget_unused_logos",
        ),
    ),
}

WATCHED: dict[str, Watched] = {
    "deliver-webhooks": Watched(2, {"consent.tasks.deliver_webhooks": "consent.notices.webhooks.is_due"}),
    "keep-log": Watched(
        2,
        {
            "consent.tasks.sequence_log": "consent.log.sequencing.is_due",
            "consent.tasks.ask_log_witnesses": "consent.log.cosigning.is_due",
        },
    ),
    "resume": Watched(
        2,
        {
            "agents_proxy.tasks.resume_analyses": "agents_proxy.analyses.steps.is_due",
            "agents_proxy.tasks.resume_activations": "agents_proxy.activations.deliveries.is_due",
            "agents_proxy.tasks.resume_deletions": "agents_proxy.deletions.deliveries.is_due",
            "agents_proxy.tasks.resume_corrections": "agents_proxy.analyses.corrections.is_due",
        },
    ),
    "finish-withdrawals": Watched(4, {"consent.tasks.finish_withdrawals": "consent.decisions.withdrawals.is_due"}),
    "write-audit": Watched(
        4,
        {
            "consent.tasks.write_pending_audit": "consent.ledger.pending.is_due",
            "consent.tasks.chain_reads": "consent.exports.read_batches.is_due",
        },
    ),
    "send-mails": Watched(10, {"accounts.tasks.send_mails": "accounts.outbox.is_due"}),
    "send-pushes": Watched(10, {"accounts.tasks.send_pushes": "accounts.alerts.push.is_due"}),
    "maintain-institutions": Watched(
        10, {"agents_proxy.tasks.maintain_institutions": "agents_proxy.financial.tasks.is_due"}
    ),
    "fetch-published-keys": Watched(
        10, {"consent.tasks.fetch_published_keys": "consent.requests.published_keys.is_due"}
    ),
    "write-down-expiry": Watched(
        10,
        {
            "agents_proxy.processing_consent.actions.write_down_expiry": (
                "agents_proxy.processing_consent.actions.is_expiry_due"
            ),
            "consent.tasks.write_down_expiry": "consent.decisions.expiry.is_due",
            "consent.decisions.unused.end_unused": "consent.decisions.unused.is_due",
        },
    ),
    "bring-manifests-up-to-date": Watched(
        30, {"pkm.segments.exposure.bring_paths_up_to_date": "pkm.segments.exposure.is_due"}
    ),
}

WORK: dict[str, tuple[str, ...]] = {
    **{name: functions for name, (_, functions) in BY_CLOCK.items()},
    **{name: tuple(watched.work) for name, watched in WATCHED.items()},
}
TASK = "config.tasks.do_work"
TIMETABLE: dict[str, dict[str, Any]] = {
    LOOK: {"task": LOOK, "schedule": LOOK_EVERY},
    **{name: {"task": TASK, "args": (name,), "schedule": seconds} for name, (seconds, _) in BY_CLOCK.items()},
}
