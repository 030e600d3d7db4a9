import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import consent.ledger.models
import consent.states


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "__first__"),
        ("developers", "0001_initial"),
        ("pkm", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditChain",
            fields=[
                (
                    "chain",
                    models.CharField(
                        default=consent.ledger.models.new_chain_id, max_length=80, primary_key=True, serialize=False
                    ),
                ),
                ("subject", models.CharField(max_length=80, unique=True)),
            ],
            options={
                "db_table": "audit_chains",
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain", models.CharField(max_length=80, verbose_name="chain")),
                ("sequence", models.PositiveIntegerField(verbose_name="number")),
                ("prev_hash", models.CharField(blank=True, max_length=43)),
                ("entry_hash", models.CharField(max_length=43)),
                ("kind", models.CharField(max_length=40, verbose_name="what")),
                ("actor", models.CharField(max_length=80, verbose_name="by")),
                ("at", models.DateTimeField(verbose_name="when")),
                ("facts_hash", models.CharField(max_length=43)),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "db_table": "consent_audit",
                "constraints": [
                    models.UniqueConstraint(fields=("chain", "sequence"), name="consent_audit_sequence"),
                    models.CheckConstraint(
                        condition=models.Q(("facts_hash", ""), _negated=True), name="consent_audit_facts_hash"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("chain", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("sequence", models.PositiveIntegerField(default=0)),
                ("entry_hash", models.CharField(blank=True, max_length=43)),
            ],
            options={
                "db_table": "consent_audit_heads",
            },
        ),
        migrations.CreateModel(
            name="BlockedApp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="blocked_by", to="developers.app"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blocked_apps",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "blocked_apps",
                "constraints": [models.UniqueConstraint(fields=("user", "app"), name="blocked_app_once")],
            },
        ),
        migrations.CreateModel(
            name="ConsentRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("request_id", models.CharField(max_length=64, unique=True, verbose_name="request ID")),
                ("scope", models.CharField(max_length=210, verbose_name="scope")),
                ("app_name", models.CharField(max_length=80, verbose_name="app's name when asked")),
                ("attributes", models.JSONField(verbose_name="attributes when asked")),
                ("purpose", models.CharField(max_length=280, verbose_name="purpose")),
                ("connector_public_key", models.JSONField()),
                ("connector_key_id", models.CharField(max_length=128)),
                ("connector_thumbprint", models.CharField(max_length=43, verbose_name="connector fingerprint")),
                ("wrapping_alg", models.CharField(max_length=32)),
                ("access_duration", models.PositiveIntegerField(verbose_name="access asked for in seconds")),
                ("expires_at", models.DateTimeField(verbose_name="waits until")),
                ("required_attributes", models.JSONField(null=True)),
                ("optional_attributes", models.JSONField(null=True)),
                ("max_reads", models.PositiveIntegerField(null=True)),
                (
                    "refresh_policy",
                    models.CharField(
                        choices=[("snapshot", "As it is at approval"), ("continuous", "Kept up to date")],
                        default="snapshot",
                        max_length=16,
                    ),
                ),
                ("binding_message", models.CharField(max_length=64, null=True)),
                ("template_id", models.CharField(max_length=64, null=True)),
                (
                    "handling",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        verbose_name="what the app said becomes of the data",
                    ),
                ),
                ("request_digest", models.CharField(max_length=43)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("approved", "approved"),
                            ("denied", "denied"),
                            ("cancelled", "cancelled"),
                            ("expired", "expired"),
                        ],
                        default=consent.states.RequestStatus["PENDING"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decided_by", models.CharField(blank=True, max_length=8, verbose_name="decided by")),
                ("decision_note", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(verbose_name="asked")),
                ("mail_waits", models.BooleanField(db_default=True, default=True)),
                ("record_waits", models.BooleanField(db_default=False, default=False)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="consent_requests",
                        to="developers.app",
                    ),
                ),
                (
                    "scope_entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="consent_requests",
                        to="pkm.scopeentry",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="consent_requests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "consent request",
                "verbose_name_plural": "consent requests",
                "db_table": "consent_requests",
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["user", "status", "-created_at"], name="consent_request_inbox"),
                    models.Index(fields=["app", "user", "scope", "-id"], name="consent_request_newest"),
                    models.Index(fields=["app", "-id"], name="consent_request_of_app"),
                    models.Index(fields=["app", "status", "-id"], name="consent_request_of_status"),
                    models.Index(
                        fields=["app", "connector_thumbprint", "connector_key_id", "created_at"],
                        name="consent_request_keys",
                    ),
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["expires_at"],
                        name="consent_request_expiring",
                    ),
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["scope_entry", "id"],
                        name="consent_request_of_scope",
                    ),
                    models.Index(
                        condition=models.Q(("mail_waits", True), ("status", "pending")),
                        fields=["created_at"],
                        name="consent_request_to_mail",
                    ),
                    models.Index(
                        condition=models.Q(("record_waits", True)), fields=["id"], name="consent_request_to_record"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["pending", "approved", "denied", "cancelled", "expired"])),
                        name="consent_request_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("decided_by", ""), ("status", "pending")),
                            models.Q(
                                models.Q(("status", "pending"), _negated=True),
                                ("decided_at__isnull", False),
                                ("decided_by__in", ["person", "app", "staff", "system"]),
                            ),
                            _connector="OR",
                        ),
                        name="consent_request_decision_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("refresh_policy__in", ["snapshot", "continuous"])),
                        name="consent_request_refresh_policy",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))),
                        name="consent_request_expires_later",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "pending")),
                        fields=("app", "user", "scope", "connector_thumbprint"),
                        name="consent_request_one_pending",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditPending",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "pending_id",
                    models.CharField(default=consent.ledger.models.new_pending_id, max_length=64, unique=True),
                ),
                ("chain", models.CharField(max_length=80)),
                ("kind", models.CharField(max_length=40)),
                ("actor", models.CharField(max_length=80)),
                ("at", models.DateTimeField()),
                ("facts", models.JSONField()),
                ("receipt", models.JSONField(null=True)),
                (
                    "request",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pending_entries",
                        to="consent.consentrequest",
                    ),
                ),
            ],
            options={
                "db_table": "audit_pending",
                "indexes": [models.Index(fields=["chain", "id"], name="audit_pending_of_chain")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("receipt__isnull", True), ("request__isnull", False), _connector="OR"),
                        name="audit_pending_receipt_of_request",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DirectoryFind",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("at", models.DateTimeField()),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="directory_finds",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="directory_finds",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "find in the directory",
                "verbose_name_plural": "finds in the directory",
                "db_table": "directory_finds",
                "indexes": [
                    models.Index(fields=["user", "-at"], name="directory_find_of_user"),
                    models.Index(fields=["day"], name="directory_find_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("app", "user", "day"), name="directory_find_once_a_day")
                ],
            },
        ),
        migrations.CreateModel(
            name="Discovery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("count", models.PositiveIntegerField(default=1)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="discoveries",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="discoveries",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "discovery",
                "verbose_name_plural": "discoveries",
                "db_table": "discovery_log",
                "indexes": [
                    models.Index(fields=["user", "-day"], name="discovery_of_user"),
                    models.Index(fields=["day"], name="discovery_age"),
                ],
                "constraints": [models.UniqueConstraint(fields=("app", "user", "day"), name="discovery_once_a_day")],
            },
        ),
        migrations.CreateModel(
            name="DiscoveryMiss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hint", models.CharField(blank=True, default="", max_length=4)),
                ("minute", models.DateTimeField()),
                ("count", models.PositiveIntegerField(default=1)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="discovery_misses",
                        to="developers.app",
                    ),
                ),
            ],
            options={
                "db_table": "discovery_misses",
                "constraints": [
                    models.UniqueConstraint(fields=("app", "hint", "minute"), name="discovery_miss_once_a_minute")
                ],
            },
        ),
        migrations.CreateModel(
            name="ForgottenReads",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("entry", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "consent_reads_forgotten",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="consent_reads_forgotten_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("grant_id", models.CharField(max_length=64, unique=True, verbose_name="grant ID")),
                ("scope", models.CharField(max_length=210, verbose_name="scope")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "active"),
                            ("paused", "paused"),
                            ("revoked", "revoked"),
                            ("released", "released"),
                            ("terminated", "terminated"),
                            ("expired", "expired"),
                            ("exhausted", "exhausted"),
                            ("superseded", "superseded"),
                        ],
                        default=consent.states.GrantStatus["ACTIVE"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("approved_attributes", models.JSONField(verbose_name="approved attributes")),
                ("starts_at", models.DateTimeField(verbose_name="from")),
                ("expires_at", models.DateTimeField(verbose_name="until")),
                ("reads", models.PositiveIntegerField(default=0, verbose_name="reads")),
                ("max_reads", models.PositiveIntegerField(null=True, verbose_name="most reads")),
                ("kept_current", models.BooleanField(default=True, verbose_name="kept up to date")),
                ("reminder_waits", models.BooleanField(db_default=True, default=True)),
                ("record_waits", models.BooleanField(db_default=False, default=False)),
                ("resume_nonce", models.CharField(blank=True, db_default="", default="", max_length=43)),
                ("resume_nonce_until", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("ended_by", models.CharField(blank=True, max_length=8, verbose_name="ended by")),
                ("end_reason", models.CharField(blank=True, max_length=500)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grants", to="developers.app"
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grant", to="consent.consentrequest"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "grant",
                "verbose_name_plural": "grants",
                "db_table": "consent_grants",
                "indexes": [
                    models.Index(fields=["user", "status"], name="consent_grant_of_user"),
                    models.Index(
                        condition=models.Q(("status__in", ["active", "paused"])),
                        fields=["expires_at"],
                        name="consent_grant_expiring",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["active", "paused"])),
                        fields=["scope", "id"],
                        name="consent_grant_of_scope",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["active", "paused"]), ("reminder_waits", True)),
                        fields=["expires_at"],
                        name="consent_grant_to_remind",
                    ),
                    models.Index(
                        condition=models.Q(("record_waits", True)), fields=["id"], name="consent_grant_to_record"
                    ),
                    models.Index(condition=models.Q(("status", "paused")), fields=["id"], name="consent_grant_paused"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "active",
                                    "paused",
                                    "revoked",
                                    "released",
                                    "terminated",
                                    "expired",
                                    "exhausted",
                                    "superseded",
                                ],
                            )
                        ),
                        name="consent_grant_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("status__in", ["active", "paused"]),
                                ("end_reason", ""),
                                ("ended_at__isnull", True),
                                ("ended_by", ""),
                            ),
                            models.Q(
                                models.Q(("status__in", ["active", "paused"]), _negated=True),
                                ("ended_at__isnull", False),
                                ("ended_by__in", ["person", "app", "staff", "system"]),
                            ),
                            _connector="OR",
                        ),
                        name="consent_grant_end_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resume_nonce", ""), ("resume_nonce_until__isnull", True)),
                            models.Q(
                                models.Q(("resume_nonce", ""), _negated=True), ("resume_nonce_until__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="consent_grant_nonce_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("starts_at"))),
                        name="consent_grant_expires_later",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("max_reads__isnull", True), ("reads__lte", models.F("max_reads")), _connector="OR"
                        ),
                        name="consent_grant_reads_within",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["active", "paused"])),
                        fields=("app", "user", "scope"),
                        name="consent_grant_one_live",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("export_id", models.CharField(max_length=64, unique=True)),
                ("revision", models.PositiveIntegerField()),
                ("ciphertext", models.TextField(null=True)),
                ("size_bytes", models.PositiveIntegerField()),
                ("connector_key_id", models.CharField(max_length=128)),
                ("sources", models.JSONField()),
                ("sealed_at", models.DateTimeField()),
                ("approval", models.TextField(null=True)),
                ("owner_key", models.JSONField(null=True)),
                ("owner_key_reset", models.BooleanField(db_default=False, default=False)),
                ("approved_attributes", models.JSONField(null=True)),
                (
                    "grant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exports",
                        to="consent.grant",
                    ),
                ),
            ],
            options={
                "db_table": "consent_exports",
                "constraints": [
                    models.UniqueConstraint(fields=("grant", "revision"), name="consent_export_revision_once"),
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="consent_export_revision_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("approval__isnull", True), ("owner_key__isnull", True), ("owner_key_reset", False)
                            ),
                            models.Q(("approval__isnull", False), ("owner_key__isnull", False)),
                            _connector="OR",
                        ),
                        name="consent_export_approval_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogLeaf",
            fields=[
                ("log_index", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("entry_hash", models.BinaryField(max_length=32)),
                (
                    "entry",
                    models.OneToOneField(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="leaf",
                        to="consent.auditentry",
                    ),
                ),
            ],
            options={
                "db_table": "consent_log_leaves",
                "indexes": [models.Index(fields=["entry_hash"], name="consent_log_leaf_by_hash")],
            },
        ),
        migrations.CreateModel(
            name="LogState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.CharField(blank=True, default="", max_length=32)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("frontier", models.BinaryField(default=b"")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "consent_log_state",
                "constraints": [models.CheckConstraint(condition=models.Q(("pk", 1)), name="consent_log_state_is_one")],
            },
        ),
        migrations.CreateModel(
            name="LogTile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.PositiveSmallIntegerField()),
                ("number", models.PositiveBigIntegerField()),
                ("hashes", models.BinaryField(max_length=8192)),
            ],
            options={
                "db_table": "consent_log_tiles",
                "constraints": [models.UniqueConstraint(fields=("level", "number"), name="consent_log_tile_once")],
            },
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("request", "Request"), ("ending", "Ending")], max_length=16)),
                ("sent_at", models.DateTimeField()),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mails",
                        to="consent.consentrequest",
                    ),
                ),
            ],
            options={
                "db_table": "consent_mails",
                "constraints": [
                    models.UniqueConstraint(fields=("request", "kind"), name="consent_mail_once"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["request", "ending"])), name="consent_mail_kind"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sequence", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=32)),
                ("facts", models.JSONField()),
                ("at", models.DateTimeField()),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notices",
                        to="developers.app",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notices",
                        to="consent.consentrequest",
                    ),
                ),
            ],
            options={
                "db_table": "consent_notices",
                "indexes": [models.Index(fields=["request", "-sequence"], name="consent_notice_newest")],
                "constraints": [models.UniqueConstraint(fields=("app", "sequence"), name="consent_notice_sequence")],
            },
        ),
        migrations.CreateModel(
            name="NoticeCounter",
            fields=[
                (
                    "app",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="developers.app",
                    ),
                ),
                ("sequence", models.PositiveIntegerField(default=0)),
                ("forgotten", models.PositiveIntegerField(db_default=0, default=0)),
            ],
            options={
                "db_table": "consent_notice_counters",
            },
        ),
        migrations.CreateModel(
            name="Read",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("address_prefix", models.CharField(blank=True, max_length=48)),
                ("batch", models.CharField(blank=True, max_length=43)),
                (
                    "export",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="read_log", to="consent.export"
                    ),
                ),
                (
                    "grant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="read_log",
                        to="consent.grant",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="developers.developertoken"
                    ),
                ),
            ],
            options={
                "db_table": "consent_reads",
                "indexes": [
                    models.Index(fields=["grant", "-at"], name="consent_read_of_grant"),
                    models.Index(condition=models.Q(("batch", "")), fields=["id"], name="consent_read_unchained"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("receipt_id", models.CharField(max_length=64, unique=True)),
                ("event", models.CharField(max_length=16)),
                ("jws", models.TextField()),
                ("app_jws", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="receipts",
                        to="consent.consentrequest",
                    ),
                ),
            ],
            options={
                "db_table": "consent_receipts",
                "indexes": [models.Index(fields=["request", "-id"], name="consent_receipt_newest")],
                "constraints": [models.UniqueConstraint(fields=("request", "event"), name="consent_receipt_once")],
            },
        ),
        migrations.CreateModel(
            name="SandboxPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(blank=True, max_length=80, verbose_name="label")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sandbox_people", to="developers.app"
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sandbox_person",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "sandbox person",
                "verbose_name_plural": "sandbox people",
                "db_table": "sandbox_people",
            },
        ),
        migrations.CreateModel(
            name="ScopeTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("template_id", models.CharField(max_length=64, verbose_name="template ID")),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("scope", models.CharField(max_length=210, verbose_name="scope")),
                ("purpose", models.CharField(max_length=280, verbose_name="purpose")),
                (
                    "max_access_duration",
                    models.PositiveIntegerField(default=86400, verbose_name="longest access in seconds"),
                ),
                ("max_reads", models.PositiveIntegerField(blank=True, null=True, verbose_name="most reads")),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
                ("active", models.BooleanField(default=False, verbose_name="active")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approved_templates",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proposed_templates",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "template",
                "verbose_name_plural": "templates",
                "db_table": "consent_scope_templates",
                "constraints": [
                    models.UniqueConstraint(fields=("template_id", "version"), name="consent_template_version_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("active", True)),
                        fields=("template_id",),
                        name="consent_template_one_active",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approved_at__isnull", True), ("approved_by__isnull", True)),
                            models.Q(("approved_at__isnull", False), ("approved_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="consent_template_approval_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("active", False), ("approved_by__isnull", False), _connector="OR"),
                        name="consent_template_active_approved",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by__isnull", True),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="consent_template_four_eyes",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScopeWithdrawal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ends_grants", models.BooleanField(default=False, verbose_name="ends live grants")),
                ("newest_request", models.BigIntegerField(default=0)),
                ("newest_grant", models.BigIntegerField(default=0)),
                ("cancelled", models.PositiveIntegerField(default=0, verbose_name="requests cancelled")),
                ("ended", models.PositiveIntegerField(default=0, verbose_name="grants ended")),
                ("at", models.DateTimeField(verbose_name="at")),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="finished")),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="scope_withdrawals",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="by",
                    ),
                ),
                (
                    "scope_entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawals",
                        to="pkm.scopeentry",
                        verbose_name="scope",
                    ),
                ),
            ],
            options={
                "verbose_name": "withdrawal of a scope",
                "verbose_name_plural": "withdrawals of scopes",
                "db_table": "scope_withdrawals",
                "indexes": [
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True)), fields=["id"], name="scope_withdrawal_to_do"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("delivered", "Delivered"), ("given_up", "Given up")],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("status_code", models.PositiveSmallIntegerField(null=True)),
                ("ms", models.PositiveIntegerField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, max_length=120)),
                ("trace_id", models.CharField(blank=True, max_length=64)),
                ("next_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="developers.webhookendpoint",
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="deliveries", to="consent.notice"
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook delivery",
                "verbose_name_plural": "webhook deliveries",
                "db_table": "webhook_deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "waiting")), fields=["next_at"], name="webhook_delivery_due"
                    ),
                    models.Index(fields=["status", "id"], name="webhook_delivery_status"),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="webhook_delivery_age",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("endpoint", "notice"), name="webhook_delivery_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("status", "waiting")),
                            models.Q(("finished_at__isnull", False), ("status__in", ["delivered", "given_up"])),
                            _connector="OR",
                        ),
                        name="webhook_delivery_finish_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AppReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(max_length=2000, verbose_name="report")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("in_hand", "In hand"), ("closed", "Closed")],
                        db_default="open",
                        default="open",
                        max_length=8,
                        verbose_name="status",
                    ),
                ),
                ("handled_at", models.DateTimeField(blank=True, null=True, verbose_name="closed")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="reported")),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="developers.app"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="app_reports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "report about an app",
                "verbose_name_plural": "reports about apps",
                "db_table": "app_reports",
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "closed"), _negated=True),
                        fields=["created_at"],
                        name="app_report_waiting",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["open", "in_hand", "closed"])), name="app_report_status"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("handled_at__isnull", False), ("status", "closed")),
                            models.Q(models.Q(("status", "closed"), _negated=True), ("handled_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="app_report_closed_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("in_hand", "In hand"), ("closed", "Closed")],
                        max_length=8,
                        verbose_name="status",
                    ),
                ),
                ("note", models.CharField(max_length=1000, verbose_name="note")),
                ("at", models.DateTimeField(verbose_name="at")),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="report_notes",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="by",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notes", to="consent.appreport"
                    ),
                ),
            ],
            options={
                "db_table": "app_report_notes",
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["open", "in_hand", "closed"])), name="app_report_note_status"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("note", ""), _negated=True), name="app_report_note_says_why"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApprovalKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_key", models.JSONField()),
                ("root", models.CharField(max_length=43)),
                ("issuer", models.CharField(max_length=300)),
                ("history", models.JSONField(default=list)),
                ("is_reset", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="approval_keys", to="developers.app"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approval_keys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "approval_keys",
                "constraints": [models.UniqueConstraint(fields=("user", "app"), name="approval_key_once")],
            },
        ),
        migrations.CreateModel(
            name="AuditCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.CharField(blank=True, default="", max_length=32)),
                ("size", models.PositiveBigIntegerField()),
                ("root", models.CharField(max_length=43)),
                ("note", models.TextField()),
                ("cosignatures", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField()),
                ("cosigned_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "consent_audit_checkpoints",
                "indexes": [
                    models.Index(
                        condition=models.Q(("cosigned_at__isnull", False)),
                        fields=["epoch", "size"],
                        name="consent_checkpoint_cosigned",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("epoch", "size"), name="consent_checkpoint_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cosigned_at", None), ("cosigned_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="consent_checkpoint_cosigned_later",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditFacts",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="kept",
                        serialize=False,
                        to="consent.auditentry",
                    ),
                ),
                ("salt", models.BinaryField(max_length=32)),
                ("facts", models.JSONField()),
                ("about", models.CharField(blank=True, max_length=80)),
            ],
            options={
                "db_table": "audit_facts",
                "indexes": [models.Index(fields=["about"], name="audit_facts_about")],
            },
        ),
        migrations.CreateModel(
            name="LogQueue",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="queued",
                        serialize=False,
                        to="consent.auditentry",
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "consent_log_queue",
            },
        ),
    ]
