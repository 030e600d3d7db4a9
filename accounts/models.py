"""Who people are."""

import unicodedata
from typing import Any, ClassVar

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import F, Index, Q, UniqueConstraint
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.identifiers import new_user_id
from common.constraints import check, value_in
from common.mail import mailbox

LONGEST_PASSWORD = 1024  # characters


class Persona(models.TextChoices):
    """The sides of the app that somebody may use."""

    PERSON = "person", _("Person")
    DEVELOPER = "developer", _("Developer")
    STAFF = "staff", _("Staff")


def _as_one(password: str | None) -> str | None:
    """The same for every way of composing it, as for the vault's passphrase.

    One that is too long to be anybody's stays as it is: of one character NFKC makes up to eighteen.
    """
    if password is None or len(password) > LONGEST_PASSWORD:
        return password
    return unicodedata.normalize("NFKC", password)


class UserManager(BaseUserManager["User"]):
    """Makes users by e-mail address, which is kept in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        if not email:
            raise ValueError("A user needs an e-mail address.")
        user = self.model(email=mailbox(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """With a confirmed address, which setting up a second factor asks for: who has the server's shell vouches."""
        user = self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})
        addresses = apps.get_model("account", "EmailAddress")._default_manager.using(self._db)
        addresses.create(user_id=user.pk, email=user.email, verified=True, primary=True)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person, a developer or a member of staff.

    `public_id` is the person's own ID: in their vault, their chain and staff's pages. Apps never see it; each has a
    name of its own for them (`AppPerson` of the developers' room).
    """

    public_id = models.CharField(_("own ID"), max_length=64, unique=True, editable=False, default=new_user_id)
    email = models.EmailField(_("e-mail address"), unique=True)
    display_name = models.CharField(_("name"), max_length=100, blank=True)
    # what they chose, or first saw: mail is written when no browser is there to say it; "" is the settings' language
    language = models.CharField(_("language"), max_length=8, blank=True, default="", db_default="")
    # of their picture, for pages to show it by; "" is none
    photo_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    is_active = models.BooleanField(_("active"), default=True)
    is_staff = models.BooleanField(_("staff"), default=False)
    # when the account is erased, unless that is taken back: as in their open `Erasure`, beside what every page reads
    leaves_at = models.DateTimeField(null=True, editable=False)
    # nobody's from then on; the row stays for what apps were allowed and for their side of the history
    erased_at = models.DateTimeField(_("erased"), null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        db_table = "users"
        verbose_name = _("user")
        verbose_name_plural = _("users")
        indexes = [
            Index(fields=["id"], condition=Q(is_staff=True), name="users_staff"),
            Index(fields=["id"], condition=Q(is_active=False), name="users_inactive"),
        ]
        constraints = [
            UniqueConstraint(Lower("email"), name="users_email_caseless"),
            check(
                "users_erased_is_anonymous",
                Q(erased_at__isnull=True)
                | Q(is_active=False, is_staff=False, is_superuser=False, display_name="", language="", photo_digest=""),
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(_as_one(raw_password))

    def check_password(self, raw_password: str | None) -> bool:
        """However a keyboard composes its letters."""
        return super().check_password(_as_one(raw_password))

    @property
    def has_verified_email(self) -> bool:
        """Whether they showed that the address is theirs."""
        from allauth.account.models import EmailAddress

        return bool(EmailAddress.objects.filter(user=self, verified=True).exists())

    def get_short_name(self) -> str:
        return self.display_name or self.email.split("@")[0]


class UserPhoto(models.Model):
    """The picture of an account: a small WebP in base64, encrypted at rest (common.encryption)."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="photo")
    webp = models.TextField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "user_photos"


class ActorProfile(models.Model):
    """Which sides of the app somebody uses."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="actor_profile")
    personas = models.JSONField(default=list)
    last_active_persona = models.CharField(max_length=16, choices=Persona, default=Persona.PERSON)
    discoverable = models.BooleanField(default=False)
    # after so many days without a read an app's access ends by itself; 0 is never
    unused_days = models.PositiveSmallIntegerField(default=60, db_default=60)
    # when they looked at the overview last, and at the visit before: what is newer is shown as new
    visited_at = models.DateTimeField(null=True, editable=False)
    visited_before_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "actor_profiles"
        constraints = [value_in("actor_persona", "last_active_persona", Persona)]


class MarketplacePublicProfile(models.Model):
    """What a person chose to show publicly, in plain text. `is_discoverable` shows it at `/people/<handle>/`.

    `actor_profiles.discoverable` lists it in the directory too, which apps search by `handle` and `search_name`.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="public_profile")
    handle = models.CharField(max_length=32, unique=True, null=True)  # noqa: DJ001  # many may have none
    display_name = models.CharField(max_length=100, blank=True)
    headline = models.CharField(max_length=160, blank=True)
    location_hint = models.CharField(max_length=100, blank=True)
    search_name = models.CharField(max_length=300, blank=True, default="", db_index=True, editable=False)
    is_discoverable = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)  # of the text; switching does not touch it

    class Meta:
        db_table = "marketplace_public_profiles"
        constraints = [check("shown_under_a_handle", Q(is_discoverable=False) | Q(handle__isnull=False))]


