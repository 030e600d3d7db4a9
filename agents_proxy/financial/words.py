"""What becomes of a refresh and of a linked institution, in words."""

from django.utils.translation import gettext_lazy as _

# why a refresh of a linked institution came to nothing
REFRESHES = {
    "not_ready": _("Your institution is still preparing the list. We look again every minute."),
    "item_login_required": _("Your institution wants you to sign in there again."),
    "aggregator_unavailable": _("The aggregator cannot be reached. We try again tomorrow, or when you ask."),
    "aggregator_timeout": _("The aggregator took too long. We try again tomorrow, or when you ask."),
    "aggregator_busy": _("The aggregator is busy. We try again tomorrow, or when you ask."),
    "changed_meanwhile": _("The list kept changing while it was read. We try again tomorrow, or when you ask."),
    "worker_lost": _("The work was interrupted too often. Read it again."),
    "consent_withdrawn": _("Your consent had ended before it was read."),
}
# what a person is written of their institution; `date` is when it ends the access
NOTICES = {
    "login_required": _("%(name)s wants you to sign in there again"),
    "ends": _("%(name)s ends the access on %(date)s, unless you sign in there again"),
    "revoked": _("%(name)s ended the access; what was read of your purchases is deleted"),
}
OTHERWISE = _("It did not work. If that stays so, tell the people who run this service.")
