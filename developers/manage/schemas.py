"""What the management addresses take, strict, and what they answer."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from common.admission.schemas import Strict, plain_text, unique
from common.clock import rfc3339
from common.shapes import NextCursor, Shape, Time, literal_of
from developers.applications.facts import MOST_ADDRESSES, tried_origin_of
from developers.apps.models import AppMode, AppStatus
from developers.manage.base import EXAMPLE_APP_ID
from developers.members.models import AppInvitation, AppMember, MemberRole
from developers.tokens.models import DeveloperToken

EXAMPLE_MEMBER_ID, EXAMPLE_PREFIX = "mem_t2zp3gog7m6odtqhjuqhpevyku", "k3J9xQ2b"
_DAY = 86400  # seconds


Name = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(plain_text)]
Permissions = Annotated[
    list[Literal["discover", "request", "read"]], Field(min_length=1, max_length=3), AfterValidator(unique)
]


class NewApp(Strict):
    """`POST apps`: a test app."""

    name: Annotated[Name, Field(description="What your sandbox people see.", examples=["Trip Planner"])]


def _origin(written: str) -> str:
    found = tried_origin_of(written)
    if found is None:
        raise ValueError("give an origin without a path, https or on localhost")
    return found


Origin = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_origin)]


class ChangedApp(Strict):
    """`PATCH apps/{app_id}`."""

    name: Annotated[Name | None, Field(description="The new name of a test app.", examples=["Trip Planner"])] = None
    origins: Annotated[
        Annotated[list[Origin], Field(max_length=MOST_ADDRESSES)] | None,
        Field(
            description="Where people may go back to from a test app: https, or http on localhost.",
            examples=[["http://localhost:8090"]],
        ),
    ] = None

    @model_validator(mode="after")
    def _require_a_change(self) -> Self:
        if self.name is None and self.origins is None:
            raise ValueError("give name, origins, or both")
        return self


class NewToken(Strict):
    """`POST apps/{app_id}/tokens`."""

    null_is_absent = False

    label: Annotated[Name, Field(description="What you will know the token by.", examples=["CI"])]
    permissions: Annotated[
        Permissions,
        Field(description="What the token may do; everything by default.", examples=[["discover", "request", "read"]]),
    ] = ["discover", "request", "read"]
    expires_in: Annotated[
        int, Field(ge=60, le=365 * _DAY, description="How many seconds it lives; 90 days by default.")
    ] = 90 * _DAY
    header_only: Annotated[bool, Field(description="Whether it is refused in a query.", examples=[True])] = False


class Rotation(Strict):
    """`POST tokens/{prefix}/rotate`."""

    null_is_absent = False

    overlap: Annotated[
        int,
        Field(
            ge=0,
            le=30 * _DAY,
            description="How many seconds the old token lives on; a day by default.",
            examples=[3600],
        ),
    ] = _DAY


class NewMember(Strict):
    """`POST apps/{app_id}/members`: who is asked to join."""

    email: Annotated[
        str,
        Field(
            min_length=1,
            max_length=254,
            description="Whoever reads this address is asked.",
            examples=["ada@example.org"],
        ),
    ]
    role: Annotated[
        Literal["owner", "member"], Field(description="Owners manage the team too.", examples=["member"])
    ] = "member"


AppId = Annotated[str, Field(examples=[EXAMPLE_APP_ID])]
Role = Annotated[str, literal_of(MemberRole)]


class ManagedApp(Shape):
    """An app, as those see it who manage it."""

    app_id: AppId
    mode: Annotated[
        str,
        literal_of(AppMode),
        Field(
            description="A test app reaches its sandbox people and those of its members who agreed.", examples=["test"]
        ),
    ]
    name: Annotated[str, Field(examples=["Trip Planner"])]
    status: Annotated[str, literal_of(AppStatus), Field(examples=["active"])]
    verified: Annotated[bool, Field(description="Whether staff checked the legal name.", examples=[False])]
    proved_domain: Annotated[str | None, Field(description="The domain that the app proved to hold.")]
    origins: Annotated[list[str], Field(description="Origins of its own web pages.", examples=[[]])]
    return_addresses: Annotated[list[str], Field(description="Where people may be sent back to.", examples=[[]])]
    role: Annotated[Role, Field(description="What the person of the token is to the app.", examples=["owner"])]
    created_at: Time


class ManagedApps(Shape):
    """One page of apps, newest first."""

    items: list[ManagedApp]
    next_cursor: NextCursor


class ManagedToken(Shape):
    """A token of an app, without the token itself."""

    prefix: Annotated[
        str, Field(description="The eight characters after `cr_live_` or `cr_test_`.", examples=[EXAMPLE_PREFIX])
    ]
    app_id: AppId
    label: Annotated[str, Field(examples=["CI"])]
    permissions: Annotated[list[str], Field(examples=[["discover", "request", "read"]])]
    header_only: Annotated[bool, Field(description="Whether it is refused in a query.")]
    created_at: Time
    expires_at: Annotated[Time, Field(examples=["2027-02-18T10:00:00Z"])]
    revoked_at: Annotated[Time | None, Field(description="When it ends before that, as a rotated one does.")]
    last_used_at: Annotated[Time | None, Field(description="To the hour.")]


class MadeToken(ManagedToken):
    """A new token."""

    token: Annotated[
        str,
        Field(
            description="The token itself, shown this once and kept nowhere.", examples=[f"cr_test_{EXAMPLE_PREFIX}_…"]
        ),
    ]


class ManagedTokens(Shape):
    """One page of tokens, newest first, those that ended too."""

    items: list[ManagedToken]
    next_cursor: NextCursor


class ManagedMember(Shape):
    """Somebody who may manage the app."""

    member_id: Annotated[str, Field(description="In this team alone.", examples=[EXAMPLE_MEMBER_ID])]
    role: Annotated[Role, Field(examples=["member"])]
    created_at: Time


class ManagedInvitation(Shape):
    """Somebody who is asked to manage the app, and does once they accept."""

    email: Annotated[str, Field(examples=["ada@example.org"])]
    role: Annotated[Role, Field(examples=["member"])]
    created_at: Time
    expires_at: Annotated[Time, Field(examples=["2026-11-27T10:00:00Z"])]


class ManagedMembers(Shape):
    """One page of members, newest first."""

    items: list[ManagedMember]
    next_cursor: NextCursor


def app_body(member: AppMember) -> ManagedApp:
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
    return {"member_id": member.member_id, "role": member.role, "created_at": rfc3339(member.created_at)}


def invitation_body(invitation: AppInvitation) -> ManagedInvitation:
    """Of somebody who was asked by their address."""
    return {
        "email": invitation.email,
        "role": invitation.role,
        "created_at": rfc3339(invitation.created_at),
        "expires_at": rfc3339(invitation.expires_at),
    }
