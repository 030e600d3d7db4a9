"""What is done to reads, and to what apps were told."""

from datetime import timedelta

from django.db.models import F

from consent.exports.models import Read
from consent.notices.models import Notice
from tests.consent.verification.chains_forged import (
    run_sql,
)
from tests.consent.verification.rows_forged import notices, set_grant
from tests.consent.verification.table import ROWS, row
from tests.consent.verification.world import DIET, World
from tests.factories import TokenFactory


# --- Reads ------------------------------------------------------------------------------------------------------------
@row(ROWS, "the reads that it holds are not as they were")
def move_read_elsewhere(world: World) -> None:
    """Say that a read came from another network."""
    Read.objects.filter(pk=world.reads()[0].pk).update(address_prefix="198.51.100.0/24")


@row(ROWS, "the reads that it holds are not as they were")
def blame_token(world: World) -> None:
    """Say that a read was made with another token."""
    Read.objects.filter(pk=world.reads()[0].pk).update(token=TokenFactory(app=world.shop))


@row(ROWS, "the reads that it holds are not as they were")
def date_read(world: World) -> None:
    """Date a read half a second later."""
    Read.objects.filter(pk=world.reads()[0].pk).update(at=F("at") + timedelta(milliseconds=500))


@row(ROWS, "the reads that it holds are not as they were")
def delete_read(world: World) -> None:
    """Delete a read."""
    Read.objects.filter(pk=world.reads()[0].pk).delete()
    set_grant(world.live, reads=2)


@row(ROWS, "the reads that it holds are not as they were")
def unchain_read(world: World) -> None:
    """Say that no entry holds a read yet."""
    Read.objects.filter(pk=world.reads()[0].pk).update(batch="")


@row(ROWS, "the reads that it holds are not as they were")
def read_of_another_grant(world: World) -> None:
    """Say that a read was of another grant."""
    Read.objects.filter(pk=world.reads()[0].pk).update(grant=world.paused)


@row(ROWS, "and the entries hold")
def insert_read(world: World) -> None:
    """Insert a read that says some entry holds it."""
    read = world.reads()[0]
    read.pk, read.batch = None, "A" * 43
    read.save(force_insert=True)
    set_grant(world.live, reads=4)


@row(ROWS, "times, and there are")
def recount_reads(world: World) -> None:
    """Let a grant say that it was read less often."""
    set_grant(world.live, reads=1)


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
