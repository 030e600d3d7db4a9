"""How records become answers of the management addresses."""

from common.clock import rfc3339
from developers.manage.shapes import MadeToken, ManagedApp, ManagedInvitation, ManagedMember, ManagedToken
from developers.members.models import AppInvitation, AppMember
from developers.tokens.models import DeveloperToken


def app_body(member: AppMember) -> ManagedApp:
    """The app of this membership."""
    app = member.app
    return {
        "app_id": app.app_id,
        "mode": app.mode,
        "name": app.name,
        "status": app.status,
        "verified": app.verified,
        "proved_domain": app.proved_domain or None,
        "origins": app.origins,
        "return_addresses": app.return_addresses,
        "role": member.role,
        "created_at": rfc3339(app.created_at),
    }


def token_body(row: DeveloperToken) -> ManagedToken:
    return {
        "prefix": row.prefix,
        "app_id": row.app.app_id,
        "label": row.label,
        "permissions": row.permissions,
        "header_only": row.header_only,
        "created_at": rfc3339(row.created_at),
        "expires_at": rfc3339(row.expires_at),
        "revoked_at": rfc3339(row.revoked_at),
        "last_used_at": rfc3339(row.last_used_at),
    }


def made_token_body(row: DeveloperToken, token: str) -> MadeToken:
    """With the token itself, for the one answer that shows it."""
    return {**token_body(row), "token": token}


def member_body(member: AppMember) -> ManagedMember:
    return {
        "member_id": member.member_id,
        "role": member.role,
        "created_at": rfc3339(member.created_at),
    }


def invitation_body(invitation: AppInvitation) -> ManagedInvitation:
    """Of somebody who was asked by their address."""
    return {
        "email": invitation.email,
        "role": invitation.role,
        "created_at": rfc3339(invitation.created_at),
        "expires_at": rfc3339(invitation.expires_at),
    }
