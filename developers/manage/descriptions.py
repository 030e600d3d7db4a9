"""What the OpenAPI document says of the management addresses: `manages(...)` is `operation(...)` with their token."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from common.admission.shapes import Nothing
from common.problems import TooManyRequests
from developers.errors import BrowserPathRefused, InsufficientScope, InvalidToken
from developers.manage import samples, shapes
from developers.manage.schemas import ChangedApp, NewApp, NewMember, NewToken, Rotation
from developers.members.errors import AlreadyInvited, AlreadyMember, LastOwner, OwnerRequired, TooManyInvitations
from developers.operations import Method, operation, path_parameter, query_parameter

MANAGE = "5. Manage"
_PREFIX = path_parameter("prefix", "The eight characters after `cr_live_` or `cr_test_`.", samples.PREFIX)
_MEMBER_ID = path_parameter("member_id", "Somebody in the team, as it is listed.", samples.MEMBER_ID)
APP_ID = path_parameter("app_id", "The app.", samples.APP_ID)
PAGE = [
    query_parameter("cursor", "Where the page begins.", {"type": "string", "minLength": 1, "maxLength": 64}),
    query_parameter("limit", "Entries on a page.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}),
]
_READS = "`read` for the app, in a management token"
_WRITES = "`write` for the app, in a management token"
_WRITES_APP_OF_IT = "`write` for the token's app, in a management token"
_LET_IN = (InvalidToken, BrowserPathRefused, TooManyRequests)
_WITH_MANAGEMENT_TOKEN = (*_LET_IN, InsufficientScope)


class ManagementTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """The one way in which a management token travels."""

    target_class = "developers.manage.authentication.ManagementTokenHeader"
    name = "management"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "Your own management token, `cr_mgmt_…`. It may do what you may do, at most.",
        }


def manages(*, writes: bool = False, permission: str = "", **told: Any) -> Callable[[Method], Method]:
    """Describe a method of a `ManagementView`; `permission` only where it is another one than the app's."""
    needed = permission or (_WRITES if writes else _READS)
    return operation(tag=MANAGE, permission=needed, **{"token": _WITH_MANAGEMENT_TOKEN, **told})


list_apps = manages(
    name="listApps",
    summary="The apps that you manage",
    description="Those of your apps that the token has `read` for. Newest first, in pages.",
    permission="`read` for any app, in a management token",
    token=_LET_IN,  # without `read` for any app the list is empty
    parameters=PAGE,
    answers={200: shapes.ManagedApps},
    example=samples.APPS,
)
make_test_app = manages(
    name="makeTestApp",
    summary="Make a test app",
    description=(
        "A test app needs nobody's approval. It reaches its own sandbox people and those members who agreed, and "
        "you own it. Nobody owns more than twenty."
    ),
    permission="`write` for every app (`*`), in a management token",
    body=NewApp,
    body_example={"name": "Trip Planner"},
    answers={201: shapes.ManagedApp},
    example=samples.APP,
)
get_app = manages(
    name="getApp",
    summary="One of your apps",
    description="What you are to it, and how it stands.",
    parameters=[APP_ID],
    answers={200: shapes.ManagedApp},
    example=samples.APP,
)
change_app = manages(
    name="changeApp",
    summary="Rename a test app",
    description="What people are shown of a live app changes by an application alone.",
    writes=True,
    parameters=[APP_ID],
    body=ChangedApp,
    body_example={"name": "Trip Planner"},
    answers={200: shapes.ManagedApp},
    example=samples.APP,
)
list_tokens = manages(
    name="listTokens",
    summary="The tokens of an app",
    description="Newest first, in pages, those that ended too. The tokens themselves are kept nowhere.",
    parameters=[APP_ID, *PAGE],
    answers={200: shapes.ManagedTokens},
    example=samples.TOKENS,
)
make_token = manages(
    name="makeToken",
    summary="A new token for an app",
    description="The answer shows the token itself, this once. It lives for 90 days by default, 365 at most.",
    writes=True,
    parameters=[APP_ID],
    body=NewToken,
    body_example=samples.NEW_TOKEN,
    answers={201: shapes.MadeToken},
    example=samples.MADE_TOKEN,
)
rotate_token = manages(
    name="rotateToken",
    summary="A fresh token in place of a live one",
    description=(
        "Label, permissions and the header rule are the old token's, which lives on for `overlap` seconds so that you "
        "can change over. A token is rotated once."
    ),
    permission=_WRITES_APP_OF_IT,
    parameters=[_PREFIX],
    body=Rotation,
    body_example={"overlap": 3600},
    answers={201: shapes.MadeToken},
    example=samples.MADE_TOKEN,
)
revoke_token = manages(
    name="revokeToken",
    summary="End a token at once",
    description="It works no more from this moment on, in its overlap too. Repeated calls answer the same.",
    permission=_WRITES_APP_OF_IT,
    parameters=[_PREFIX],
    body=Nothing,
    body_example={},
    answers={200: shapes.ManagedToken},
    example=samples.REVOKED_TOKEN,
)
list_members = manages(
    name="listMembers",
    summary="The team of an app",
    description="Newest first, in pages. People are named by an ID that they have in this team alone.",
    parameters=[APP_ID, *PAGE],
    answers={200: shapes.ManagedMembers},
    example=samples.MEMBERS,
)
add_member = manages(
    name="addMember",
    summary="Invite somebody to the team",
    description=(
        "Whoever reads this address is asked by mail, and joins once they accept, within seven days. For owners, who "
        "find the invitation in the portal and can withdraw it there."
    ),
    writes=True,
    parameters=[APP_ID],
    body=NewMember,
    body_example={"email": samples.INVITATION["email"], "role": "member"},
    answers={201: shapes.ManagedInvitation},
    example=samples.INVITATION,
    refusals=[OwnerRequired, AlreadyMember, AlreadyInvited, TooManyInvitations],
)
remove_member = manages(
    name="removeMember",
    summary="Take somebody out of the team",
    description="For owners; anybody may take themselves out. An app always keeps an owner.",
    writes=True,
    parameters=[APP_ID, _MEMBER_ID],
    no_content=True,
    refusals=[OwnerRequired, LastOwner],
)
