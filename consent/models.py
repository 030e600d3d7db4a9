"""Every record of this room, for Django, which looks for them here; the features keep them."""

from consent.approvals.models import ApprovalKey
from consent.connections.models import Connection
from consent.connector_keys.models import ConnectorKey, PublishedKeys
from consent.decisions.models import AppReport, BlockedApp, ReportNote, ReportStatus, ScopeWithdrawal
from consent.discovery.models import DirectoryFind, Discovery
from consent.exports.models import Export, ForgottenReads, Read
from consent.grants.models import Grant
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, AuditPending, LogQueue, Receipt
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.mail.models import Mail
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.requests.models import ConsentRequest, OwnRules, ScopeTemplate
from consent.sandbox.models import SandboxPerson
