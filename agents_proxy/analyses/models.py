"""Analyses and their steps. What goes in and comes out is encrypted at rest (common.encryption)."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import ANSWERED_STEPS as _ANSWERED
from agents_proxy.states import LEASED_STEPS as _LEASED
from agents_proxy.states import RunStatus, StepStatus
from common.constraints import all_or_none, check, value_in
from common.identifiers import new_identifier

ANSWERED_STEPS, LEASED_STEPS = ([state.value for state in states] for states in (_ANSWERED, _LEASED))
_UNFINISHED = Q(status__in=[RunStatus.QUEUED.value, RunStatus.RUNNING.value])


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
            value_in("analysis_run_status", "status", RunStatus),
            check(
                "analysis_run_finish_together",
                (_UNFINISHED & Q(finished_at__isnull=True)) | (~_UNFINISHED & Q(finished_at__isnull=False)),
            ),
            check("analysis_run_running_started", ~Q(status="running") | Q(started_at__isnull=False)),
            all_or_none("analysis_run_profile_together", "profile", "provenance"),
            check("analysis_run_result_at_end", ~_UNFINISHED | Q(profile__isnull=True, metadata__isnull=True)),
        ]
        indexes = [
            Index(fields=["user", "-created_at"], name="analysis_run_of_user"),
            Index(fields=["purge_at"], name="analysis_run_purge"),
            Index(fields=["id"], condition=_UNFINISHED, name="analysis_run_unfinished"),
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
            UniqueConstraint(fields=["user", "field"], name="correction_once"),
            check("correction_due_under_consent", Q(due_at__isnull=True) | Q(consent__isnull=False)),
        ]
        indexes = [Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="correction_due")]


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
            UniqueConstraint(fields=["run", "position"], name="analysis_step_position_once"),
            UniqueConstraint(fields=["run", "agent"], name="analysis_step_agent_once"),
            value_in("analysis_step_status", "status", StepStatus),
            check(
                "analysis_step_lease_together",
                Q(status__in=LEASED_STEPS, lease_until__isnull=False)
                | (~Q(status__in=LEASED_STEPS) & Q(lease_until__isnull=True)),
            ),
            check(
                "analysis_step_times_together",
                Q(status="waiting", started_at__isnull=True, finished_at__isnull=True)
                | Q(status__in=LEASED_STEPS, started_at__isnull=False, finished_at__isnull=True)
                | Q(status__in=[*ANSWERED_STEPS, "failed"], started_at__isnull=False, finished_at__isnull=False)
                | Q(status="skipped", finished_at__isnull=False),
            ),
            check(
                "analysis_step_error_together",
                (Q(status="failed") & ~Q(error_code=""))
                | Q(status="skipped")
                | (~Q(status__in=["failed", "skipped"]) & Q(error_code="")),
            ),
            check(
                "analysis_step_success_has_reply",
                ~Q(status__in=ANSWERED_STEPS) | Q(reply__isnull=False, field_count__isnull=False),
            ),
            check("analysis_step_fields_of_success", Q(status="succeeded") | Q(fields__isnull=True)),
            check("analysis_step_question_there", ~Q(status="input_required") | Q(conversation__isnull=False)),
        ]
        indexes = [
            Index(fields=["lease_until"], condition=Q(status__in=LEASED_STEPS), name="analysis_step_leases"),
            Index(fields=["finished_at"], condition=Q(status="failed"), name="analysis_step_failures"),
        ]
