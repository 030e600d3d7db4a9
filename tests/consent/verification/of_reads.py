"""What is done to reads, and to what apps were told."""

from datetime import timedelta

from django.db.models import F

from consent.exports.models import Read
from consent.notices.models import Notice
from tests.consent.verification.chains_forged import (
    run_sql,
)
from tests.consent.verification.rows_forged import first_read, live, notices, set_grant
from tests.consent.verification.table import ROWS, row, rows
from tests.consent.verification.world import DIET, World
from tests.factories import TokenFactory

NOT_AS_THEY_WERE = "the reads that it holds are not as they were"


# --- Reads ------------------------------------------------------------------------------------------------------------
rows(
    ROWS,
    ("Say that a read came from another network", NOT_AS_THEY_WERE, first_read(address_prefix="198.51.100.0/24")),
    (
        "Say that a read was made with another token",
        NOT_AS_THEY_WERE,
        lambda world: first_read(token=TokenFactory(app=world.shop))(world),
    ),
    ("Date a read half a second later", NOT_AS_THEY_WERE, first_read(at=F("at") + timedelta(milliseconds=500))),
)


@row(ROWS, NOT_AS_THEY_WERE)
def delete_read(world: World) -> None:
    """Delete a read."""
    Read.objects.filter(pk=world.reads()[0].pk).delete()
    set_grant(world.live, reads=2)


rows(
    ROWS,
    ("Say that no entry holds a read yet", NOT_AS_THEY_WERE, first_read(batch="")),
    ("Say that a read was of another grant", NOT_AS_THEY_WERE, lambda world: first_read(grant=world.paused)(world)),
)


@row(ROWS, "and the entries hold")
def insert_read(world: World) -> None:
    """Insert a read that says some entry holds it."""
    read = world.reads()[0]
    read.pk, read.batch = None, "A" * 43
    read.save(force_insert=True)
    set_grant(world.live, reads=4)


rows(ROWS, ("Let a grant say that it was read less often", "times, and there are", live(reads=1)))


# --- What apps were told ----------------------------------------------------------------------------------------------
@row(ROWS, "what the app was told goes from number")
def delete_notice(world: World) -> None:
    """Delete what an app was told."""
    run_sql("DELETE FROM consent_notices WHERE id = %s", notices(world)[0].pk)


@row(ROWS, "of what it was told is not of")
def widen_notice(world: World) -> None:
    """Say that an app was told of more than was approved."""
    notice = notices(world)[0]
    grant = {**notice.facts["grant"], "approved_attributes": [DIET]}
    Notice.objects.filter(pk=notice.pk).update(facts={**notice.facts, "grant": grant})


@row(ROWS, "of what it was told is not of")
def swap_notice(world: World) -> None:
    """Say that an app was told of another person."""
    notice = notices(world)[0]
    facts = {**notice.facts, "user_id": world.ben.user.public_id}
    Notice.objects.filter(pk=notice.pk).update(facts=facts)
