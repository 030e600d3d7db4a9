"""Where a person goes back to: an address under an origin that the app registered, and nowhere else."""

from urllib.parse import urlencode, urlsplit

from consent.errors import InvalidReturnUrl
from developers.applications.facts import is_return_address
from developers.apps.models import App


def require_registered(return_url: str | None, *, app_pk: int) -> None:
    """Raise `InvalidReturnUrl` where one is given that is not under one of the app's origins now."""
    if return_url is None:
        return
    origins = App.objects.values_list("origins", flat=True).get(pk=app_pk)
    if not is_return_address(return_url, origins):
        raise InvalidReturnUrl(
            "Give an address without a fragment under an origin that your app registered: "
            f"{', '.join(origins) or 'it has none'}."
        )


def is_still_registered(return_url: str, app: App) -> bool:
    """Whether the origin has not been taken from the app since."""
    return is_return_address(return_url, app.origins)


def with_members(return_url: str, **members: str) -> str:
    """The address with these in its query: what an app's own query holds stays as it is."""
    return f"{return_url}{'&' if '?' in return_url else '?'}{urlencode(members)}"


def origin_in(return_url: str) -> str:
    """`https://trips.example`, as a content policy names it."""
    parts = urlsplit(return_url)
    return f"{parts.scheme}://{parts.netloc}"
