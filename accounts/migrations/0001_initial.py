import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import accounts.identifiers


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=accounts.identifiers.new_user_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="sharing ID",
                    ),
                ),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail address")),
                ("display_name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                (
                    "language",
                    models.CharField(blank=True, db_default="", default="", max_length=8, verbose_name="language"),
                ),
                (
                    "photo_digest",
                    models.CharField(blank=True, db_default="", default="", editable=False, max_length=64),
                ),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("is_staff", models.BooleanField(default=False, verbose_name="staff")),
                ("leaves_at", models.DateTimeField(editable=False, null=True)),
                ("erased_at", models.DateTimeField(editable=False, null=True, verbose_name="erased")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "db_table": "users",
                "indexes": [
                    models.Index(condition=models.Q(("is_staff", True)), fields=["id"], name="users_staff"),
                    models.Index(condition=models.Q(("is_active", False)), fields=["id"], name="users_inactive"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"), name="users_email_caseless"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("erased_at__isnull", True),
                            models.Q(
                                ("display_name", ""),
                                ("is_active", False),
                                ("is_staff", False),
                                ("is_superuser", False),
                                ("language", ""),
                                ("photo_digest", ""),
                            ),
                            _connector="OR",
                        ),
                        name="users_erased_is_anonymous",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ActorProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("personas", models.JSONField(default=list)),
                (
                    "last_active_persona",
                    models.CharField(
                        choices=[("person", "Person"), ("developer", "Developer"), ("staff", "Staff")],
                        default="person",
                        max_length=16,
                    ),
                ),
                ("discoverable", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="actor_profile",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "actor_profiles",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("last_active_persona__in", ["person", "developer", "staff"])),
                        name="actor_persona",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked_by", models.CharField(choices=[("person", "Person"), ("operator", "Operator")], max_length=16)),
                ("asked_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("undo_digest", models.CharField(blank=True, max_length=64)),
                ("mailed_at", models.DateTimeField(null=True)),
                ("farewell", models.TextField(blank=True, db_default="", default="", editable=False)),
                ("cancelled_at", models.DateTimeField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="erasures",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "erasures",
                "indexes": [
                    models.Index(
                        condition=models.Q(("cancelled_at__isnull", True), ("done_at__isnull", True)),
                        fields=["due_at"],
                        name="erasures_waiting",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("asked_by__in", ["person", "operator"])), name="erasures_asked_by"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("due_at__gte", models.F("asked_at"))), name="erasures_due_after_asked"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("cancelled_at__isnull", True), ("done_at__isnull", True), _connector="OR"),
                        name="erasures_one_end",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("cancelled_at__isnull", True), ("done_at__isnull", True)),
                        fields=("user",),
                        name="erasures_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MarketplacePublicProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("handle", models.CharField(max_length=32, null=True, unique=True)),
                ("display_name", models.CharField(blank=True, max_length=100)),
                ("headline", models.CharField(blank=True, max_length=160)),
                ("location_hint", models.CharField(blank=True, max_length=100)),
                (
                    "search_name",
                    models.CharField(blank=True, db_index=True, default="", editable=False, max_length=300),
                ),
                ("is_discoverable", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="public_profile",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "marketplace_public_profiles",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("is_discoverable", False), ("handle__isnull", False), _connector="OR"),
                        name="shown_under_a_handle",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleasedHandle",
            fields=[
                ("handle", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("released_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="released_handles",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "released_handles",
            },
        ),
        migrations.CreateModel(
            name="RuntimePersonaState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "last_active_persona",
                    models.CharField(
                        choices=[("person", "Person"), ("developer", "Developer"), ("staff", "Staff")],
                        default="person",
                        max_length=16,
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="persona_state",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "runtime_persona_state",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("last_active_persona__in", ["person", "developer", "staff"])),
                        name="persona_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SecurityChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("password_changed", "Password Changed"),
                            ("password_set", "Password Set"),
                            ("password_reset", "Password Reset"),
                            ("email_changed", "Email Changed"),
                            ("email_deleted", "Email Deleted"),
                            ("totp_activated", "Totp Activated"),
                            ("totp_deactivated", "Totp Deactivated"),
                            ("recovery_codes_generated", "Recovery Codes Generated"),
                            ("webauthn_added", "Webauthn Added"),
                            ("webauthn_removed", "Webauthn Removed"),
                            ("wrapper_added", "Wrapper Added"),
                            ("wrapper_removed", "Wrapper Removed"),
                            ("wrapper_restored", "Wrapper Restored"),
                            ("key_change_begun", "Key Change Begun"),
                            ("key_change_finished", "Key Change Finished"),
                            ("key_change_given_up", "Key Change Given Up"),
                            ("signing_key_set", "Signing Key Set"),
                            ("signing_key_replaced", "Signing Key Replaced"),
                        ],
                        max_length=32,
                    ),
                ),
                ("address", models.EmailField(max_length=254)),
                ("detail", models.CharField(blank=True, max_length=254)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="security_changes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "security_changes",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "password_changed",
                                    "password_set",
                                    "password_reset",
                                    "email_changed",
                                    "email_deleted",
                                    "totp_activated",
                                    "totp_deactivated",
                                    "recovery_codes_generated",
                                    "webauthn_added",
                                    "webauthn_removed",
                                    "wrapper_added",
                                    "wrapper_removed",
                                    "wrapper_restored",
                                    "key_change_begun",
                                    "key_change_finished",
                                    "key_change_given_up",
                                    "signing_key_set",
                                    "signing_key_replaced",
                                ],
                            )
                        ),
                        name="security_change_kind",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("digest", models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                ("data", models.TextField(editable=False)),
                ("expires_at", models.DateTimeField(db_index=True, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "sessions",
            },
        ),
        migrations.CreateModel(
            name="UserPhoto",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("webp", models.TextField()),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="photo", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "db_table": "user_photos",
            },
        ),
    ]
