"""May somebody change a team?"""

from accounts.models import User
from developers.apps.models import App
from developers.apps.policies import lock_open_app
from developers.members.errors import OwnerRequired
from developers.members.models import AppMember, MemberRole


def lock_as_owner(app: App, user: User) -> None:
    """`lock_open_app` for what owners alone do. Raises `InvalidRequest`, `OwnerRequired`."""
    lock_open_app(app)
    require_owner(app, user)


def require_owner(app: App, user: User) -> None:
    """Raise `OwnerRequired` where this person does not own the app now."""
    if not AppMember.objects.filter(app=app, user=user, role=MemberRole.OWNER).exists():
        raise OwnerRequired()
