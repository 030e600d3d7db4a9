"""Analyses as the tests start and run them."""

from typing import Any

from accounts.models import User
from agents_proxy import stepping, workflow
from agents_proxy.models import Run

SUBMITTED = {"email": "ana@example.org", "fullName": "Ana Sá", "countryCode": "+351", "phoneNumber": "9123456789"}
BODY = {**SUBMITTED, "agreed": True}


def started(user: User) -> Run:
    return workflow.start_analysis(by=user, submitted=SUBMITTED)


def finished(user: User) -> Run:
    """A run that a worker took through its steps."""
    run = started(user)
    stepping.run_through(run.pk)
    return Run.objects.get(pk=run.pk)


def states(run: Run) -> list[str]:
    return list(run.steps.order_by("position").values_list("status", flat=True))


def kept(run: Run) -> Any:
    """The run as the database has it now."""
    return Run.objects.get(pk=run.pk)
