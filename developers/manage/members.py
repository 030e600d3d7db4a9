"""The team of an app, by program. Members are named by an ID that they have in it alone; no address is told."""

from django.http import HttpRequest, HttpResponse

from common.admission.shapes import Nothing, PageQuery
from common.json_bodies import json_answer
from common.problems import NotFound
from developers.manage import descriptions as described
from developers.manage.base import ManagementView
from developers.manage.bodies import invitation_body, member_body
from developers.manage.schemas import NewMember
from developers.members import actions, invitations, queries


class Members(ManagementView):
    """Everybody in the team, and an invitation of somebody new."""

    http_method_names = ["get", "post"]
    takes_query = True

    @described.list_members
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(queries.team_of(self.member().app), member_body))

    @described.add_member
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        asked = self.body(NewMember)
        app = self.member(owner=True).app
        made = invitations.invite(app=app, email=asked.email, role=asked.role, by=self.manager.user)
        return json_answer(invitation_body(made), status=201)


class Member(ManagementView):
    """Somebody in the team."""

    http_method_names = ["delete"]
    body_required = False

    @described.remove_member
    def delete(self, request: HttpRequest, app_id: str, member_id: str) -> HttpResponse:
        self.body(Nothing)
        own = self.member()
        member = queries.team_member(own.app, member_id)
        if member != own:
            own = self.member(owner=True)
        if member is None:
            raise NotFound("They are not a member of this app.")
        actions.remove_member(member=member, by=self.manager.user)
        answer = HttpResponse(status=204)
        del answer["Content-Type"]
        return answer
