"""Every record of this room, for Django, which looks for them here; the features keep them."""

from developers.applications.models import ApplicationStatus, DeveloperApplication
from developers.apps.models import App, AppAuditEntry, AppMode, AppStatus, Logo, new_app_id
from developers.idempotency import IdempotencyKey
from developers.members.models import AppInvitation, AppMember, MemberRole
from developers.oauth.models import OAuthClient, OAuthSecret
from developers.people import AppPerson
from developers.request_log.models import LoggedRequest
from developers.tokens.models import (
    DeveloperToken,
    ManagementPermission,
    ManagementToken,
    Permission,
    default_expiry,
    default_permissions,
)
from developers.webhooks.models import WebhookEndpoint
