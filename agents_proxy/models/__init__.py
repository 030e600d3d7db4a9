"""What this room remembers. Nothing of it is a prompt or an answer in clear."""

from agents_proxy.models.aggregator import Item, LinkSession, RefreshRun
from agents_proxy.models.analysis import Run, Step
from agents_proxy.models.call import Call
from agents_proxy.models.consent import ProcessingConsent
from agents_proxy.models.messaging import MessageTemplate, OutboundMessage, PhoneNumber

__all__ = [
    "Call",
    "Item",
    "LinkSession",
    "MessageTemplate",
    "OutboundMessage",
    "PhoneNumber",
    "ProcessingConsent",
    "RefreshRun",
    "Run",
    "Step",
]
