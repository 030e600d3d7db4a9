"""What people allowed."""

from consent.models.audit import AuditCheckpoint, AuditEntry, AuditHead, AuditPending, CheckpointHead
from consent.models.delivery import DeliveryStatus, Mail, MailKind, WebhookDelivery
from consent.models.discovery import AppReport, BlockedApp, Discovery, DiscoveryMiss
from consent.models.grant import Export, Grant, Read
from consent.models.notice import Notice, NoticeCounter
from consent.models.receipt import Receipt
from consent.models.request import ConsentRequest, RefreshPolicy
from consent.models.template import ScopeTemplate

__all__ = [
    "AppReport",
    "AuditCheckpoint",
    "AuditEntry",
    "AuditHead",
    "AuditPending",
    "BlockedApp",
    "CheckpointHead",
    "ConsentRequest",
    "DeliveryStatus",
    "Discovery",
    "DiscoveryMiss",
    "Export",
    "Grant",
    "Mail",
    "MailKind",
    "Notice",
    "NoticeCounter",
    "Read",
    "Receipt",
    "RefreshPolicy",
    "ScopeTemplate",
    "WebhookDelivery",
]
