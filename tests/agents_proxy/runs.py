"""Analyses as the tests start and run them."""

from typing import Any

from accounts.models import User
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from tests.agents_proxy.proxy_calls import owning

SUBMITTED = {"email": "ana@example.org", "fullName": "Ana Sá", "countryCode": "+351", "phoneNumber": "9123456789"}
BODY = {**SUBMITTED, "agreed": True}
TICKED = dict.fromkeys(("purpose-profile", "purpose-enrichment", "purpose-brand_affinity"), "on")  # on the page


def body_of(user: User) -> dict[str, Any]:
    """What `user` posts to have an analysis of themselves started, having verified their address."""
    return {**BODY, "email": owning(user).email}


def started(user: User) -> Run:
    submitted = {**SUBMITTED, "email": owning(user).email}
    return analysis_actions.start_analysis(by=user, submitted=submitted)


def finished(user: User) -> Run:
    """A run that a worker took through its steps."""
    run = started(user)
    steps.run_through(run.pk)
    return Run.objects.get(pk=run.pk)


def states(run: Run) -> list[str]:
    return list(run.steps.order_by("position").values_list("status", flat=True))


def kept(run: Run) -> Any:
    """The run as the database has it now."""
    return Run.objects.get(pk=run.pk)
