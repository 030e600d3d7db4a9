"""The tokens of an app, by program."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common.admission.shapes import Nothing, PageQuery
from common.json_bodies import json_answer
from common.problems import NotFound
from developers.manage import descriptions as described
from developers.manage.base import ManagementView
from developers.manage.bodies import made_token_body, token_body
from developers.manage.schemas import NewToken, Rotation
from developers.tokens import actions as token_actions
from developers.tokens.models import DeveloperToken


class Tokens(ManagementView):
    """The tokens of an app, and a new one."""

    http_method_names = ["get", "post"]
    takes_query = True

    @described.list_tokens
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        rows = DeveloperToken.objects.select_related("app").filter(app=self.member().app)
        return json_answer(self.page(rows, token_body))

    @described.make_token
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        asked = self.body(NewToken)
        row, token = token_actions.mint_token(
            app=self.member().app,
            label=asked.label,
            by=self.manager.user,
            permissions=asked.permissions,
            expires_at=timezone.now() + timedelta(seconds=asked.expires_in),
            header_only=asked.header_only,
        )
        return json_answer(made_token_body(row, token), status=201)


class _OneToken(ManagementView):
    """A token by its prefix, of whichever app the management token has the permission for."""

    http_method_names = ["post"]

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

    @described.rotate_token
    def post(self, request: HttpRequest, prefix: str) -> HttpResponse:
        overlap = timedelta(seconds=self.body(Rotation).overlap)
        row, token = token_actions.rotate_token(token=self.token(), by=self.manager.user, overlap=overlap)
        return json_answer(made_token_body(row, token), status=201)


class RevokeToken(_OneToken):
    """The end of a token, at once."""

    body_required = False

    @described.revoke_token
    def post(self, request: HttpRequest, prefix: str) -> HttpResponse:
        self.body(Nothing)
        token = self.token()
        token_actions.revoke_token(token=token, by=self.manager.user)
        token.refresh_from_db()
        return json_answer(token_body(token))
