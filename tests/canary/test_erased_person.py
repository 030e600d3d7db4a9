"""After an erasure and a VACUUM nothing of the person is left: no dump, no file of a table and no log has it.

On PostgreSQL the erasure runs with the rights of deploy/postgresql/roles.sql and no others.
"""

import logging
import secrets
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.erasure.actions import erase, order_erasure
from accounts.hooks import leaving_rooms
from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from consent.decisions.models import AppReport
from consent.grants.models import Grant
from consent.ledger.models import AuditFacts
from consent.notices.models import Notice
from developers.members.models import AppInvitation
from pkm.history.models import Event, Index
from pkm.segments.models import Blob, Manifest
from pkm.vault.models import KeyWrapper, VaultKey
from tests import factories
from tests.accounts.erasure.tables import tables_of_people
from tests.canary.kept import dump, octets_of
from tests.patience import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ROLES = Path(__file__).parents[2] / "deploy" / "postgresql" / "roles.sql"
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no rights")


@contextmanager
def least_rights() -> Iterator[None]:
    """This connection has the rights of the server's role; on SQLite there are none to lose."""
    if connection.vendor != "postgresql":
        yield
        return
    role = f"consent_{secrets.token_hex(6)}"
    given = connection.settings_dict
    address = ["-h", given["HOST"], "-p", str(given["PORT"] or 5432), "-U", given["USER"] or "root"]
    made = ["psql", *address, "-d", given["NAME"], f"--set=role={role}", f"--file={ROLES}", "--quiet"]
    subprocess.run(made, check=True, capture_output=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            for made_role in (role, f"{role}_log"):
                cursor.execute(f"DROP OWNED BY {made_role}")
                cursor.execute(f"DROP ROLE {made_role}")


def live(canary: str) -> User:
    """Somebody of whom every table that can hold something of a person holds it, with the canary wherever it can be.

    A column that is sealed holds the canary itself, where nothing has to open it: sealed, it could not be looked for.
    """
    user: User = factories.PersonFactory(email=f"{canary}@example.org", display_name=f"{canary} Meier")
    _account(user, canary)
    _kept(user, canary)
    _allowed(user, canary)
    _developed(user, canary)
    _analysed(user, canary)
    return user


def _account(user: User, canary: str) -> None:
    profile: dict[str, Any] = {"handle": f"h-{canary}"[:32], "headline": canary, "location_hint": canary}
    factories.PublicProfileFactory(user=user, display_name=canary, **profile)
    factories.UserPhotoFactory(user=user, webp=canary)
    factories.ReleasedHandleFactory(user=user, handle=f"r-{canary}"[:32])
    factories.ActorProfileFactory(user=user)
    factories.PersonaStateFactory(user=user)
    factories.SessionFactory(user=user, data=canary)
    factories.SecurityChangeFactory(user=user, address=user.email, detail=canary)
    address = EmailAddress.objects.create(user=user, email=f"other.{canary}@example.org")
    EmailConfirmation.objects.create(email_address=address, key=canary)
    Authenticator.objects.create(user=user, type="webauthn", data={"name": canary})
    user.groups.add(Group.objects.get_or_create(name="readers")[0])
    user.user_permissions.add(Permission.objects.order_by("pk")[0])
    factories.ErasureFactory(user=user, cancelled_at=timezone.now())
    LogEntry.objects.create(
        user=factories.StaffFactory(), content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk),
        object_repr=user.email, action_flag=CHANGE, change_message=canary,
    )  # fmt: skip


