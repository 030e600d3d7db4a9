"""The team of an app, by program. Members are named by an ID that they have in it alone; no address is told."""

from django.http import HttpRequest, HttpResponse

from common.admission.schemas import Nothing, PageQuery
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from common.problems import NotFound
from developers.manage import schemas
from developers.manage.base import APP_ID, ManagementView
from developers.members import actions, invitations, queries
from developers.members.errors import AlreadyInvited, AlreadyMember, LastOwner, OwnerRequired, TooManyInvitations


class Members(ManagementView):
    """Everybody in the team, and an invitation of somebody new."""

    takes_query = True

    @operation(
        name="listMembers",
        summary="The team of an app",
        description="Newest first, in pages. People are named by an ID that they have in this team alone.",
        query=PageQuery,
        answers={200: schemas.ManagedMembers},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        return json_answer(self.page(queries.team_of(self.member().app), schemas.member_body))

    @operation(
        name="addMember",
        summary="Invite somebody to the team",
        description="Whoever reads this address is asked by mail, and joins once they accept, within seven days. For "
        "owners, who find the invitation in the portal and can withdraw it there.",
        body=schemas.NewMember,
        answers={201: schemas.ManagedInvitation},
        refusals=[OwnerRequired, AlreadyMember, AlreadyInvited, TooManyInvitations],
    )
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        body = self.body(schemas.NewMember)
        app = self.member(owner=True).app
        made = invitations.invite(app=app, email=body.email, role=body.role, by=self.manager.user)
        return json_answer(schemas.invitation_body(made), status=201)


class Member(ManagementView):
    """Somebody in the team."""

    body_required = False

    @operation(
        name="removeMember",
        summary="Take somebody out of the team",
        description="For owners; anybody may take themselves out. An app always keeps an owner.",
        parameters=[
            APP_ID,
            path_parameter("member_id", "Somebody in the team, as it is listed.", schemas.EXAMPLE_MEMBER_ID),
        ],
        answers={204: None},
        refusals=[OwnerRequired, LastOwner],
    )
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
