"""Much for the worker to do: ends that are due, and reads that no entry holds."""

from datetime import timedelta

from common.clock import database_now
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from developers.models import App
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory, PersonFactory, TokenFactory


def overdue(count: int, apps: list[App], *, days: int = 3) -> tuple[list[ConsentRequest], list[Grant]]:
    """So many requests that nobody decided and as many grants, of few people and these apps, all over by now."""
    long_ago = database_now() - timedelta(days=days)
    people = [PersonFactory() for _ in range(min(count, 3))]
    requests, grants = [], []
    for number in range(count):
        own = {"app": apps[number % len(apps)], "user": people[number % len(people)]}
        at = long_ago + timedelta(seconds=number)
        requests.append(ConsentRequestFactory(created_at=at, **own))
        approved = ConsentRequestFactory(created_at=at, status="approved", **own)
        grants.append(
            ExportFactory(grant__request=approved, grant__scope=f"{approved.scope}{number}", grant__reads=2).grant
        )
    return requests, grants


def read_often(people: int, reads: int) -> list[Grant]:
    app = AppFactory()
    token = TokenFactory(app=app)
    exports = [ExportFactory(grant__request__app=app) for _ in range(people)]
    for export in exports:
        Read.objects.bulk_create(
            Read(grant=export.grant, export=export, token=token, at=database_now()) for _ in range(reads)
        )
    return [export.grant for export in exports]
