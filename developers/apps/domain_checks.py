"""What the pages with "Check now" share: how often, and what was found in words."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.authentication import person_of
from common import limits
from common.limits import Limit
from developers.apps.domains import Finding

_CHECKS = Limit("domain-checks", 20, 3600)


def may_check(request: HttpRequest) -> bool:
    """Whether this person may have us look once more; tells them where they may not."""
    if limits.count(_CHECKS, person_of(request).public_id).exceeded:
        messages.error(request, gettext("That was often enough for now. Try again in an hour."))
        return False
    return True


def tell(request: HttpRequest, finding: Finding, domain: str) -> None:
    """The outcome as a message."""
    if finding.proves:
        messages.success(request, gettext("%(domain)s is proved.") % {"domain": domain})
    elif "other" in (finding.dns, finding.file):
        words = gettext("Something else stands where the proof of %(domain)s is looked for. Compare it with the value.")
        messages.warning(request, words % {"domain": domain})
    else:
        words = gettext("No proof was found for %(domain)s. A new DNS record may take a while to be seen.")
        messages.warning(request, words % {"domain": domain})
