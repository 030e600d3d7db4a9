"""What is done to the connector keys of apps. Keyword-only, the one who acts as `by=`."""

from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction

import pkm.sealed
from accounts.models import User
from accounts.outbox import send_mail
from common.broker import enqueue
from common.clock import database_now
from common.problems import InvalidRequest
from common.sql.dialect import clock
from common.sql.statements import rows
from consent.connector_keys.models import USABLE_AFTER, ConnectorKey
from consent.connector_keys.registered import facts_of, token_of
from consent.errors import InvalidConnectorKey
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.states import Actor
from developers.apps.audit import record
from developers.apps.models import App
from developers.apps.policies import lock_open_app
from developers.members.models import MemberRole
from developers.oauth.queries import are_of_one_host

MOST_REGISTERED = 50
_OF_ANOTHER = "connector_public_key: belongs to another app; make a key of your own."


def claim_key(*, app_pk: int, thumbprint: str) -> None:
    """From now on nobody but this app uses this key. In the caller's transaction; of two apps at once, one is refused.

    A host is an app of its own for each of its people, with one key.

    Raises `InvalidConnectorKey` where it is another app's.
    """
    mine = ConnectorKey.objects.filter(thumbprint=thumbprint).values_list("app_id", flat=True)
    # whoever is inserting the same waits for the other to commit, and then finds whose it is
    owner = mine.first() or _claimed(app_pk, thumbprint) or mine.first()
    if owner != app_pk and (owner is None or not are_of_one_host(owner, app_pk)):
        raise InvalidConnectorKey(_OF_ANOTHER)


_CLAIM = """
INSERT INTO connector_keys (app_id, thumbprint, key_id, token) VALUES (%s, %s, '', '')
ON CONFLICT (thumbprint) DO NOTHING RETURNING app_id
"""


def _claimed(app_pk: int, thumbprint: str) -> int | None:
    """The app, where the key is its own by this; one statement, in a call that many apps wait for."""
    return next((row["app_id"] for row in rows(_CLAIM, [app_pk, thumbprint])), None)


_SCHEDULE = """
INSERT INTO published_connector_keys (request_id, token, failures, due_at)
SELECT %(request_pk)s, '', 0, {clock} FROM developer_apps
 WHERE id = %(app_pk)s AND mode = 'live' AND proved_domain <> ''
"""


def schedule_key_fetch(*, request_pk: int, app_pk: int) -> None:
    """Have the worker fetch what the app's proved domain publishes, where it has one, once the request is committed.

    Nothing is fetched here: one statement, in a call that many apps wait for.
    """
    at = clock()
    with connection.cursor() as cursor:
        cursor.execute(_SCHEDULE.format(clock=at.sql), {"request_pk": request_pk, "app_pk": app_pk, **at.parameters})
        if cursor.rowcount:
            transaction.on_commit(partial(enqueue, "consent.tasks.fetch_published_keys"))


@transaction.atomic
def register_key(*, app: App, key_id: str, jwk: Any, by: User, at: datetime | None = None) -> ConnectorKey:
    """The app vouches for this key: in 24 hours people are told so. Its owners are written to now.

    A key that was removed can be registered again, and waits again. `at` is for sample data, whose past is made up.
    Raises `InvalidConnectorKey` (as a request would, or another app's), `InvalidRequest`.
    """
    try:
        public = pkm.sealed.check_connector_key(jwk)
    except pkm.sealed.InvalidHeader as unfit:
        raise InvalidConnectorKey(str(unfit)) from None
    if not pkm.sealed.KEY_ID.fullmatch(key_id):
        raise InvalidRequest("A key ID is 1 to 128 letters, digits and . _ ~ -")
    thumbprint = pkm.sealed.thumbprint(public)
    lock_open_app(app)
    claim_key(app_pk=app.pk, thumbprint=thumbprint)
    registered = ConnectorKey.objects.registered().filter(app=app)
    if registered.filter(thumbprint=thumbprint).exists():
        raise InvalidRequest("This key is registered already.")
    if registered.filter(key_id=key_id).exists():
        raise InvalidRequest("Another registered key has this name.")
    if registered.count() >= MOST_REGISTERED:
        raise InvalidRequest(f"An app has at most {MOST_REGISTERED} registered keys.")
    key = ConnectorKey.objects.select_related("app").get(thumbprint=thumbprint)
    key.key_id, key.jwk, key.registered_by, key.removed_at = key_id, public, by, None
    key.registered_at = at or database_now()
    key.usable_from = key.registered_at + USABLE_AFTER
    key.token, key.entry = (
        token_of(key),
        _append_to_app_chain(key, EventType.CONNECTOR_KEY_REGISTERED, key.registered_at),
    )
    key.save()
    record(app=app, by=by, action="connector_key.registered", key_id=key_id, fingerprint=thumbprint)
    _write_to_owners(key, by)
    return key


@transaction.atomic
def remove_key(*, key: ConnectorKey, by: User) -> bool:
    """Nobody vouches for it any more, at once, requests that wait included; False where that was so already."""
    now = database_now()
    if not ConnectorKey.objects.registered().filter(pk=key.pk).update(removed_at=now):
        return False
    _append_to_app_chain(key, EventType.CONNECTOR_KEY_REMOVED, now)
    record(app=key.app, by=by, action="connector_key.removed", key_id=key.key_id, fingerprint=key.thumbprint)
    return True


def _append_to_app_chain(key: ConnectorKey, kind: EventType, at: datetime) -> AuditEntry:
    chain = audit.app_chain(key.app.app_id)
    link = audit.append(chain=chain, kind=kind, actor=Actor.APP, at=at, facts=facts_of(key))
    return AuditEntry.objects.get(chain=link.chain, sequence=link.sequence)


def _write_to_owners(key: ConnectorKey, by: User) -> None:
    """And to who did it, or whose session somebody else has."""
    owners = key.app.members.filter(role=MemberRole.OWNER, user__is_active=True).select_related("user").order_by("pk")
    for one in dict.fromkeys([by, *(owner.user for owner in owners)]):
        send_mail("developers/mail/key_registered", to=one, context={"app": key.app, "key": key})
