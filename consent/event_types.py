"""Every event that is audited, told to apps or shown in a person's history, once.

A new event is an entry here and the action that records it; the forms, filters and documents that list them follow.
"""

from dataclasses import dataclass
from enum import Flag, StrEnum, auto
from typing import Self

from django.utils.translation import gettext_lazy as _

from common.text import StrOrPromise
from developers.app_events import ProcessingEvent


class Group(StrEnum):
    """What the filter of the history takes together."""

    READS = "reads"
    DECISIONS = "decisions"
    ENDS = "ends"
    DISCOVERIES = "discoveries"
    CHANGES = "changes"
    SECURITY = "security"


GROUP_LABELS: dict[Group, StrOrPromise] = {
    Group.READS: _("Reads"),
    Group.DECISIONS: _("Decisions"),
    Group.ENDS: _("Ended"),
    Group.DISCOVERIES: _("Look-ups"),
    Group.CHANGES: _("Your changes"),
    Group.SECURITY: _("Security"),
}


@dataclass(frozen=True)
class InHistory:
    """How a person's history shows an event. In `sentence`, `%(app)s` is the app's name and `%(scope)s` the scope's."""

    group: Group
    icon: str
    tone: str
    sentence: StrOrPromise


@dataclass(frozen=True)
class Webhook:
    """How the app is told: the type of the notice and its webhooks, and when it comes, for the app's developers."""

    type: str
    when: str


class Trait(Flag):
    """What is true of an event.

    RECEIPT: a signed receipt proves it. PROTECTS: it ends or refuses access, and takes place even
    while the audit cannot be written (decision 0016); `exhausted` comes with a read and `superseded` with an approval,
    which give access, and so they do not. DERIVED: no entry of a chain has this name, the history makes it of another
    entry or table.
    """

    RECEIPT = auto()
    PROTECTS = auto()
    DERIVED = auto()


