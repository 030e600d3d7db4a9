"""Analyses and their steps. What goes in and comes out is encrypted at rest (common.encryption)."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import ANSWERED_STEPS as _ANSWERED
from agents_proxy.states import HELD_STEPS as _HELD
from agents_proxy.states import RunStatus, StepStatus
from common.identifiers import new_identifier

ANSWERED_STEPS, HELD_STEPS = ([state.value for state in states] for states in (_ANSWERED, _HELD))
_UNFINISHED = models.Q(status__in=[RunStatus.QUEUED.value, RunStatus.RUNNING.value])


def new_analysis_id() -> str:
    return new_identifier("ana")


class Run(models.Model):
    """One analysis that a person asked for. `input` and `profile` are sealed JSON; `purge_at` ends all of it."""

    analysis_id = models.CharField(
        _("analysis ID"), max_length=64, unique=True, editable=False, default=new_analysis_id
    )
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="analysis_runs", db_index=False)
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.PROTECT, related_name="analysis_runs"
    )
    input = models.TextField()
    status = models.CharField(
        _("status"), max_length=24, choices=[(s.value, s.value) for s in RunStatus], default=RunStatus.QUEUED
    )
    profile = models.TextField(null=True)  # noqa: DJ001  # null until the run ends
    provenance = models.JSONField(null=True)
    metadata = models.JSONField(null=True)
    started_at = models.DateTimeField(_("started"), null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    retried_at = models.DateTimeField(_("a step tried again"), null=True)
    purge_at = models.DateTimeField(_("deleted on"))
    created_at = models.DateTimeField(_("asked"), auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "analysis_runs"
        ordering = ["-created_at", "-id"]
        verbose_name = _("analysis")
        verbose_name_plural = _("analyses")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in RunStatus]), name="analysis_run_status"
            ),
            models.CheckConstraint(
                condition=(_UNFINISHED & models.Q(finished_at__isnull=True))
                | (~_UNFINISHED & models.Q(finished_at__isnull=False)),
                name="analysis_run_finish_together",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="running") | models.Q(started_at__isnull=False),
                name="analysis_run_running_started",
            ),
            models.CheckConstraint(
                condition=models.Q(profile__isnull=True, provenance__isnull=True)
                | models.Q(profile__isnull=False, provenance__isnull=False),
                name="analysis_run_profile_together",
            ),
            models.CheckConstraint(
                condition=~_UNFINISHED | models.Q(profile__isnull=True, metadata__isnull=True),
                name="analysis_run_result_at_end",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="analysis_run_of_user"),
            models.Index(fields=["purge_at"], name="analysis_run_purge"),
            models.Index(fields=["id"], condition=_UNFINISHED, name="analysis_run_unfinished"),
        ]

    def __str__(self) -> str:
        return self.analysis_id


class Correction(models.Model):
    """What a person says of a field, in place of every agent; `value` is sealed JSON, null where they refuse it.

    `due_at` is when the update agent is told of it, under `consent`; null where it was, or is not to be.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="corrections", db_index=False)
    field = models.CharField(max_length=120)
    value = models.TextField(null=True)  # noqa: DJ001  # null where it is refused
    at = models.DateTimeField()
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "corrections"
        constraints = [
            models.UniqueConstraint(fields=["user", "field"], name="correction_once"),
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(consent__isnull=False),
                name="correction_due_under_consent",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="correction_due"),
        ]


class Step(models.Model):
    """One agent's part of a run. `attempt` is the fence: only who claimed this attempt may record its end.

    `reply` is the agent's sealed text, kept where nothing could parse it too; `fields` is what was read out of it,
    sealed JSON, so that pages need not read it again; `reading` says how it was read. `conversation` is what the agent
    asked and was answered, sealed JSON with the upstream's names of it. `lease_until` is how long a worker holds the
    step, or how long a question waits for its answer. `arrived`, of a running step, is how many events of a streamed
    answer there were when that was last written down.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps", db_index=False)
    position = models.PositiveSmallIntegerField()
    agent = models.CharField(max_length=32)
    task_id = models.CharField(max_length=72)
    status = models.CharField(
        max_length=16, choices=[(s.value, s.value) for s in StepStatus], default=StepStatus.WAITING
    )
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    reply = models.TextField(null=True)  # noqa: DJ001  # null until the agent answered
    fields = models.TextField(null=True)  # noqa: DJ001  # null until the step succeeded
    reading = models.TextField(null=True)  # noqa: DJ001  # null until an object was found in a reply
    conversation = models.TextField(null=True)  # noqa: DJ001  # null unless the agent asked something
    arrived = models.PositiveIntegerField(null=True)
    repaired = models.BooleanField(default=False)
    field_count = models.PositiveIntegerField(null=True)
    error_code = models.CharField(max_length=48, blank=True)

    class Meta:
        db_table = "analysis_steps"
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="analysis_step_position_once"),
            models.UniqueConstraint(fields=["run", "agent"], name="analysis_step_agent_once"),
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in StepStatus]), name="analysis_step_status"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=HELD_STEPS, lease_until__isnull=False)
                | (~models.Q(status__in=HELD_STEPS) & models.Q(lease_until__isnull=True)),
                name="analysis_step_lease_together",
            ),
            models.CheckConstraint(
                condition=models.Q(status="waiting", started_at__isnull=True, finished_at__isnull=True)
                | models.Q(status__in=HELD_STEPS, started_at__isnull=False, finished_at__isnull=True)
                | models.Q(status__in=[*ANSWERED_STEPS, "failed"], started_at__isnull=False, finished_at__isnull=False)
                | models.Q(status="skipped", finished_at__isnull=False),
                name="analysis_step_times_together",
            ),
            models.CheckConstraint(
                condition=(models.Q(status="failed") & ~models.Q(error_code=""))
                | models.Q(status="skipped")
                | (~models.Q(status__in=["failed", "skipped"]) & models.Q(error_code="")),
                name="analysis_step_error_together",
            ),
            models.CheckConstraint(
                condition=~models.Q(status__in=ANSWERED_STEPS)
                | models.Q(reply__isnull=False, field_count__isnull=False),
                name="analysis_step_success_has_reply",
            ),
            models.CheckConstraint(
                condition=models.Q(status="succeeded") | models.Q(fields__isnull=True),
                name="analysis_step_fields_of_success",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="input_required") | models.Q(conversation__isnull=False),
                name="analysis_step_question_there",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"], condition=models.Q(status__in=HELD_STEPS), name="analysis_step_leases"
            ),
            models.Index(fields=["finished_at"], condition=models.Q(status="failed"), name="analysis_step_failures"),
        ]
