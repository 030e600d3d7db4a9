"""What people are told of who got something of them, and of its deletion there."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import DeletionStatus

# what pages say of one receiver, and in which tone
STATES: dict[DeletionStatus, tuple[Promise, str]] = {
    DeletionStatus.DISCLOSED: (_("Received something"), "neutral"),
    DeletionStatus.QUEUED: (_("Not confirmed yet"), "warn"),
    DeletionStatus.SENDING: (_("Being asked"), "warn"),
    DeletionStatus.CONFIRMED: (_("Confirmed that it deleted it"), "good"),
    DeletionStatus.UNCONFIRMED: (_("Never confirmed"), "bad"),
}
# why nothing is confirmed yet, by the error of the last attempt
REASONS: dict[str, Promise] = {
    "refused": _("It did not confirm."),
    "unsaid": _("It took the request, and did not say that it deleted anything."),
    "unreachable": _("It could not be reached."),
    "accepted": _("It says that it will do so later."),
    "no_address": _("It takes no such requests: ask whoever runs it."),
    "unreadable": _("This service cannot read any more whom to name to it."),
}
