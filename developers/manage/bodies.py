"""How records become answers of the management addresses."""

from common.clock import rfc3339
from developers.manage.shapes import ManagedApp
from developers.members.models import AppMember


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
