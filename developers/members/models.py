"""Who may manage an app."""

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in
from common.identifiers import new_identifier


def new_member_id() -> str:
    return new_identifier("mem")


class MemberRole(models.TextChoices):
    """What somebody is to an app."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")


class AppMember(models.Model):
    """Somebody who may manage an app. `member_id` is what the team and its programs call them, in this app alone."""

    member_id = models.CharField(max_length=64, unique=True, editable=False, default=new_member_id)
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="members", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="app_memberships")
    role = models.CharField(max_length=16, choices=MemberRole, default=MemberRole.MEMBER)
    agreed_to_tests_at = models.DateTimeField(_("agreed to be asked by the test app"), null=True, blank=True)
    # Whoever joined without an address of theirs being named gave the team none.
    shows_email = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_members"
        constraints = [
            UniqueConstraint(fields=["app", "user"], name="app_member_once"),
            value_in("app_member_role", "role", MemberRole),
        ]

    @property
    def shown_as(self) -> str:
        """What the team sees of them: their address, or their ID in the team."""
        return self.user.email if self.shows_email else self.member_id


class AppInvitation(models.Model):
    """Somebody was asked by mail to join an app. The link's secret is kept as its SHA-256; one is open per address.

    A member who is asked to own the app is asked as `person`, without an `email` here. With
    `hands_over` whoever invited them is no owner any more once they accept.
    """

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(_("e-mail address"), blank=True)
    person = models.ForeignKey(
        "accounts.User",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="app_invitations_received",
        verbose_name=_("person"),
    )
    hands_over = models.BooleanField(default=False, db_default=False)
    role = models.CharField(max_length=16, choices=MemberRole, default=MemberRole.MEMBER)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="app_invitations")
    expires_at = models.DateTimeField(_("expires"))
    accepted_at = models.DateTimeField(_("accepted"), null=True, blank=True)
    accepted_by = models.ForeignKey(
        "accounts.User", on_delete=models.SET_NULL, null=True, blank=True, related_name="accepted_app_invitations"
    )
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_invitations"
        verbose_name = _("invitation to an app")
        verbose_name_plural = _("invitations to apps")
        constraints = [
            UniqueConstraint(
                fields=["app", "email"],
                condition=Q(accepted_at__isnull=True, withdrawn_at__isnull=True) & ~Q(email=""),
                name="app_invitation_open_once",
            ),
            UniqueConstraint(
                fields=["app", "person"],
                condition=Q(accepted_at__isnull=True, withdrawn_at__isnull=True, person__isnull=False),
                name="app_invitation_person_open_once",
            ),
            check(
                "app_invitation_asks_somebody",
                Q(Q(person__isnull=True) & ~Q(email="")) | Q(person__isnull=False, email=""),
            ),
            value_in("app_invitation_role", "role", MemberRole),
            check("app_invitation_accepted_together", Q(accepted_by__isnull=True) | Q(accepted_at__isnull=False)),
            check("app_invitation_ends_once", Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return gettext("%(who)s, invited to %(app)s") % {"who": self.email or self.person, "app": self.app}