class EventType(StrEnum):
    """An event, by its name in the audit chain, in receipts and in the files of the history."""

    _value_: str
    in_history: InHistory | None
    webhook: Webhook | None
    traits: Trait

    def __new__(
        cls,
        name: str,
        in_history: InHistory | None = None,
        webhook: Webhook | None = None,
        traits: Trait = Trait(0),  # noqa: B008  # a constant
    ) -> Self:
        """A string like any other, which knows the rest of its entry."""
        member = str.__new__(cls, name)
        member._value_, member.in_history, member.webhook, member.traits = name, in_history, webhook, traits
        return member

    @property
    def webhook_type(self) -> str:
        """Empty where apps are not told."""
        return self.webhook.type if self.webhook else ""

    @property
    def has_receipt(self) -> bool:
        return Trait.RECEIPT in self.traits

    @property
    def protects(self) -> bool:
        return Trait.PROTECTS in self.traits

    @property
    def is_derived(self) -> bool:
        return Trait.DERIVED in self.traits

    APPROVED = (
        "approved",
        InHistory(Group.DECISIONS, "check", "good", _("You approved %(scope)s for %(app)s")),
        Webhook("consent.approved", "the person approved"),
        Trait.RECEIPT,
    )
    DENIED = (
        "denied",
        InHistory(Group.DECISIONS, "x", "", _("You denied %(scope)s to %(app)s")),
        Webhook("consent.denied", "the person denied"),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    CANCELLED = (
        "cancelled",
        InHistory(Group.DECISIONS, "minus", "", _("%(app)s's request for %(scope)s was cancelled")),
        Webhook(
            "consent.cancelled",
            "you took the request back, or it was closed undecided, as after a change of what was asked",
        ),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    EXPIRED = (
        "expired",
        InHistory(Group.DECISIONS, "clock", "", _("%(app)s's request for %(scope)s expired without a decision")),
        Webhook("consent.expired", "the request ran out undecided, or the approval's time is over"),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    PAUSED = (
        "paused",
        InHistory(Group.DECISIONS, "pause", "warn", _("You paused sharing %(scope)s with %(app)s")),
        Webhook("consent.paused", "the person holds the approval back"),
        Trait.PROTECTS,
    )
    REVOKED = (
        "revoked",
        InHistory(Group.ENDS, "stop", "", _("You stopped sharing %(scope)s with %(app)s")),
        Webhook(
            "consent.revoked",
            "the person ended the approval, gave their vault up, or lets access end that nobody reads",
        ),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    RELEASED = (
        "released",
        InHistory(Group.ENDS, "minus", "", _("%(app)s gave back %(scope)s")),
        Webhook("consent.released", "you ended the approval"),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    TERMINATED = (
        "terminated",
        InHistory(Group.ENDS, "shield", "warn", _("Our staff ended sharing %(scope)s with %(app)s")),
        Webhook("consent.terminated", "staff ended the approval"),
        Trait.RECEIPT | Trait.PROTECTS,
    )
    EXHAUSTED = (
        "exhausted",
        InHistory(Group.ENDS, "check", "", _("%(app)s used all agreed reads of %(scope)s")),
        Webhook("consent.exhausted", "the approval's reads are used up"),
        Trait.RECEIPT,
    )
    SUPERSEDED = (
        "superseded",
        InHistory(Group.ENDS, "refresh", "", _("A newer approval replaced %(scope)s for %(app)s")),
        Webhook("consent.superseded", "a newer approval took its place"),
        Trait.RECEIPT,
    )
    RESUMED = (
        "resumed",
        InHistory(Group.DECISIONS, "play", "good", _("You resumed sharing %(scope)s with %(app)s")),
        Webhook("consent.resumed", "the person lets a paused approval go on"),
    )
    EXPORT_UPDATED = (
        "export_updated",
        InHistory(Group.DECISIONS, "refresh", "", _("You renewed what %(app)s can read of %(scope)s")),
        Webhook("export.updated", "a `continuous` approval has a new revision to read"),
    )
    KEPT_CURRENT = (
        "kept_current",
        InHistory(Group.DECISIONS, "refresh", "good", _("You let %(app)s have newer values of %(scope)s")),
    )
    APP_BLOCKED = (
        "app_blocked",
        InHistory(Group.DECISIONS, "x-circle", "warn", _("You blocked %(app)s")),
    )
    APP_UNBLOCKED = (
        "app_unblocked",
        InHistory(Group.DECISIONS, "check", "", _("You let %(app)s ask again")),
    )
    APP_REPORTED = (
        "app_reported",
        InHistory(Group.DECISIONS, "alert", "warn", _("You reported %(app)s to our staff")),
    )
    APP_CONNECTED = (
        "app_connected",
        InHistory(Group.DECISIONS, "check", "good", _("You connected with %(app)s")),
    )
    APP_DISCONNECTED = (
        "app_disconnected",
        InHistory(Group.ENDS, "minus", "", _("The connection with %(app)s ended")),
    )
    SIGNING_KEY_SET = (
        "signing_key_set",
        InHistory(Group.SECURITY, "key", "good", _("Your vault got a key that signs what you approve")),
    )
    SIGNING_KEY_REPLACED = (
        "signing_key_replaced",
        InHistory(Group.SECURITY, "key", "warn", _("You replaced the key that signs what you approve")),
    )
    SIGNING_KEY_GIVEN_UP = (
        "signing_key_given_up",
        InHistory(Group.SECURITY, "key", "warn", _("You gave up the key that signs what you approve, with your vault")),
    )
    VAULT_STATE = "vault_state"  # which notes the vault has: for the person's programs alone, in none of their pages
    STAFF_VIEWED = (
        "staff_viewed",
        InHistory(Group.READS, "shield", "warn", _("A member of our staff looked at records about you")),
    )
    CONNECTOR_KEY_REGISTERED = "connector_key_registered"  # of an app's chain alone, as the next
    CONNECTOR_KEY_REMOVED = "connector_key_removed"
    ERASED = "erased"  # the facts of earlier entries were; who they were about is nobody any more
    READS = "reads"  # several at once; the history tells of each
    RESTORED = "restored"  # the database was, from a backup: of the deployment's own chain (consent/log/restoring.py)
    # What a person's history makes of other entries and tables; no entry of a chain has these names.
    GRANT_EXPIRED = (
        "grant_expired",
        InHistory(Group.ENDS, "clock", "", _("Sharing %(scope)s with %(app)s ran out")),
        None,
        Trait.DERIVED,
    )
    ENDED_UNUSED = (
        "ended_unused",
        InHistory(Group.ENDS, "clock", "", _("%(app)s's access to %(scope)s ended by itself: nobody used it")),
        None,
        Trait.DERIVED,
    )
    ENDED_WITH_VAULT = (
        "ended_with_vault",
        InHistory(Group.ENDS, "minus", "", _("%(app)s's access to %(scope)s ended with the vault that you gave up")),
        None,
        Trait.DERIVED,
    )
    LEFT_AS_IS = (
        "left_as_is",
        InHistory(Group.DECISIONS, "minus", "", _("You keep newer values of %(scope)s from %(app)s")),
        None,
        Trait.DERIVED,
    )
    READ = (
        "read",
        InHistory(Group.READS, "eye", "out", _("%(app)s read %(scope)s")),
        None,
        Trait.DERIVED,
    )
    DISCOVERED = (
        "discovered",
        InHistory(Group.DISCOVERIES, "search", "", _("%(app)s looked at what could be asked of you")),
        None,
        Trait.DERIVED,
    )
    CHANGED = (
        "changed",
        InHistory(Group.CHANGES, "edit", "", _("You changed your data")),
        None,
        Trait.DERIVED,
    )
    UNLOCKING_CHANGED = (
        "unlocking_changed",
        InHistory(Group.SECURITY, "key", "", _("How your vault is unlocked changed")),
        None,
        Trait.DERIVED,
    )
    FOUND = (
        "found",
        InHistory(Group.DISCOVERIES, "search", "", _("%(app)s found you in the directory")),
        None,
        Trait.DERIVED,
    )


# of an app's connections, which have no event of a request
CONNECTED, DECLINED = (
    Webhook("connection.connected", "somebody connected, and your app completed it where it has a return address"),
    Webhook("connection.declined", "whoever opened the connection declined"),
)
OF_CONNECTIONS = (CONNECTED, DECLINED)
# every type of notice, with when it comes: of requests, then of connections, then of processing by agents
WEBHOOKS = [
    *(event.webhook for event in EventType if event.webhook),
    *OF_CONNECTIONS,
    *(Webhook(event.value, event.when) for event in ProcessingEvent),
]
WEBHOOK_TYPES = [webhook.type for webhook in WEBHOOKS]
TEST_WEBHOOK_TYPE = "consent.test"  # of no event: an endpoint is tried out with it
