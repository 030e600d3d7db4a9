"""Whether somebody who is signed in has just shown that it is them, and where they can."""

import time
from typing import cast

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import User
from accounts.sign_in.second_factors import has_second_factor, showed_second_factor_recently


def signed_in_recently(request: HttpRequest) -> bool:
    """Whether the person showed within the last ten minutes that it is them; the one rule of every sensitive step.

    Where the account has a second factor that alone shows it: whoever has the password alone could take it away.
    """
    from allauth.account.authentication import get_authentication_records

    if has_second_factor(cast("User", request.user)):
        return showed_second_factor_recently(request)
    # the first sign-in counts as much as a confirmation: both are somebody who just showed that it is them
    latest = max((record["at"] for record in get_authentication_records(request, request.user)), default=0.0)
    return time.time() - latest < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT


def where_to_confirm(user: User) -> str:
    """The page on which this person shows that it is them: by the second factor where there is one."""
    from allauth.account.adapter import get_adapter

    ways = get_adapter().get_reauthentication_methods(user)
    return str(ways[0]["url"]) if ways else reverse("account_reauthenticate")
