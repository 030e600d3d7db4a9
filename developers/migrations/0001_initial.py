import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import developers.apps.models
import developers.tokens.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Logo",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("png", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "app_logos",
            },
        ),
        migrations.CreateModel(
            name="DeveloperApplication",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("proved_domain", models.CharField(blank=True, max_length=253, verbose_name="proved domain")),
                ("domain_proved_at", models.DateTimeField(blank=True, null=True, verbose_name="domain proved")),
                (
                    "domain_challenge",
                    models.CharField(default=developers.apps.models.new_challenge, editable=False, max_length=64),
                ),
                ("domain_checked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("domain_missing_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("legal_name", models.CharField(max_length=160, verbose_name="legal name")),
                ("website", models.URLField(verbose_name="website")),
                ("privacy_policy", models.URLField(verbose_name="privacy policy")),
                ("contact_email", models.EmailField(max_length=254, verbose_name="contact")),
                ("logo_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("use_case", models.TextField(blank=True, max_length=2000, verbose_name="use case")),
                ("needed_scopes", models.JSONField(blank=True, default=list, verbose_name="needed scopes")),
                ("scope_reasons", models.JSONField(blank=True, default=dict, verbose_name="why each")),
                ("jurisdiction", models.CharField(blank=True, max_length=80, verbose_name="jurisdiction")),
                ("recipients", models.TextField(blank=True, max_length=2000, verbose_name="who receives the data")),
                (
                    "storage_place",
                    models.CharField(blank=True, max_length=160, verbose_name="where the data is stored"),
                ),
                ("retention", models.CharField(blank=True, max_length=160, verbose_name="how long it is kept")),
                ("origins", models.JSONField(blank=True, default=list, verbose_name="browser origins")),
                ("return_addresses", models.JSONField(blank=True, default=list, verbose_name="return addresses")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("submitted", "Submitted"),
                            ("approved", "Approved"),
                            ("sent_back", "Sent back"),
                            ("rejected", "Rejected"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="submitted",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("reviewed_at", models.DateTimeField(blank=True, null=True)),
                ("note", models.TextField(blank=True, max_length=2000, verbose_name="note")),
                ("staff_told_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("applicant_told_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "applicant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="developer_applications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reviewed_applications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "application",
                "verbose_name_plural": "applications",
                "db_table": "developer_applications",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["submitted", "approved", "sent_back", "rejected", "withdrawn"])
                        ),
                        name="application_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("reviewed_at__isnull", True), ("reviewer__isnull", True)),
                            models.Q(("reviewed_at__isnull", False), ("reviewer__isnull", False)),
                            _connector="OR",
                        ),
                        name="application_review_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["approved", "rejected", "sent_back"]), _negated=True),
                            ("reviewer__isnull", False),
                            _connector="OR",
                        ),
                        name="application_decision_has_reviewer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("domain_proved_at__isnull", True), ("proved_domain", "")),
                            models.Q(
                                models.Q(("proved_domain", ""), _negated=True), ("domain_proved_at__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="application_domain_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("domain_missing_since__isnull", True),
                            models.Q(("proved_domain", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="application_domain_missing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="App",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("proved_domain", models.CharField(blank=True, max_length=253, verbose_name="proved domain")),
                ("domain_proved_at", models.DateTimeField(blank=True, null=True, verbose_name="domain proved")),
                (
                    "domain_challenge",
                    models.CharField(default=developers.apps.models.new_challenge, editable=False, max_length=64),
                ),
                ("domain_checked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("domain_missing_since", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "app_id",
                    models.CharField(
                        default=developers.apps.models.new_app_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="app ID",
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("test", "Test"), ("live", "Live")], default="live", max_length=8, verbose_name="mode"
                    ),
                ),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "Active"), ("suspended", "Suspended"), ("closed", "Closed")],
                        default="active",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("verified", models.BooleanField(default=False, verbose_name="verified")),
                ("logo_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("lost_domain", models.CharField(blank=True, editable=False, max_length=253)),
                ("origins", models.JSONField(blank=True, default=list, verbose_name="browser origins")),
                ("return_addresses", models.JSONField(blank=True, default=list, verbose_name="return addresses")),
                (
                    "request_budget",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty takes the deployment's default; 0 is no limit.",
                        null=True,
                        verbose_name="new requests an hour",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "application",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="app",
                        to="developers.developerapplication",
                        verbose_name="application",
                    ),
                ),
            ],
            options={
                "verbose_name": "app",
                "verbose_name_plural": "apps",
                "db_table": "developer_apps",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["active", "suspended", "closed"])), name="app_status"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("application__isnull", False), ("mode", "live")),
                            models.Q(("application__isnull", True), ("mode", "test"), ("verified", False)),
                            _connector="OR",
                        ),
                        name="app_mode_application",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("domain_proved_at__isnull", True), ("proved_domain", "")),
                            models.Q(
                                models.Q(("proved_domain", ""), _negated=True), ("domain_proved_at__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="app_domain_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("domain_missing_since__isnull", True),
                            models.Q(("proved_domain", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="app_domain_missing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeveloperToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prefix", models.CharField(max_length=8, unique=True, verbose_name="prefix")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("label", models.CharField(max_length=80, verbose_name="label")),
                (
                    "permissions",
                    models.JSONField(default=developers.tokens.models.default_permissions, verbose_name="permissions"),
                ),
                ("header_only", models.BooleanField(default=False, verbose_name="header only")),
                (
                    "expires_at",
                    models.DateTimeField(default=developers.tokens.models.default_expiry, verbose_name="expires"),
                ),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                ("last_used_at", models.DateTimeField(blank=True, null=True, verbose_name="last used")),
                ("reminded_days", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("leaked_at", models.DateTimeField(blank=True, null=True, verbose_name="reported as leaked")),
                ("leak_told_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="developers.app",
                        verbose_name="app",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="created_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "developer token",
                "verbose_name_plural": "developer tokens",
                "db_table": "developer_tokens",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("leaked_at__isnull", True), ("revoked_at__isnull", False), _connector="OR"),
                        name="developer_token_leak_ends",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("leak_told_at__isnull", True), ("leaked_at__isnull", False), _connector="OR"
                        ),
                        name="developer_token_leak_told",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("operation", models.CharField(max_length=32)),
                ("key", models.CharField(max_length=128)),
                ("body_digest", models.CharField(max_length=64)),
                ("answer", models.JSONField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="idempotency_keys",
                        to="developers.app",
                    ),
                ),
            ],
            options={
                "db_table": "idempotency_keys",
                "constraints": [
                    models.UniqueConstraint(fields=("app", "operation", "key"), name="idempotency_key_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="LoggedRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(verbose_name="at")),
                ("method", models.CharField(max_length=8, verbose_name="method")),
                ("route", models.CharField(max_length=120, verbose_name="path")),
                ("status", models.PositiveSmallIntegerField(verbose_name="status")),
                ("code", models.CharField(blank=True, max_length=48, verbose_name="code")),
                ("trace_id", models.CharField(max_length=64, verbose_name="request ID")),
                ("ms", models.PositiveIntegerField(verbose_name="milliseconds")),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="logged_requests",
                        to="developers.app",
                    ),
                ),
            ],
            options={
                "verbose_name": "logged request",
                "verbose_name_plural": "request log",
                "db_table": "request_log",
                "indexes": [
                    models.Index(fields=["app", "-id"], name="request_log_newest"),
                    models.Index(fields=["at"], name="request_log_age"),
                    models.Index(fields=["app", "at", "status", "code", "ms"], name="request_log_figures"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ManagementToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prefix", models.CharField(max_length=8, unique=True, verbose_name="prefix")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("label", models.CharField(max_length=80, verbose_name="label")),
                ("permissions", models.JSONField(default=dict, verbose_name="permissions")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                ("last_used_at", models.DateTimeField(blank=True, null=True, verbose_name="last used")),
                ("leaked_at", models.DateTimeField(blank=True, null=True, verbose_name="reported as leaked")),
                ("leak_told_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="management_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "management token",
                "verbose_name_plural": "management tokens",
                "db_table": "management_tokens",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("leaked_at__isnull", True), ("revoked_at__isnull", False), _connector="OR"),
                        name="management_token_leak_ends",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("leak_told_at__isnull", True), ("leaked_at__isnull", False), _connector="OR"
                        ),
                        name="management_token_leak_told",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.URLField(max_length=500, verbose_name="address")),
                ("secret", models.TextField()),
                ("previous_secret", models.TextField(blank=True)),
                ("previous_until", models.DateTimeField(blank=True, null=True, verbose_name="old secret signs until")),
                ("types", models.JSONField(blank=True, default=list, verbose_name="types")),
                ("disabled_at", models.DateTimeField(blank=True, null=True, verbose_name="disabled")),
                ("reason", models.CharField(blank=True, max_length=160, verbose_name="why disabled")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhook_endpoints",
                        to="developers.app",
                        verbose_name="app",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook endpoint",
                "verbose_name_plural": "webhook endpoints",
                "db_table": "webhook_endpoints",
                "constraints": [
                    models.UniqueConstraint(fields=("app", "url"), name="webhook_endpoint_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("disabled_at__isnull", True), ("reason", "")),
                            models.Q(("disabled_at__isnull", False), models.Q(("reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="webhook_endpoint_disabled_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("previous_secret", ""), ("previous_until__isnull", True)),
                            models.Q(
                                models.Q(("previous_secret", ""), _negated=True), ("previous_until__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="webhook_endpoint_previous_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AppAuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(max_length=40, verbose_name="action")),
                ("facts", models.JSONField(blank=True, default=dict, verbose_name="facts")),
                ("at", models.DateTimeField(verbose_name="at")),
                ("told_at", models.DateTimeField(blank=True, null=True, verbose_name="members told")),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="audit_entries",
                        to="developers.app",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="app_audit_entries",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "audit entry of an app",
                "verbose_name_plural": "audit of apps",
                "db_table": "app_audit",
                "indexes": [
                    models.Index(fields=["app", "-id"], name="app_audit_newest"),
                    models.Index(
                        condition=models.Q(
                            ("action__in", ("app.suspended", "app.restored")), ("told_at__isnull", True)
                        ),
                        fields=["id"],
                        name="app_audit_to_tell",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AppInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254, verbose_name="e-mail address")),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("member", "Member")], default="member", max_length=16
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                ("accepted_at", models.DateTimeField(blank=True, null=True, verbose_name="accepted")),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True, verbose_name="withdrawn")),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="accepted_app_invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="developers.app"
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="app_invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation to an app",
                "verbose_name_plural": "invitations to apps",
                "db_table": "app_invitations",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("accepted_at__isnull", True), ("withdrawn_at__isnull", True)),
                        fields=("app", "email"),
                        name="app_invitation_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "member"])), name="app_invitation_role"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_by__isnull", True), ("accepted_at__isnull", False), _connector="OR"
                        ),
                        name="app_invitation_accepted_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_at__isnull", True), ("withdrawn_at__isnull", True), _connector="OR"
                        ),
                        name="app_invitation_ends_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AppMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("member", "Member")], default="member", max_length=16
                    ),
                ),
                (
                    "agreed_to_tests_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="agreed to be asked by the test app"),
                ),
                ("shows_email", models.BooleanField(default=True)),
                ("mail_due", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="app_memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "app_members",
                "constraints": [
                    models.UniqueConstraint(fields=("app", "user"), name="app_member_once"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "member"])), name="app_member_role"
                    ),
                ],
            },
        ),
    ]
