"""What was done to an app, for its members to read."""

from typing import TYPE_CHECKING, Any

from common.clock import database_now
from developers.apps.models import App, AppAuditEntry

if TYPE_CHECKING:
    from accounts.models import User


def record(*, app: App, by: "User | None", action: str, **facts: Any) -> None:
    """Write down that `by` did `action`, in the caller's transaction; None is the service itself.

    `action` is `<thing>.<what happened>`, such as `token.rotated`; `facts` are JSON and hold no secret.
    """
    AppAuditEntry.objects.create(app=app, member=by, action=action, facts=facts, at=database_now())
