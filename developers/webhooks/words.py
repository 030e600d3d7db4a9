"""What people are told of an endpoint."""

from django.utils.translation import gettext

from common.problems import Problem


def address_refused(refused: Problem) -> str:
    """What `check_address` or an action has against an address, in the reader's language."""
    words = {
        "url": gettext("Use a web address."),
        "not_https": gettext("Use an https address."),
        "not_bare": gettext("Use an address without a name, a password or a fragment."),
        "not_public": gettext("Use an address on the public internet."),
        "too_many": gettext("The app has as many endpoints as it may."),
        "not_new": gettext("The app has an endpoint with this address already."),
    }
    code = refused.errors[0]["code"] if refused.errors else ""
    return words.get(code, refused.detail)
