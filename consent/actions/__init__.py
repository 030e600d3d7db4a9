"""Every change that the consent runtime makes, one verb each."""

from consent.actions.asking import request_consent
from consent.actions.deciding import approve, deny, refresh_export
from consent.actions.discovery import flush_discoveries, note_discovery
from consent.actions.ending import (
    cancel_requests_of,
    end_consent,
    pause,
    resume,
    revoke,
    terminate,
    write_down_expiry,
)
from consent.actions.guarding import block_app, keep_current, report_app, stop_app, unblock_app
from consent.actions.reading import ExportAnswer, read_export

__all__ = [
    "ExportAnswer",
    "approve",
    "block_app",
    "cancel_requests_of",
    "deny",
    "end_consent",
    "flush_discoveries",
    "keep_current",
    "note_discovery",
    "pause",
    "read_export",
    "refresh_export",
    "report_app",
    "request_consent",
    "resume",
    "revoke",
    "stop_app",
    "terminate",
    "unblock_app",
    "write_down_expiry",
]
