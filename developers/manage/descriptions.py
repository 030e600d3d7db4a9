"""What the OpenAPI document says of the management addresses: `manages(...)` is `operation(...)` with their token."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from developers.errors import BrowserPathRefused, InsufficientScope, InvalidToken
from developers.manage import samples, shapes
from developers.operations import Method, operation, path_parameter, query_parameter

MANAGE = "5. Manage"
APP_ID = path_parameter("app_id", "The app.", samples.APP_ID)
PAGE = [
    query_parameter("cursor", "Where the page begins.", {"type": "string", "minLength": 1, "maxLength": 64}),
    query_parameter("limit", "Entries on a page.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}),
]
_READS = "`read` for the app, in a management token"
_WRITES = "`write` for the app, in a management token"
_WITH_MANAGEMENT_TOKEN = (InvalidToken, BrowserPathRefused, InsufficientScope)


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
    return operation(tag=MANAGE, permission=needed, token=_WITH_MANAGEMENT_TOKEN, **told)


list_apps = manages(
    name="listApps",
    summary="The apps that you manage",
    description="Those of your apps that the token has `read` for. Newest first, in pages.",
    permission="`read` for any app, in a management token",
    parameters=PAGE,
    answers={200: shapes.ManagedApps},
    example=samples.APPS,
)
