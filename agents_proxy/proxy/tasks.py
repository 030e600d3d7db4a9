"""What the worker does with the record of calls to agents."""

from celery import shared_task

from agents_proxy.proxy import retention


@shared_task(name="agents_proxy.tasks.forget_agent_calls")
def forget_agent_calls() -> int:
    """Delete what was kept long enough; returns how many rows went."""
    return retention.forget_old_calls()
