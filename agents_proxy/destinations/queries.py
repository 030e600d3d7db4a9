"""What is asked about destinations more than once."""

from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from accounts.models import User
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.models import Destination
from common.identifiers import is_identifier
from developers.apps.models import App, AppMode, AppStatus
from developers.members.models import AppMember


def destinations_of(app: App) -> QuerySet[Destination]:
    """The app's destinations as its members see them, the oldest first, without their secrets."""
    return Destination.objects.filter(app=app, removed_at=None).select_related("app").defer("secret").order_by("pk")


def destination_of(app: App, destination_id: str) -> Destination:
    """This one of the app's destinations; another app's is `UnknownDestination`, as one that never was."""
    found = (
        destinations_of(app).filter(destination_id=destination_id).first() if is_identifier(destination_id) else None
    )
    if found is None:
        raise UnknownDestination
    return found


def open_destinations() -> QuerySet[Destination]:
    """Those to which something can be sent now: neither disabled nor of an app that is not active."""
    found = Destination.objects.filter(disabled_at=None, app__status=AppStatus.ACTIVE)
    return found.select_related("app").defer("secret").order_by("pk")


def destinations_reaching(person: User) -> QuerySet[Destination]:
    """The open ones that this person may send to: a test app reaches none but those of its members who agreed."""
    tested = AppMember.objects.filter(user=person, agreed_to_tests_at__isnull=False).values("app")
    return open_destinations().filter(Q(app__mode=AppMode.LIVE) | Q(app__in=tested))


def destinations_for(person: User, *, agreed: Collection[str]) -> QuerySet[Destination]:
    """Those of apps that hold, or held, a consent to processing of this person, and those in `agreed`, by their IDs."""
    met = App.objects.filter(processing_consents__user=person).values("pk")
    return destinations_reaching(person).filter(Q(app__in=met) | Q(destination_id__in=agreed))


def named(destination_ids: Iterable[str], *, person: User, app_pk: int | None = None) -> list[Destination]:
    """These, all of which reach this person and, with `app_pk`, are of that app; else raises `UnknownDestination`."""
    requested = set(destination_ids)
    found = destinations_reaching(person).filter(destination_id__in=[name for name in requested if is_identifier(name)])
    listed = list(found if app_pk is None else found.filter(app_id=app_pk))
    if len(listed) != len(requested):
        raise UnknownDestination
    return listed
