"""What staff see of this room, for Django, which looks for it here: metadata alone."""

from agents_proxy.activations import admin as activation_admin
from agents_proxy.analyses import admin as analysis_admin
from agents_proxy.deletions import admin as deletion_admin
from agents_proxy.destinations import admin as destination_admin
from agents_proxy.financial import admin as financial_admin
from agents_proxy.health import admin as health_admin
from agents_proxy.messaging import admin as messaging_admin
from agents_proxy.processing_consent import admin as consent_admin

__all__ = [
    "activation_admin",
    "analysis_admin",
    "consent_admin",
    "deletion_admin",
    "destination_admin",
    "financial_admin",
    "health_admin",
    "messaging_admin",
]
