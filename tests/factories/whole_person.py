"""Somebody of whom every table that can hold something of a person holds it."""

from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone

from accounts.models import User
from consent.connector_keys.actions import register_key
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from consent.decisions.models import AppReport
from consent.notices.models import Notice
from consent_bridge import sealed
from developers.members.models import AppInvitation
from pkm.history.models import Event, Index
from pkm.segments.models import Blob, Manifest
from pkm.vault.models import KeyWrapper, VaultKey
from tests import factories


def everything_about_somebody(canary: str, user: User | None = None) -> User:
    """Somebody of whom every table that can hold something of a person holds it, with the canary wherever it can be.

    A column that is sealed holds the canary itself, where nothing has to open it: sealed, it could not be looked for.
    """
    user = user or somebody_with_old_data(canary)
    _account(user, canary)
    _kept(user, canary)
    _allowed(user, canary)
    _developed(user, canary)
    _analysed(user, canary)
    return user


def somebody_with_old_data(canary: str) -> User:
    """Somebody new and their rows of the old system, whose tables are closed to everything else."""
    user: User = factories.PersonFactory(email=f"{canary}@example.org", display_name=f"{canary} Meier")
    factories.LegacyBlobFactory(user=user, domain=canary, jwe=canary)
    factories.LegacyMetadataFactory(user=user, domain=canary, summary={canary: 1})
    return user


def _account(user: User, canary: str) -> None:
    profile: dict[str, Any] = {"handle": f"h-{canary}"[:32], "headline": canary, "location_hint": canary}
    factories.PublicProfileFactory(user=user, display_name=canary, **profile)
    factories.UserPhotoFactory(user=user, webp=canary)
    factories.ReleasedHandleFactory(user=user, handle=f"r-{canary}"[:32])
    factories.ActorProfileFactory(user=user)
    factories.PersonaStateFactory(user=user)
    factories.SharingIdFactory(user=user, sealed=canary)
    factories.SessionFactory(user=user, data=canary)
    factories.SecurityChangeFactory(user=user, address=user.email, detail=canary)
    factories.OutgoingMailFactory(user=user, sealed=canary)
    factories.AlertSettingsFactory(user=user, phrase=canary)
    factories.OutgoingPushFactory(
        subscription=factories.PushSubscriptionFactory(user=user, sealed=canary, user_agent=canary), sealed=canary
    )
    address = EmailAddress.objects.create(user=user, email=f"other.{canary}@example.org")
    EmailConfirmation.objects.create(email_address=address, key=canary)
    Authenticator.objects.create(user=user, type="webauthn", data={"name": canary})
    user.groups.add(Group.objects.get_or_create(name="readers")[0])
    user.user_permissions.add(Permission.objects.order_by("pk")[0])
    factories.ErasureFactory(user=user, cancelled_at=timezone.now())
    LogEntry.objects.create(
        user=factories.StaffFactory(), content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk),
        object_repr=user.email, action_flag=CHANGE, change_message=canary,
    )  # fmt: skip


def _kept(user: User, canary: str) -> None:
    vault = VaultKey.objects.get(user=factories.give_vault(user).user)
    KeyWrapper.objects.filter(user=user).update(label=canary, jwe=canary)
    factories.RotationWrapperFactory(vault=vault, label=canary, jwe=canary)
    factories.VaultResetFactory(vault=vault)
    Blob.objects.filter(user=user).update(ciphertext=canary)
    factories.ManifestPathFactory(manifest=Manifest.objects.get(user=user), path=f"lifestyle.food.{canary}")
    Index.objects.filter(user=user).update(summary_projection={"lifestyle": {canary: 1}})
    Event.objects.create(user=user, sequence=999, kind="segment_written", facts={"segment": canary}, at=timezone.now())
    factories.VaultNotesFactory(user=user, jwe=canary, resealed=canary)
    factories.HiddenScopeFactory(user=user, scope=f"attr.lifestyle.food.{canary}")
    factories.MigrationStateFactory(user=user, checkpoint={"moved": {canary: "2024-05-17T09:30:00+00:00"}})


