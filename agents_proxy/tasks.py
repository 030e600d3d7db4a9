"""Every task of this room, for the worker, which looks for them here."""

from agents_proxy.activations.tasks import resume_activations, send_activation
from agents_proxy.analyses.tasks import purge_analyses, resume_analyses, run_analysis
from agents_proxy.deletions.tasks import forget_deletions, resume_deletions, send_deletion
from agents_proxy.financial.tasks import maintain_institutions, refresh_item
from agents_proxy.proxy.tasks import forget_agent_calls

__all__ = [
    "forget_agent_calls",
    "forget_deletions",
    "maintain_institutions",
    "purge_analyses",
    "refresh_item",
    "resume_activations",
    "resume_analyses",
    "resume_deletions",
    "run_analysis",
    "send_activation",
    "send_deletion",
]