class ReleasedHandle(models.Model):
    """A handle that somebody gave up: for a while nobody else may take it, so that nobody passes for them."""

    handle = models.CharField(primary_key=True, max_length=32)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="released_handles")
    released_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "released_handles"


class SharingId(models.Model):
    """The invitation that a person gives out: whoever has it may ask them, through one app. One row is one person's.

    It is found by its digest, and shown to its person again from `sealed` (common.encryption). `app` is whom it serves:
    the first that used it.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="sharing_id")
    digest = models.CharField(max_length=64, unique=True, editable=False)  # SHA-256, hexadecimal
    sealed = models.TextField(editable=False)
    app = models.ForeignKey("developers.App", null=True, on_delete=models.CASCADE, related_name="+", editable=False)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "sharing_ids"


class RuntimePersonaState(models.Model):
    """Which side of the app opens first."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="persona_state")
    last_active_persona = models.CharField(max_length=16, choices=Persona, default=Persona.PERSON)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "runtime_persona_state"
        constraints = [value_in("persona_state", "last_active_persona", Persona)]


class Session(models.Model):
    """What the service remembers of one browser, under the digest of the key that the browser's cookie holds."""

    digest = models.CharField(primary_key=True, max_length=64, editable=False)  # SHA-256, hexadecimal
    data = models.TextField(editable=False)  # sealed (common.encryption): a sign-in that is under way holds secrets
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions", editable=False)
    expires_at = models.DateTimeField(db_index=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "sessions"


class ErasureRequester(models.TextChoices):
    """Who wanted an account erased."""

    PERSON = "person"
    OPERATOR = "operator"


class Erasure(models.Model):
    """An account that goes when `due_at` has come, unless the person takes that back until then.

    The row stays: it says when an anonymous account was erased, and the database lets nothing be erased without it.
    """

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="erasures")
    asked_by = models.CharField(max_length=16, choices=ErasureRequester)
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField()
    undo_digest = models.CharField(
        max_length=64, blank=True
    )  # of the secret in the mail's link, which shows afterwards who confirmed
    cancelled_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "erasures"
        constraints = [
            value_in("erasures_asked_by", "asked_by", ErasureRequester),
            check("erasures_due_after_asked", Q(due_at__gte=F("asked_at"))),
            check("erasures_one_end", Q(cancelled_at__isnull=True) | Q(done_at__isnull=True)),
            UniqueConstraint(
                fields=["user"], condition=Q(cancelled_at__isnull=True, done_at__isnull=True), name="erasures_one_open"
            ),
        ]
        indexes = [
            Index(
                fields=["due_at"], condition=Q(cancelled_at__isnull=True, done_at__isnull=True), name="erasures_waiting"
            )
        ]


class WayChange(models.TextChoices):
    """What can happen to a way in: of the account, of the data, of programs into apps and what people share with them.

    The first ten are named as allauth names them.
    """

    PASSWORD_CHANGED = "password_changed"  # noqa: S105  # what happened to one
    PASSWORD_SET = "password_set"  # noqa: S105  # what happened to one
    PASSWORD_RESET = "password_reset"  # noqa: S105  # what happened to one
    EMAIL_CHANGED = "email_changed"
    EMAIL_DELETED = "email_deleted"
    TOTP_ACTIVATED = "totp_activated"
    TOTP_DEACTIVATED = "totp_deactivated"
    RECOVERY_CODES_GENERATED = "recovery_codes_generated"
    WEBAUTHN_ADDED = "webauthn_added"
    WEBAUTHN_REMOVED = "webauthn_removed"
    WRAPPER_ADDED = "wrapper_added"
    WRAPPER_REMOVED = "wrapper_removed"
    WRAPPER_RESTORED = "wrapper_restored"
    KEY_CHANGE_BEGUN = "key_change_begun"
    KEY_CHANGE_FINISHED = "key_change_finished"
    KEY_CHANGE_GIVEN_UP = "key_change_given_up"
    SIGNING_KEY_SET = "signing_key_set"
    SIGNING_KEY_REPLACED = "signing_key_replaced"
    APP_TOKEN_MADE = "app_token_made"  # noqa: S105  # as above
    APP_SECRET_MADE = "app_secret_made"  # noqa: S105  # as above
    APP_TEAM_CHANGED = "app_team_changed"
    APP_CLOSED = "app_closed"
    MANAGEMENT_TOKEN_MADE = "management_token_made"  # noqa: S105  # as above
    MANAGEMENT_TOKENS_REVOKED = "management_tokens_revoked"
    PHONE_NUMBER_TAKEN = "phone_number_taken"


