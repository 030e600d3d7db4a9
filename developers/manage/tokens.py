"""The tokens of an app, by program."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common.admission.schemas import Nothing, PageQuery
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from common.problems import NotFound
from developers.manage import schemas
from developers.manage.base import ManagementView
from developers.tokens import actions as token_actions
from developers.tokens.models import DeveloperToken

_PREFIX = path_parameter("prefix", "The eight characters after `cr_live_` or `cr_test_`.", schemas.EXAMPLE_PREFIX)


class Tokens(ManagementView):
    """The tokens of an app, and a new one."""

    takes_query = True

    @operation(
        name="listTokens",
        summary="The tokens of an app",
        description="Newest first, in pages, those that ended too. The tokens themselves are kept nowhere.",
        query=PageQuery,
        answers={200: schemas.ManagedTokens},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        rows = DeveloperToken.objects.select_related("app").filter(app=self.member().app)
        return json_answer(self.page(rows, schemas.token_body))

    @operation(
        name="makeToken",
        summary="A new token for an app",
        description="The answer shows the token itself, this once. It lives for 90 days by default, 365 at most.",
        body=schemas.NewToken,
        answers={201: schemas.MadeToken},
    )
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        body = self.body(schemas.NewToken)
        row, token = token_actions.mint_token(
            app=self.member().app,
            label=body.label,
            by=self.manager.user,
            permissions=body.permissions,
            expires_at=timezone.now() + timedelta(seconds=body.expires_in),
            header_only=body.header_only,
        )
        return json_answer(schemas.made_token_body(row, token), status=201)


class _OneToken(ManagementView):
    """A token by its prefix, of whichever app the management token has the permission for."""

    about = "the token's app"

    def token(self) -> DeveloperToken:
        """Raises `NotFound` where there is none with this prefix, or it is of an app that is not theirs."""
        prefix = str(self.kwargs["prefix"])
        known_form = prefix if prefix.isascii() and prefix.isalnum() else ""
        apps = self.memberships().values("app")
        found = DeveloperToken.objects.select_related("app").filter(prefix=known_form, app__in=apps).first()
        if found is None:
            raise NotFound("There is no such token, or it is not yours.")
        return found


class RotateToken(_OneToken):
    """A fresh token in place of a live one."""

    body_required = False

    @operation(
        name="rotateToken",
        summary="A fresh token in place of a live one",
        description="Label, permissions and the header rule are the old token's, which lives on for `overlap` seconds "
        "so that you can change over. A token is rotated once.",
        parameters=[_PREFIX],
        body=schemas.Rotation,
        answers={201: schemas.MadeToken},
    )
    def post(self, request: HttpRequest, prefix: str) -> HttpResponse:
        overlap = timedelta(seconds=self.body(schemas.Rotation).overlap)
        row, token = token_actions.rotate_token(token=self.token(), by=self.manager.user, overlap=overlap)
        return json_answer(schemas.made_token_body(row, token), status=201)


class RevokeToken(_OneToken):
    """The end of a token, at once."""

    body_required = False

    @operation(
        name="revokeToken",
        summary="End a token at once",
        description="It works no more from this moment on, in its overlap too. Repeated calls answer the same.",
        parameters=[_PREFIX],
        body=Nothing,
        answers={200: schemas.ManagedToken},
        example={"revoked_at": "2026-11-21T10:00:00Z", "last_used_at": "2026-11-21T09:00:00Z"},
    )
    def post(self, request: HttpRequest, prefix: str) -> HttpResponse:
        self.body(Nothing)
        token = self.token()
        token_actions.revoke_token(token=token, by=self.manager.user)
        token.refresh_from_db()
        return json_answer(schemas.token_body(token))
