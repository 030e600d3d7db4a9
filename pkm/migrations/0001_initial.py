import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Domain",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain_key", models.SlugField(max_length=64, unique=True, verbose_name="key")),
                ("display_name", models.CharField(max_length=80, verbose_name="name")),
                ("description", models.CharField(blank=True, max_length=240, verbose_name="description")),
                ("icon", models.SlugField(blank=True, max_length=40, verbose_name="icon")),
                ("position", models.PositiveSmallIntegerField(default=0, verbose_name="position")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "domain",
                "verbose_name_plural": "domains",
                "db_table": "domain_registry",
                "ordering": ["position", "domain_key"],
            },
        ),
        migrations.CreateModel(
            name="RegistryVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.CharField(max_length=64)),
                ("in_manifests", models.CharField(blank=True, db_default="", max_length=64)),
            ],
            options={
                "db_table": "pkm_registry_version",
            },
        ),
        migrations.CreateModel(
            name="StarterRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=210, unique=True)),
                ("written", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "db_table": "pkm_starter_records",
            },
        ),
        migrations.CreateModel(
            name="Index",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("available_domains", models.JSONField(default=list)),
                ("domain_freshness", models.JSONField(default=dict)),
                ("summary_projection", models.JSONField(default=dict)),
                ("capability_flags", models.JSONField(default=dict)),
                ("total_attributes", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pkm_index",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "pkm_index",
            },
        ),
        migrations.CreateModel(
            name="Manifest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.CharField(max_length=64)),
                ("manifest_revision", models.PositiveIntegerField()),
                ("segment_ids", models.JSONField(default=list)),
                ("path_count", models.PositiveIntegerField(default=0)),
                ("is_current", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="manifests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "pkm_manifests",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "domain", "manifest_revision"), name="manifest_revision_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)), fields=("user", "domain"), name="manifest_one_current"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ManifestPath",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=200)),
                ("segment_id", models.CharField(max_length=64)),
                ("scope_handle", models.CharField(max_length=16)),
                ("sensitivity_tier", models.CharField(max_length=16)),
                ("exposure_eligible", models.BooleanField()),
                (
                    "manifest",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="paths",
                        to="pkm.manifest",
                    ),
                ),
            ],
            options={
                "db_table": "pkm_manifest_paths",
                "constraints": [models.UniqueConstraint(fields=("manifest", "path"), name="manifest_path_once")],
            },
        ),
        migrations.CreateModel(
            name="MigrationState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=80, verbose_name="source")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting_for_unlock", "Waits for the person"),
                            ("running", "Running"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                        ],
                        max_length=24,
                        verbose_name="status",
                    ),
                ),
                ("checkpoint", models.JSONField(default=dict, verbose_name="checkpoint")),
                ("counts", models.JSONField(default=dict, verbose_name="counts")),
                ("last_error", models.CharField(blank=True, max_length=200, verbose_name="last error")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="migration_states",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "migration of old data",
                "verbose_name_plural": "migrations of old data",
                "db_table": "pkm_migration_state",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "source"), name="migration_source_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("user__isnull", True)), fields=("source",), name="migration_file_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["waiting_for_unlock", "running", "completed", "failed"])),
                        name="migration_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "waiting_for_unlock"), _negated=True),
                            ("user__isnull", False),
                            _connector="OR",
                        ),
                        name="migration_waits_for_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "failed"), ("last_error", ""), _connector="XOR"),
                        name="migration_failed_with_error",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScopeEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=210, unique=True, verbose_name="scope")),
                ("scope_handle", models.CharField(editable=False, max_length=16, unique=True, verbose_name="handle")),
                ("scope_label", models.CharField(max_length=80, verbose_name="label")),
                ("description", models.CharField(blank=True, max_length=240, verbose_name="description")),
                ("segment_ids", models.JSONField(default=list, verbose_name="segments")),
                ("attributes", models.JSONField(default=list, verbose_name="attributes")),
                (
                    "sensitivity_tier",
                    models.CharField(
                        choices=[
                            ("standard", "Standard"),
                            ("confidential", "Confidential"),
                            ("restricted", "Restricted"),
                        ],
                        default="standard",
                        max_length=16,
                        verbose_name="sensitivity",
                    ),
                ),
                ("exposure_enabled", models.BooleanField(default=True, verbose_name="can be asked for")),
                (
                    "max_access_duration",
                    models.PositiveIntegerField(default=31536000, verbose_name="longest access in seconds"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "domain",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scope_entries",
                        to="pkm.domain",
                        verbose_name="domain",
                    ),
                ),
            ],
            options={
                "verbose_name": "scope",
                "verbose_name_plural": "scope registry",
                "db_table": "pkm_scope_registry",
                "ordering": ["scope"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("sensitivity_tier__in", ["standard", "confidential", "restricted"])),
                        name="scope_tier",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_access_duration__gte", 300), ("max_access_duration__lte", 31536000)),
                        name="scope_duration",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("domain__isnull", False), ("scope", "pkm.read"), _connector="XOR"),
                        name="scope_domain",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VaultKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key_id", models.CharField(max_length=132, unique=True)),
                ("primary_wrapper_id", models.CharField(blank=True, max_length=64)),
                (
                    "vault_status",
                    models.CharField(
                        choices=[
                            ("absent", "Absent"),
                            ("active", "Active"),
                            ("locked_out", "Locked out"),
                            ("rotating", "Rotating"),
                        ],
                        default="absent",
                        max_length=16,
                    ),
                ),
                ("first_login_at", models.DateTimeField(null=True)),
                ("last_login_at", models.DateTimeField(null=True)),
                ("pre_onboarding_completed", models.BooleanField(default=False)),
                ("rotation_key_id", models.CharField(blank=True, db_default="", default="", max_length=132)),
                ("rotation_started_at", models.DateTimeField(null=True)),
                ("possession_sha256", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("rotation_possession_sha256", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("signing_public_key", models.JSONField(null=True)),
                ("signing_jwe", models.TextField(blank=True, db_default="", default="")),
                ("signing_rotations", models.PositiveIntegerField(db_default=0, default=0)),
                ("rotation_signing_jwe", models.TextField(blank=True, db_default="", default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vault_key",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "vault_keys",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("vault_status__in", ["absent", "active", "locked_out", "rotating"])),
                        name="vault_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("vault_status__in", ("active", "rotating")), _negated=True),
                            models.Q(("primary_wrapper_id", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="vault_active_needs_wrapper",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("rotation_key_id__gt", ""),
                                ("rotation_started_at__isnull", False),
                                ("vault_status", "rotating"),
                            ),
                            models.Q(
                                models.Q(("vault_status", "rotating"), _negated=True),
                                ("rotation_key_id", ""),
                                ("rotation_started_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="vault_rotation_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("signing_jwe", ""), ("signing_public_key__isnull", True), ("signing_rotations", 0)
                            ),
                            models.Q(
                                ("signing_public_key__isnull", False), models.Q(("signing_jwe", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="vault_signing_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("rotation_signing_jwe", ""),
                            models.Q(("signing_public_key__isnull", False), ("vault_status", "rotating")),
                            _connector="OR",
                        ),
                        name="vault_rotation_signing_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rotation_key_id", models.F("key_id")), _negated=True),
                        name="vault_rotation_to_another_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("vault_status", "rotating"), ("rotation_possession_sha256", ""), _connector="OR"
                        ),
                        name="vault_rotation_possession",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("rotation_key_id", ""), _negated=True),
                        fields=("rotation_key_id",),
                        name="vault_rotation_key_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("first_login_at__isnull", True), ("last_login_at__isnull", True)),
                            models.Q(("first_login_at__isnull", False), ("last_login_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="vault_logins_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RotationWrapper",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("wrapper_id", models.CharField(max_length=64, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("passphrase", "Passphrase"), ("recovery", "Recovery code"), ("passkey", "Passkey")],
                        max_length=16,
                    ),
                ),
                ("label", models.CharField(max_length=80)),
                ("jwe", models.TextField()),
                ("credential_id", models.CharField(blank=True, max_length=1400)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "vault",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rotation_wrappers", to="pkm.vaultkey"
                    ),
                ),
            ],
            options={
                "db_table": "vault_rotation_wrappers",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["passphrase", "recovery", "passkey"])),
                        name="rotation_wrapper_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind", "passkey"), ("credential_id", ""), _connector="XOR"),
                        name="rotation_wrapper_credential_is_passkeys",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VaultNotes",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("jwe", models.TextField()),
                ("resealed", models.TextField(blank=True, db_default="", default="")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vault_notes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "vault_notes",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="vault_notes_revision_from_one"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="VaultReset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("mailed_at", models.DateTimeField(null=True)),
                (
                    "vault",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reset", to="pkm.vaultkey"
                    ),
                ),
            ],
            options={
                "db_table": "vault_resets",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("due_at__gt", models.F("asked_at"))), name="vault_reset_waits"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Blob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.CharField(max_length=64)),
                ("segment_id", models.CharField(max_length=64)),
                ("ciphertext", models.TextField(null=True)),
                ("content_revision", models.PositiveIntegerField()),
                ("manifest_revision", models.PositiveIntegerField()),
                ("size_bytes", models.PositiveIntegerField()),
                ("is_current", models.BooleanField(default=True)),
                ("resealed", models.TextField(null=True)),
                ("resealed_sha256", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blobs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "pkm_blobs",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "domain", "segment_id", "content_revision"), name="blob_revision_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("user", "domain", "segment_id"),
                        name="blob_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("content_revision__gte", 1)), name="blob_revision_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ciphertext__isnull", True), ("size_bytes", 0)),
                            models.Q(("ciphertext__isnull", False), ("size_bytes__gt", 0)),
                            _connector="OR",
                        ),
                        name="blob_size_with_ciphertext",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resealed__isnull", True), ("resealed_sha256", "")),
                            models.Q(
                                ("ciphertext__isnull", False),
                                ("is_current", True),
                                ("resealed__isnull", False),
                                ("resealed_sha256__gt", ""),
                            ),
                            _connector="OR",
                        ),
                        name="blob_resealed_is_current",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sequence", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("vault_created", "Vault Created"),
                            ("wrapper_added", "Wrapper Added"),
                            ("wrapper_removed", "Wrapper Removed"),
                            ("wrapper_restored", "Wrapper Restored"),
                            ("segment_written", "Segment Written"),
                            ("segment_deleted", "Segment Deleted"),
                            ("manifest_changed", "Manifest Changed"),
                            ("scope_hidden", "Scope Hidden"),
                            ("scope_shown", "Scope Shown"),
                            ("migration_step", "Migration Step"),
                        ],
                        max_length=24,
                    ),
                ),
                ("facts", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pkm_events",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "pkm_events",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "sequence"), name="pkm_event_sequence"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "vault_created",
                                    "wrapper_added",
                                    "wrapper_removed",
                                    "wrapper_restored",
                                    "segment_written",
                                    "segment_deleted",
                                    "manifest_changed",
                                    "scope_hidden",
                                    "scope_shown",
                                    "migration_step",
                                ],
                            )
                        ),
                        name="pkm_event_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HiddenScope",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=210)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hidden_scopes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "hidden_scopes",
                "constraints": [models.UniqueConstraint(fields=("user", "scope"), name="hidden_scope_once")],
            },
        ),
        migrations.CreateModel(
            name="KeyWrapper",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("wrapper_id", models.CharField(max_length=64, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("passphrase", "Passphrase"), ("recovery", "Recovery code"), ("passkey", "Passkey")],
                        max_length=16,
                    ),
                ),
                ("label", models.CharField(max_length=80)),
                ("jwe", models.TextField()),
                ("credential_id", models.CharField(blank=True, max_length=1400)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("unlocked_at", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="key_wrappers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "vault_key_wrappers",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["passphrase", "recovery", "passkey"])), name="wrapper_kind"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind", "passkey"), ("credential_id", ""), _connector="XOR"),
                        name="wrapper_credential_is_passkeys",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("unlocked_at__isnull", True), ("kind", "recovery"), _connector="OR"),
                        name="wrapper_unlocked_is_recovery",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LegacyBlob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.CharField(max_length=64, verbose_name="domain")),
                ("jwe", models.TextField()),
                ("updated_at", models.DateTimeField(verbose_name="changed at")),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="legacy_blobs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "old sealed record",
                "verbose_name_plural": "old sealed records",
                "db_table": "legacy_encrypted_blobs",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "domain"), name="legacy_blob_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("jwe", ""), _negated=True), models.Q(("domain", ""), _negated=True)
                        ),
                        name="legacy_blob_filled",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LegacyMetadata",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.CharField(max_length=64, verbose_name="domain")),
                ("summary", models.JSONField(default=dict, verbose_name="summary")),
                ("updated_at", models.DateTimeField(verbose_name="changed at")),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="legacy_metadata",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "old index entry",
                "verbose_name_plural": "old index entries",
                "db_table": "legacy_metadata_index",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "domain"), name="legacy_metadata_once"),
                    models.CheckConstraint(
                        condition=models.Q(("domain", ""), _negated=True), name="legacy_metadata_filled"
                    ),
                ],
            },
        ),
    ]
