"""What is asked about members more than once."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Coalesce, Concat, NullIf

from accounts.models import OutgoingMail, User
from common.identifiers import is_identifier
from developers.apps.models import App
from developers.members.invitation_links import mail_key
from developers.members.models import AppInvitation, AppMember, MemberRole


def first_owner(app: App) -> User:
    """Who has owned the app the longest; it always has an owner."""
    member = AppMember.objects.select_related("user").filter(app=app, role=MemberRole.OWNER).earliest("pk")
    owner: User = member.user
    return owner


def memberships_of(user: User) -> QuerySet[AppMember]:
    """The apps that this person may manage, with their role, the newest first."""
    return AppMember.objects.select_related("app__application").filter(user=user).order_by("-app__created_at", "-pk")


def team_of(app: App) -> QuerySet[AppMember]:
    """Everybody who may manage the app, owners first."""
    return AppMember.objects.select_related("user").filter(app=app).order_by("-role", "pk")


def agreed_to_tests(*, app_pk: int) -> QuerySet[AppMember]:
    """The members whom a test app may ask, since they said so."""
    return AppMember.objects.filter(app_id=app_pk, agreed_to_tests_at__isnull=False)


def team_member(app: App, member_id: str) -> AppMember | None:
    """The member of this app whom its team calls so."""
    if not is_identifier(member_id):
        return None
    return AppMember.objects.select_related("app", "user").filter(app=app, member_id=member_id).first()


def pending_invitations(app: App) -> QuerySet[AppInvitation]:
    """The invitations that nobody accepted or withdrew, those that expired too, the newest first.

    `whom` is how the team knows them: by the address that it asked or that they show it, else by their ID in it.
    `is_mail_queued` is that the mail was not sent yet.
    """
    pending = AppInvitation.objects.filter(app=app, accepted_at=None, withdrawn_at=None)
    invitee = AppMember.objects.filter(app=app, user=OuterRef("person"))
    shown = invitee.filter(shows_email=True).values("user__email")
    whom = Coalesce(NullIf("email", Value("")), Subquery(shown[:1]), Subquery(invitee.values("member_id")[:1]))
    mails = OutgoingMail.objects.filter(key=Concat(Value(mail_key("")), Cast(OuterRef("pk"), TextField())))
    shown_as = pending.annotate(whom=whom, is_mail_queued=Exists(mails))
    return shown_as.select_related("app", "invited_by", "person").order_by("-pk")