# what somebody does, or a program for them, as a developer of apps
OF_DEVELOPERS = frozenset(
    {
        WayChange.APP_TOKEN_MADE,
        WayChange.APP_SECRET_MADE,
        WayChange.APP_TEAM_CHANGED,
        WayChange.APP_CLOSED,
        WayChange.MANAGEMENT_TOKEN_MADE,
        WayChange.MANAGEMENT_TOKENS_REVOKED,
    }
)


class SecurityChange(models.Model):
    """A change of a way in that its person was not written about yet. The row goes when the mail does.

    `detail` is the other address of a changed or removed one, the kind of the wrapper, the name of the app or token, or
    the masked number; never a secret.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="security_changes")
    kind = models.CharField(max_length=32, choices=WayChange)
    address = models.EmailField()  # who had it when it happened is told, whatever the address is by then
    detail = models.CharField(max_length=254, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "security_changes"
        constraints = [value_in("security_change_kind", "kind", WayChange)]


class OutgoingMail(models.Model):
    """A mail that was not sent yet (accounts/outbox.py). The row goes when it was, and with its reader's account."""

    template = models.CharField(max_length=100)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=64, blank=True)  # what it is about, where a newer one takes its place
    sealed = models.TextField(editable=False)  # address, subject and text (common.encryption), links' secrets and all
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_index=True)  # of the next try
    until = models.DateTimeField()  # given up then

    class Meta:
        db_table = "outgoing_mails"
        constraints = [UniqueConstraint(fields=["key"], condition=~Q(key=""), name="outgoing_mail_key_once")]


class AlertWay(models.TextChoices):
    """How somebody hears of a kind of event."""

    NONE = "none", _("Not at all")
    MAIL = "mail", _("By mail")
    PUSH = "push", _("On my devices")
    BOTH = "both", _("By mail and on my devices")


class AlertSettings(models.Model):
    """What a person hears of, how, and when; no row is the defaults.

    `quiet_from` and `quiet_to` are their quiet hours, `gathered_at` when everything of a day comes at once, all by the
    clock of `zone`. Nothing but what concerns their security goes out before `held_until`. `quiet_count` is how many
    requests the quiet hours kept back since `quiet_since`. What apps did up to `seen_until` was told.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="alert_settings")
    requests = models.CharField(max_length=8, choices=AlertWay, default=AlertWay.BOTH)
    endings = models.CharField(max_length=8, choices=AlertWay, default=AlertWay.BOTH)
    reads = models.CharField(max_length=8, choices=AlertWay, default=AlertWay.PUSH)
    updates = models.CharField(max_length=8, choices=AlertWay, default=AlertWay.NONE)
    security = models.CharField(max_length=8, choices=AlertWay, default=AlertWay.BOTH)  # mail at the least
    phrase = models.TextField(blank=True, editable=False)  # in each mail to them, sealed (common.encryption)
    zone = models.CharField(max_length=64, default="UTC")  # as the IANA names it
    quiet_from = models.TimeField(null=True)
    quiet_to = models.TimeField(null=True)
    quiet_since = models.DateTimeField(null=True)
    quiet_count = models.PositiveIntegerField(default=0)
    gathered_at = models.TimeField(null=True)
    held_until = models.DateTimeField(null=True)
    seen_until = models.DateTimeField()

    class Meta:
        db_table = "alert_settings"
        constraints = [
            *(
                value_in(f"alert_settings_{column}", column, AlertWay.values)
                for column in ("requests", "endings", "reads", "updates")
            ),
            check("alert_settings_security_by_mail", Q(security__in=[AlertWay.MAIL, AlertWay.BOTH])),
            check(
                "alert_settings_quiet_together",
                Q(quiet_from__isnull=True, quiet_to__isnull=True, quiet_since__isnull=True)
                | (
                    Q(quiet_from__isnull=False, quiet_to__isnull=False, quiet_since__isnull=False)
                    & ~Q(quiet_from=F("quiet_to"))
                ),
            ),
        ]


class PushSubscription(models.Model):
    """A browser that shows what its person wants to hear of (RFC 8030), found by the digest of its endpoint.

    `failures` counts the tries since it last took a message: what fails waits behind what does not.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="push_subscriptions")
    digest = models.CharField(max_length=64, unique=True, editable=False)  # SHA-256, hexadecimal
    sealed = models.TextField(editable=False)  # endpoint and keys (common.encryption): who has them can write to it
    user_agent = models.CharField(max_length=200, blank=True)
    failures = models.PositiveIntegerField(default=0)
    made_at = models.DateTimeField()

    class Meta:
        db_table = "push_subscriptions"


class OutgoingPush(models.Model):
    """A message to one browser that was not sent yet (accounts/alerts/push.py). The row goes when it was."""

    subscription = models.ForeignKey(PushSubscription, on_delete=models.CASCADE, related_name="waiting")
    sealed = models.TextField(editable=False)  # what it says (common.encryption)
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_index=True)  # of the next try
    until = models.DateTimeField()  # given up then

    class Meta:
        db_table = "outgoing_pushes"