def _kept(user: User, canary: str) -> None:
    vault = VaultKey.objects.get(user=factories.give_vault(user).user)
    KeyWrapper.objects.filter(user=user).update(label=canary, jwe=canary)
    factories.RotationWrapperFactory(vault=vault, label=canary, jwe=canary)
    factories.VaultResetFactory(vault=vault)
    Blob.objects.filter(user=user).update(ciphertext=canary)
    factories.ManifestPathFactory(manifest=Manifest.objects.get(user=user), path=f"lifestyle.food.{canary}")
    Index.objects.filter(user=user).update(summary_projection={"lifestyle": {canary: 1}})
    Event.objects.create(user=user, sequence=999, kind="segment_written", facts={"segment": canary}, at=timezone.now())
    factories.HiddenScopeFactory(user=user, scope=f"attr.lifestyle.food.{canary}")
    factories.LegacyBlobFactory(user=user, domain=canary, jwe=canary)
    factories.LegacyMetadataFactory(user=user, domain=canary, summary={canary: 1})
    factories.MigrationStateFactory(user=user, checkpoint={"moved": {canary: "2024-05-17T09:30:00+00:00"}})


def _allowed(user: User, canary: str) -> None:
    asked = {"user": user, "purpose": f"To {canary}", "binding_message": canary}
    grant = factories.ReadFactory(
        export__grant__request=factories.ConsentRequestFactory(status="approved", **asked),
        export__sources=[{"domain": "lifestyle", "segment_id": canary, "content_revision": 1}],
    ).export.grant
    Grant.objects.filter(pk=grant.pk).update(approved_attributes=[f"lifestyle.food.{canary}"])
    denied = factories.ConsentRequestFactory(**asked)
    decision_actions.deny(request_id=denied.request_id, by=user, reason=canary)
    factories.MailFactory(request=factories.ConsentRequestFactory(**asked))
    factories.WebhookDeliveryFactory(notice=Notice.objects.get(request=denied))
    factories.IdempotencyKeyFactory(app=denied.app, answer={"user_id": user.public_id, "binding_message": canary})
    factories.DiscoveryFactory(user=user, app=grant.app)
    factories.DirectoryFindFactory(user=user, app=grant.app)
    factories.BlockedAppFactory(user=user, app=grant.app)
    blocked_apps.report_app(app_id=grant.app.app_id, by=user, text=canary)
    factories.ReportNoteFactory(report=AppReport.objects.get(user=user), note=canary)
    waits = factories.ReceiptFactory(
        request__status="denied", request__user=user
    ).request  # last: the next entry would write it
    factories.AuditPendingFactory(request=waits, facts={"request_id": waits.request_id, "reason": canary})


def _developed(user: User, canary: str) -> None:
    """What they did as a developer and as staff stays by its nature; its words are not about them."""
    factories.MemberFactory(user=user, role="member")
    factories.ManagementTokenFactory(user=user, label=canary)
    factories.ApplicationFactory(applicant=user, legal_name=canary, contact_email=user.email, use_case=canary)
    app = factories.TokenFactory(created_by=user).app
    factories.AppAuditEntryFactory(app=app, member=user, action="member.invited", facts={"email": user.email})
    invited = factories.AppInvitationFactory(app=app, email=user.email)
    AppInvitation.objects.filter(pk=invited.pk).update(invited_by=factories.PersonFactory())
    factories.SandboxPersonFactory(user=user, label=canary)
    factories.ScopeTemplateFactory(proposed_by=user)
    factories.ScopeWithdrawalFactory(by=user)
    factories.MessageTemplateFactory(proposed_by=user)


def _analysed(user: User, canary: str) -> None:
    consent = factories.ProcessingConsentFactory(user=user, origin=f"https://{canary}.example")
    run = factories.RunFactory(
        user=user, consent=consent, input=canary, status="completed", finished_at=timezone.now(), profile=canary,
        provenance={canary: "brand"}, metadata={"name": canary},
    )  # fmt: skip
    factories.StepFactory(
        run=run, status="succeeded", started_at=timezone.now(), finished_at=timezone.now(), reply=canary,
        fields=canary, field_count=1,
    )  # fmt: skip
    factories.ActivationFactory(run=run, body=canary)
    factories.CallFactory(consent=consent)
    factories.PhoneNumberFactory(user=user, number=canary)
    factories.OutboundMessageFactory(consent=consent)
    item = factories.ItemFactory(
        user=user, consent=consent, upstream_id=canary, institution=canary, cursor=canary, signals=canary
    )
    factories.LinkSessionFactory(user=user, consent=consent, link_token=canary)
    factories.RefreshRunFactory(item=item)


