"""That an agent was asked; never what, and never what it said."""

from django.db import models
from django.db.models import Index
from django.utils.translation import gettext_lazy as _

from agents_proxy.agents import title_of
from agents_proxy.states import CallOutcome
from common.constraints import value_in


class Call(models.Model):
    """One call to an agent, or to the CRM as "crm". `bytes` is the size of its answer, as far as it was read."""

    agent = models.CharField(_("agent"), max_length=32)
    session_id = models.CharField(_("session"), max_length=32)
    task_id = models.CharField(_("task"), max_length=72)
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.SET_NULL, null=True, related_name="calls"
    )
    started_at = models.DateTimeField(_("started"))
    duration_ms = models.PositiveIntegerField(_("milliseconds"))
    outcome = models.CharField(_("outcome"), max_length=32, choices=[(o.value, o.value) for o in CallOutcome])
    bytes = models.PositiveIntegerField(_("bytes"))

    class Meta:
        db_table = "agent_calls"
        ordering = ["-id"]
        verbose_name = _("agent call")
        verbose_name_plural = _("agent calls")
        constraints = [value_in("agent_call_outcome", "outcome", CallOutcome)]
        indexes = [
            Index(fields=["started_at"], name="agent_call_started"),
            # all that the health of an agent is counted from
            Index(fields=["agent", "started_at", "outcome", "duration_ms"], name="agent_call_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{title_of(self.agent)} #{self.pk}"
