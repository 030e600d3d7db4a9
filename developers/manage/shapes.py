"""What the management addresses answer with, written once."""

from typing import Annotated

from django.db.models import TextChoices
from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from common.shapes import NextCursor, Shape, Time
from developers.apps.models import AppMode, AppStatus
from developers.members.models import MemberRole


def _one_of(choices: type[TextChoices]) -> GetPydanticSchema:
    """The values in place, where pydantic would make a component of its own for each enumeration."""
    return GetPydanticSchema(lambda source, handler: literal_schema([str(value) for value in choices]))


AppId = Annotated[str, Field(examples=["app_o7w3vq5d2ykx6bq4m2nrzj5cfe"])]
Role = Annotated[str, _one_of(MemberRole)]


class ManagedApp(Shape):
    """An app, as those see it who manage it."""

    app_id: AppId
    mode: Annotated[
        str,
        _one_of(AppMode),
        Field(description="A test app reaches its sandbox people and those of its members who agreed."),
    ]
    name: str
    status: Annotated[str, _one_of(AppStatus)]
    verified: Annotated[bool, Field(description="Whether staff checked the legal name.")]
    proved_domain: Annotated[str | None, Field(description="The domain that the app proved to hold.")]
    origins: Annotated[list[str], Field(description="Origins of its own web pages.")]
    return_addresses: Annotated[list[str], Field(description="Where people may be sent back to.")]
    role: Annotated[Role, Field(description="What the person of the token is to the app.")]
    created_at: Time


class ManagedApps(Shape):
    """One page of apps, newest first."""

    items: list[ManagedApp]
    next_cursor: NextCursor


class ManagedToken(Shape):
    """A token of an app, without the token itself."""

    prefix: Annotated[str, Field(description="The eight characters after `cr_live_` or `cr_test_`.")]
    app_id: AppId
    label: str
    permissions: list[str]
    header_only: Annotated[bool, Field(description="Whether it is refused in a query.")]
    created_at: Time
    expires_at: Time
    revoked_at: Annotated[Time | None, Field(description="When it ends before that, as a rotated one does.")]
    last_used_at: Annotated[Time | None, Field(description="To the hour.")]


class MadeToken(ManagedToken):
    """A new token."""

    token: Annotated[str, Field(description="The token itself, shown this once and kept nowhere.")]


class ManagedTokens(Shape):
    """One page of tokens, newest first, those that ended too."""

    items: list[ManagedToken]
    next_cursor: NextCursor


class ManagedMember(Shape):
    """Somebody who may manage the app."""

    member_id: Annotated[str, Field(description="In this team alone.", examples=["mem_t2zp3gog7m6odtqhjuqhpevyku"])]
    role: Role
    created_at: Time


class ManagedInvitation(Shape):
    """Somebody who is asked to manage the app, and does once they accept."""

    email: Annotated[str, Field(examples=["ada@example.org"])]
    role: Role
    created_at: Time
    expires_at: Time


class ManagedMembers(Shape):
    """One page of members, newest first."""

    items: list[ManagedMember]
    next_cursor: NextCursor