def rows_by_table() -> Counter[str]:
    """How many rows each table has that leads to a person."""
    with connection.cursor() as cursor:
        counts = Counter[str]()
        for table in tables_of_people():
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
    return counts


def files_of_tables() -> bytes:
    """The files of this database, where the server of PostgreSQL lets them be read; an empty text elsewhere."""
    if connection.vendor != "postgresql":
        return octets_of(Path(settings.DATABASES["default"]["NAME"]))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        )
        folder, oid = cursor.fetchone()
    try:
        return b"".join(file.read_bytes() for file in (Path(folder) / "base" / str(oid)).iterdir() if file.is_file())
    except OSError:
        return b""


_LOOKING_BACK = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
"""


def _nobody_looks_back() -> bool:
    """Whether no other transaction, such as autovacuum's, may still see rows that are gone: those would be kept."""
    with connection.cursor() as cursor:
        cursor.execute(_LOOKING_BACK)
        return bool(cursor.fetchone()[0] == 0)


def vacuum() -> None:
    if connection.vendor == "postgresql":
        assert wait_until(_nobody_looks_back)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")
        cursor.execute("CHECKPOINT" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.slow("reads all of the database's files, before and after")
def test_nothing_of_an_erased_person_is_left(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = f"canary{secrets.token_hex(8)}"
    user = live(canary)
    neighbour = f"canary{secrets.token_hex(8)}"
    alone = rows_by_table()
    assert {table for table in tables_of_people() if not alone[table]} == set(), "nothing of the person is looked for"
    live(neighbour)
    both = rows_by_table()
    factories_said = len(caplog.records)
    vacuum()
    assert canary.encode() in dump()
    readable = canary.encode() in files_of_tables()

    with least_rights():
        assert erase(erasure_pk=order_erasure(of=user).pk)
    vacuum()

    left = rows_by_table()
    destroyed = {table for room in leaving_rooms() for table, said in room.tables.items() if said == "destroyed"}
    destroyed -= {"audit_pending"}  # what waits is written first, of the neighbour too
    assert {table: left[table] for table in destroyed} == {table: both[table] - alone[table] for table in destroyed}
    kept, files = dump(), files_of_tables()
    assert canary.encode() not in kept
    assert canary.encode() not in files
    assert readable == (neighbour.encode() in files)
    assert neighbour.encode() in kept
    assert not [line for line in caplog.records[factories_said:] if canary in line.getMessage() + str(line.args)]
    call_command("verify_audit", stdout=StringIO())


@on_postgresql
def test_the_servers_role_takes_away_no_facts_but_by_an_erasure_that_is_due() -> None:
    request = factories.ConsentRequestFactory()
    decision_actions.deny(request_id=request.request_id, by=request.user)
    waiting = factories.ErasureFactory(user=request.user)
    over = factories.ErasureFactory(asked_at=timezone.now() - timedelta(days=9), cancelled_at=timezone.now())
    tries = [
        "DELETE FROM audit_facts",
        "DELETE FROM audit_chains",
        "UPDATE audit_facts SET about = ''",
        "UPDATE audit_chains SET subject = 'person:x'",
        "DELETE FROM consent_receipts",
        "TRUNCATE audit_facts CASCADE",
        f"SELECT erase_consent_rows({waiting.pk})",
        f"SELECT erase_consent_rows({over.pk})",
        f"UPDATE erasures SET due_at = asked_at WHERE id = {waiting.pk}",
        # the setting of the functions is of no use to anybody but them
        "SELECT set_config('consent.erasing', 'on', true); UPDATE consent_requests SET purpose = 'other'",
    ]

    with least_rights():
        for statement in tries:
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)

    assert AuditFacts.objects.count() == 2
