"""After an erasure and VACUUM FULL nothing of the person is left: no dump, no file of a table and no log has it.

On PostgreSQL the erasure runs with the rights of deploy/postgresql/roles.sql and no others.
"""

import logging
import secrets
from collections import Counter
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
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.erasure.actions import ask_to_erase, erase, order_erasure, take_back
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
from tests.least_rights import least_rights
from tests.patience import eventually
from tests.system.canary.kept import dump, octets_of

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no rights")


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
    factories.VaultNotesFactory(user=user, jwe=canary, resealed=canary)
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
    factories.ApprovalKeyFactory(user=user, app=grant.app)
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


_FILE = "SELECT relname FROM pg_class WHERE pg_relation_filenode(oid)::text = %s"


def kept_in_files(text: str) -> list[str]:
    """Which files of this database hold it, by table or index; none where PostgreSQL's server hides its files."""
    if connection.vendor != "postgresql":
        file = Path(settings.DATABASES["default"]["NAME"])
        return [file.name] if text.encode() in octets_of(file) else []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        )
        folder, oid = cursor.fetchone()
        try:
            files = [file for file in (Path(folder) / "base" / str(oid)).iterdir() if file.is_file()]
            found = [file.name for file in files if text.encode() in file.read_bytes()]
        except OSError:
            return []
        for place, name in enumerate(found):
            cursor.execute(_FILE, [name.partition("_")[0].partition(".")[0]])
            found[place] = next((row[0] for row in cursor.fetchall()), name)
    return sorted(found)


def rewrite_files() -> None:
    """What the handbook names for what is still on disk."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")
        cursor.execute("CHECKPOINT" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")


def kept_after_rewriting(text: str) -> list[str]:
    rewrite_files()
    return kept_in_files(text)


def draw_samples() -> None:
    """What autovacuum does whenever it likes: PostgreSQL keeps values for its planner, outside of the tables.

    Nothing does so on SQLite, and there it would stay: later tests of this process would be planned for two people.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


_SAMPLES = """
SELECT tablename || '.' || attname FROM pg_stats WHERE
strpos(concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text), %s) > 0
"""


@on_postgresql
def test_the_planner_keeps_no_sample_of_what_a_person_said() -> None:
    canaries = [f"canary{secrets.token_hex(8)}" for _ in range(2)]
    for canary in canaries:
        live(canary)

    draw_samples()

    with connection.cursor() as cursor:
        cursor.execute(_SAMPLES, ["canary"])
        assert cursor.fetchall() == []
        cursor.execute(_SAMPLES, ["person"])
        assert ("erasures.asked_by",) in cursor.fetchall()  # samples were drawn


def test_nothing_of_an_erased_person_is_left(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = f"canary{secrets.token_hex(8)}"
    user = live(canary)
    neighbour = f"canary{secrets.token_hex(8)}"
    alone = rows_by_table()
    assert {table for table in tables_of_people() if not alone[table]} == set(), "nothing of the person is looked for"
    other = live(neighbour)
    both = rows_by_table()
    factories_said = len(caplog.records)
    draw_samples()
    assert canary.encode() in dump()
    readable = bool(kept_after_rewriting(canary))

    ordered = order_erasure(of=user)
    with least_rights():
        assert erase(erasure_pk=ordered.pk)

    # a transaction that still looks back, such as autovacuum's own, keeps old rows: the next VACUUM takes them
    eventually(lambda: not kept_after_rewriting(canary), "a file without what was erased")
    assert kept_in_files(canary) == []
    left = rows_by_table()
    destroyed = {table for room in leaving_rooms() for table, said in room.tables.items() if said == "destroyed"}
    destroyed -= {"audit_pending"}  # what waits is written first, of the neighbour too
    assert {table: left[table] for table in destroyed} == {table: both[table] - alone[table] for table in destroyed}
    kept = dump()
    assert canary.encode() not in kept
    assert readable == bool(kept_in_files(neighbour))
    assert neighbour.encode() in kept
    assert not [line for line in caplog.records[factories_said:] if canary in line.getMessage() + str(line.args)]

    # what was made for the neighbour without an entry would be a finding while its rows stand
    later = order_erasure(of=other)
    with least_rights():
        assert erase(erasure_pk=later.pk)
    call_command("verify_audit", stdout=StringIO())


_asking = (
    "INSERT INTO erasures (user_id, asked_by, asked_at, due_at, undo_digest, farewell) "
    "VALUES ({user}, '{by}', now(), now() + interval '{days} days', '', '')"
)


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
        # nobody who has the server's rights erases without the days in which it can be taken back
        _asking.format(user=over.user_id, by="operator", days=0),
        _asking.format(user=over.user_id, by="person", days=0),
        _asking.format(user=over.user_id, by="operator", days=7),
        # the setting of the functions is of no use to anybody but them
        "SELECT set_config('consent.erasing', 'on', true); UPDATE consent_requests SET purpose = 'other'",
    ]

    with least_rights():
        for statement in tries:
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)
        with pytest.raises(CommandError, match="owner of the tables"):
            call_command("erase_person", over.user.public_id, yes=True, stdout=StringIO())
        asked = ask_to_erase(by=over.user)
        assert take_back(by=over.user)
        assert not erase(erasure_pk=asked.pk)

    assert AuditFacts.objects.count() == 2
