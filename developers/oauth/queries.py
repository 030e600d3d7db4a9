"""Which hosts somebody allowed what."""

from django.db.models import QuerySet

from accounts.models import User
from developers.apps.models import App, AppMode, AppStatus
from developers.oauth.models import OAuthClient
from developers.people import AppPerson
from developers.tokens.models import DeveloperToken
from developers.tokens.queries import live_tokens


def live_hosts_of(user: User) -> QuerySet[DeveloperToken]:
    """What this person allowed hosts and has not ended, with app and client, the newest first."""
    allowed = live_tokens().filter(client__isnull=False, created_by=user).exclude(app__status=AppStatus.CLOSED)
    return allowed.select_related("app", "client").order_by("-created_at", "-pk")


def person_of_app(app_pk: int) -> str:
    """What a personal app calls its person."""
    return AppPerson.objects.filter(app=app_pk, user__own_assistants=app_pk).values_list("pairwise_id", flat=True).get()


def keys_of_host(token_pk: int) -> list[dict[str, str]]:
    """The public keys that the host says it has, whose token this is."""
    keys = OAuthClient.objects.filter(tokens=token_pk).values_list("jwks", flat=True).first()
    return list(keys or [])


def are_of_one_host(app_pk: int, other_pk: int) -> bool:
    """Whether both are personal apps of the same client, whoever its people are."""
    personal = App.objects.filter(mode=AppMode.PERSONAL)
    clients = OAuthClient.objects.filter(tokens__app__in=personal.filter(pk=app_pk))
    return personal.filter(pk=other_pk, tokens__client__in=clients).exists()