def _allowed(user: User, canary: str) -> None:
    terms = {"user": user, "purpose": f"To {canary}", "binding_message": canary}
    grant = factories.ReadFactory(
        export__grant__request=factories.ConsentRequestFactory(status="approved", **terms),
        export__grant__approved_attributes=[f"lifestyle.food.{canary}"],
        export__sources=[{"domain": "lifestyle", "segment_id": canary, "content_revision": 1}],
    ).export.grant
    factories.ApprovalKeyFactory(user=user, app=grant.app)
    denied = factories.ConsentRequestFactory(**terms)
    decision_actions.deny(request_id=denied.request_id, by=user, reason=canary)
    factories.PublishedKeysFactory(request=denied)
    factories.ConnectionFactory(user=user, request=denied, binding_message=canary, asked={"purpose": canary})
    factories.MailFactory(request=factories.ConsentRequestFactory(**terms))
    factories.WebhookDeliveryFactory(notice=Notice.objects.get(request=denied))
    factories.IdempotencyKeyFactory(app=denied.app, answer={"user_id": user.public_id, "binding_message": canary})
    factories.DiscoveryFactory(user=user, app=grant.app)
    factories.DirectoryFindFactory(user=user, app=grant.app)
    factories.BlockedAppFactory(user=user, app=grant.app)
    factories.OwnRulesFactory(user=user)
    blocked_apps.report_app(app_id=grant.app.app_id, by=user, text=canary)
    factories.ReportNoteFactory(report=AppReport.objects.get(user=user), note=canary)
    waits = factories.ReceiptFactory(
        request__status="denied", request__user=user
    ).request  # last: the next entry would write it
    factories.AuditPendingFactory(request=waits, facts={"request_id": waits.request_id, "reason": canary})


def _developed(user: User, canary: str) -> None:
    """What they did as a developer and as staff stays by its nature; its words are not about them."""
    factories.MemberFactory(user=user, role="member")
    factories.ManagementTokenFactory(user=user, label=canary)
    factories.ApplicationFactory(applicant=user, legal_name=canary, contact_email=user.email, use_case=canary)
    app = factories.TokenFactory(created_by=user).app
    factories.AppAuditEntryFactory(app=app, member=user, action="member.invited", facts={"email": user.email})
    invited = factories.AppInvitationFactory(app=app, email=user.email)
    inviter = factories.PersonFactory()
    AppInvitation.objects.filter(pk=invited.pk).update(invited_by=inviter)
    factories.OutgoingMailFactory(user=inviter, key=f"invitation:{invited.pk}", sealed=canary)
    factories.SandboxPersonFactory(user=user, label=canary)
    secret = factories.OAuthSecretFactory(token__app__person=user, token__app__name=canary)
    factories.LoggedRequestFactory(app=secret.token.app)
    key = sealed.public_half(sealed.generate_connector_key())
    register_key(app=app, key_id="key-1", jwk=key, by=user)
    factories.ScopeTemplateFactory(proposed_by=user)
    factories.ScopeWithdrawalFactory(by=user)
    factories.MessageTemplateFactory(proposed_by=user)


def _analysed(user: User, canary: str) -> None:
    consent = factories.ProcessingConsentFactory(user=user, origin=f"https://{canary}.example")
    run = factories.RunFactory(
        user=user, consent=consent, input=canary, status="completed", finished_at=timezone.now(), profile=canary,
        provenance={canary: "brand"}, metadata={"name": canary},
    )  # fmt: skip
    factories.StepFactory(
        run=run, status="succeeded", started_at=timezone.now(), finished_at=timezone.now(), reply=canary,
        fields=canary, field_count=1, reading=canary, conversation=canary,
    )  # fmt: skip
    factories.CorrectionFactory(user=user, consent=consent, field=canary, value=canary)
    factories.ActivationFactory(run=run, body=canary)
    factories.CallFactory(consent=consent)
    factories.DeletionFactory(consent=consent, subject=canary, confirmation=canary)
    factories.PhoneNumberFactory(user=user, number=canary)
    factories.OutboundMessageFactory(consent=consent)
    item = factories.ItemFactory(
        user=user, consent=consent, upstream_id=canary, institution=canary, cursor=canary, signals=canary
    )
    factories.LinkSessionFactory(user=user, consent=consent, link_token=canary)
    factories.RefreshRunFactory(item=item)
