"""What staff see of this room, for Django, which looks for it here: metadata, read-only, and looking leaves a trace."""

from consent.decisions import admin as decision_admin
from consent.discovery import admin as discovery_admin
from consent.exports import admin as export_admin
from consent.grants import admin as grant_admin
from consent.ledger import admin as ledger_admin
from consent.log import admin as log_admin
from consent.notices import admin as notice_admin
from consent.requests import admin as request_admin
from consent.sandbox import admin as sandbox_admin

__all__ = [
    "decision_admin",
    "discovery_admin",
    "export_admin",
    "grant_admin",
    "ledger_admin",
    "log_admin",
    "notice_admin",
    "request_admin",
    "sandbox_admin",
]
