import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import agents_proxy.activations.models
import agents_proxy.analyses.models
import agents_proxy.destinations.models
import agents_proxy.financial.models
import agents_proxy.messaging.models
import agents_proxy.processing_consent.models
import agents_proxy.states


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "__first__"),
        ("developers", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Destination",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "destination_id",
                    models.CharField(
                        default=agents_proxy.destinations.models.new_destination_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="destination ID",
                    ),
                ),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("url", models.URLField(max_length=500, verbose_name="address")),
                ("secret", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="made")),
                ("disabled_at", models.DateTimeField(blank=True, null=True, verbose_name="disabled")),
                ("removed_at", models.DateTimeField(blank=True, null=True, verbose_name="removed")),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="activation_destinations",
                        to="developers.app",
                        verbose_name="app",
                    ),
                ),
            ],
            options={
                "verbose_name": "destination",
                "verbose_name_plural": "destinations",
                "db_table": "activation_destinations",
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("removed_at__isnull", True), ("disabled_at__isnull", False), _connector="OR"
                        ),
                        name="destination_removed_is_disabled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("removed_at__isnull", True), models.Q(("secret", ""), _negated=True)),
                            models.Q(("removed_at__isnull", False), ("secret", "")),
                            _connector="OR",
                        ),
                        name="destination_secret_until_removed",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("removed_at__isnull", True)), fields=("app", "url"), name="destination_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MessageTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, verbose_name="name")),
                ("language", models.CharField(max_length=16, verbose_name="language")),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("text", models.TextField(max_length=2000, verbose_name="text")),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
                ("active", models.BooleanField(default=False, verbose_name="active")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approved_message_templates",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proposed_message_templates",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "message template",
                "verbose_name_plural": "message templates",
                "db_table": "message_templates",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("name", "language", "version"), name="message_template_version_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("active", True)),
                        fields=("name", "language"),
                        name="message_template_one_active",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approved_at__isnull", True), ("approved_by__isnull", True)),
                            models.Q(("approved_at__isnull", False), ("approved_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="message_template_approval_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("active", False), ("approved_by__isnull", False), _connector="OR"),
                        name="message_template_active_approved",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by__isnull", True),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="message_template_four_eyes",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PhoneNumber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("code_digest", models.CharField(blank=True, max_length=64)),
                ("code_expires_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("verified_at", models.DateTimeField(null=True, verbose_name="verified")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="phone_numbers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "phone number",
                "verbose_name_plural": "phone numbers",
                "db_table": "phone_numbers",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "digest"), name="phone_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("verified_at__isnull", False)),
                        fields=("digest",),
                        name="phone_number_verified_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("code_digest", ""), ("code_expires_at__isnull", True)),
                            models.Q(models.Q(("code_digest", ""), _negated=True), ("code_expires_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="phone_number_code_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProcessingConsent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "consent_id",
                    models.CharField(
                        default=agents_proxy.processing_consent.models.new_consent_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="consent ID",
                    ),
                ),
                (
                    "reach",
                    models.CharField(
                        choices=[("own", "own"), ("site", "site"), ("run", "run")],
                        default=agents_proxy.states.Reach["OWN"],
                        max_length=8,
                        verbose_name="covers",
                    ),
                ),
                ("purposes", models.JSONField(verbose_name="purposes")),
                ("destinations", models.JSONField(blank=True, default=list, verbose_name="destinations")),
                ("statement_version", models.CharField(max_length=32, verbose_name="version of the wording")),
                ("statement", models.TextField(verbose_name="wording")),
                ("origin", models.CharField(max_length=255, verbose_name="origin")),
                ("token_digest", models.CharField(max_length=64, null=True, unique=True)),
                ("given_at", models.DateTimeField(verbose_name="given")),
                ("expires_at", models.DateTimeField(verbose_name="until")),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True, verbose_name="withdrawn")),
                (
                    "app",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="processing_consents",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="processing_consents",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "consent to processing",
                "verbose_name_plural": "consents to processing",
                "db_table": "processing_consents",
                "ordering": ["-given_at", "-id"],
                "indexes": [models.Index(fields=["user", "-given_at"], name="processing_of_user")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reach__in", ["own", "site", "run"])), name="processing_reach"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("app__isnull", False), ("reach", "site"), ("token_digest__isnull", False)),
                            models.Q(
                                models.Q(("reach", "site"), _negated=True),
                                ("app__isnull", True),
                                ("token_digest__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="processing_site_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("given_at"))), name="processing_expires_later"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("purposes__icontains", '"activation"'), models.Q(("destinations", []), _negated=True)
                            ),
                            models.Q(
                                models.Q(("purposes__icontains", '"activation"'), _negated=True), ("destinations", [])
                            ),
                            _connector="OR",
                        ),
                        name="processing_destinations_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "item_id",
                    models.CharField(
                        default=agents_proxy.financial.models.new_item_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="item ID",
                    ),
                ),
                ("upstream_id", models.CharField(max_length=128, unique=True)),
                ("institution", models.CharField(blank=True, max_length=160, verbose_name="institution")),
                ("access_token", models.TextField(null=True)),
                ("cursor", models.TextField(blank=True)),
                ("signals", models.TextField(null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "active"), ("login_required", "login_required"), ("removed", "removed")],
                        default=agents_proxy.states.ItemStatus["ACTIVE"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="linked")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aggregator_items",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "consent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="aggregator_items",
                        to="agents_proxy.processingconsent",
                    ),
                ),
            ],
            options={
                "verbose_name": "linked institution",
                "verbose_name_plural": "linked institutions",
                "db_table": "aggregator_items",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["active", "login_required", "removed"])),
                        name="aggregator_item_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("access_token__isnull", True), ("signals__isnull", True), ("status", "removed")),
                            models.Q(models.Q(("status", "removed"), _negated=True), ("access_token__isnull", False)),
                            _connector="OR",
                        ),
                        name="aggregator_item_token_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboundMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "message_id",
                    models.CharField(
                        default=agents_proxy.messaging.models.new_message_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="message ID",
                    ),
                ),
                ("task_id", models.CharField(max_length=72, verbose_name="task")),
                ("recipient_digest", models.CharField(max_length=64)),
                ("body_digest", models.CharField(max_length=64)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("sending", "sending"),
                            ("sent", "sent"),
                            ("delivered", "delivered"),
                            ("failed", "failed"),
                            ("unknown", "unknown"),
                        ],
                        default=agents_proxy.states.MessageStatus["SENDING"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("upstream_id", models.CharField(blank=True, max_length=128, verbose_name="upstream ID")),
                ("error_code", models.CharField(blank=True, max_length=48)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="asked")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "template",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="agents_proxy.messagetemplate",
                    ),
                ),
                (
                    "consent",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="agents_proxy.processingconsent",
                    ),
                ),
            ],
            options={
                "verbose_name": "outbound message",
                "verbose_name_plural": "outbound messages",
                "db_table": "outbound_messages",
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("consent", "task_id"), name="outbound_message_once"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["sending", "sent", "delivered", "failed", "unknown"])),
                        name="outbound_message_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), models.Q(("error_code", ""), _negated=True)),
                            models.Q(models.Q(("status", "failed"), _negated=True), ("error_code", "")),
                            _connector="OR",
                        ),
                        name="outbound_message_error_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LinkSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "link_id",
                    models.CharField(
                        default=agents_proxy.financial.models.new_link_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="link ID",
                    ),
                ),
                ("state_digest", models.CharField(max_length=64, unique=True)),
                ("link_token", models.TextField(null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("completed", "completed"),
                            ("exited", "exited"),
                            ("expired", "expired"),
                        ],
                        default=agents_proxy.states.LinkStatus["OPEN"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("expires_at", models.DateTimeField(verbose_name="until")),
                ("finished_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "item",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="link_session",
                        to="agents_proxy.item",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aggregator_link_sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "consent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="aggregator_link_sessions",
                        to="agents_proxy.processingconsent",
                    ),
                ),
            ],
            options={
                "db_table": "aggregator_link_sessions",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["open", "completed", "exited", "expired"])),
                        name="aggregator_link_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("link_token__isnull", False), ("status", "open")),
                            models.Q(
                                models.Q(("status", "open"), _negated=True),
                                ("finished_at__isnull", False),
                                ("link_token__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="aggregator_link_finish_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("item__isnull", False), ("status", "completed")),
                            models.Q(models.Q(("status", "completed"), _negated=True), ("item__isnull", True)),
                            _connector="OR",
                        ),
                        name="aggregator_link_item_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("agent", models.CharField(max_length=32, verbose_name="agent")),
                ("session_id", models.CharField(max_length=32, verbose_name="session")),
                ("task_id", models.CharField(max_length=72, verbose_name="task")),
                ("started_at", models.DateTimeField(verbose_name="started")),
                ("duration_ms", models.PositiveIntegerField(verbose_name="milliseconds")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("answered", "answered"),
                            ("agent_error", "agent_error"),
                            ("invalid_agent_response", "invalid_agent_response"),
                            ("upstream_unavailable", "upstream_unavailable"),
                            ("upstream_timeout", "upstream_timeout"),
                        ],
                        max_length=32,
                        verbose_name="outcome",
                    ),
                ),
                ("bytes", models.PositiveIntegerField(verbose_name="bytes")),
                (
                    "consent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="calls",
                        to="agents_proxy.processingconsent",
                    ),
                ),
            ],
            options={
                "verbose_name": "agent call",
                "verbose_name_plural": "agent calls",
                "db_table": "agent_calls",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["started_at"], name="agent_call_started"),
                    models.Index(fields=["agent", "started_at", "outcome", "duration_ms"], name="agent_call_of_agent"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                [
                                    "answered",
                                    "agent_error",
                                    "invalid_agent_response",
                                    "upstream_unavailable",
                                    "upstream_timeout",
                                ],
                            )
                        ),
                        name="agent_call_outcome",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RefreshRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                        ],
                        default=agents_proxy.states.RefreshStatus["QUEUED"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("pages", models.PositiveIntegerField(default=0)),
                ("added", models.PositiveIntegerField(default=0)),
                ("modified", models.PositiveIntegerField(default=0)),
                ("removed", models.PositiveIntegerField(default=0)),
                ("error_code", models.CharField(blank=True, max_length=48)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="refresh_runs", to="agents_proxy.item"
                    ),
                ),
            ],
            options={
                "verbose_name": "refresh",
                "verbose_name_plural": "refreshes",
                "db_table": "aggregator_refresh_runs",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["queued", "running", "completed", "failed"])),
                        name="aggregator_refresh_status",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["queued", "running"])),
                        fields=("item",),
                        name="aggregator_refresh_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", True), ("lease_until__isnull", True), ("status", "queued")
                            ),
                            models.Q(
                                ("finished_at__isnull", True),
                                ("lease_until__isnull", False),
                                ("started_at__isnull", False),
                                ("status", "running"),
                            ),
                            models.Q(
                                ("finished_at__isnull", False),
                                ("lease_until__isnull", True),
                                ("status__in", ["completed", "failed"]),
                            ),
                            _connector="OR",
                        ),
                        name="aggregator_refresh_times_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), models.Q(("error_code", ""), _negated=True)),
                            models.Q(models.Q(("status", "failed"), _negated=True), ("error_code", "")),
                            _connector="OR",
                        ),
                        name="aggregator_refresh_error_together",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "analysis_id",
                    models.CharField(
                        default=agents_proxy.analyses.models.new_analysis_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="analysis ID",
                    ),
                ),
                ("input", models.TextField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("completed", "completed"),
                            ("completed_with_errors", "completed_with_errors"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default=agents_proxy.states.RunStatus["QUEUED"],
                        max_length=24,
                        verbose_name="status",
                    ),
                ),
                ("profile", models.TextField(null=True)),
                ("provenance", models.JSONField(null=True)),
                ("metadata", models.JSONField(null=True)),
                ("started_at", models.DateTimeField(null=True, verbose_name="started")),
                ("finished_at", models.DateTimeField(null=True, verbose_name="finished")),
                ("retried_at", models.DateTimeField(null=True, verbose_name="a step tried again")),
                ("purge_at", models.DateTimeField(verbose_name="deleted on")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="asked")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "consent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="analysis_runs",
                        to="agents_proxy.processingconsent",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="analysis_runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "analysis",
                "verbose_name_plural": "analyses",
                "db_table": "analysis_runs",
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["user", "-created_at"], name="analysis_run_of_user"),
                    models.Index(fields=["purge_at"], name="analysis_run_purge"),
                    models.Index(
                        condition=models.Q(("status__in", ["queued", "running"])),
                        fields=["id"],
                        name="analysis_run_unfinished",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["queued", "running", "completed", "completed_with_errors", "failed", "cancelled"],
                            )
                        ),
                        name="analysis_run_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["queued", "running"]), ("finished_at__isnull", True)),
                            models.Q(
                                models.Q(("status__in", ["queued", "running"]), _negated=True),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="analysis_run_finish_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "running"), _negated=True),
                            ("started_at__isnull", False),
                            _connector="OR",
                        ),
                        name="analysis_run_running_started",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("profile__isnull", True), ("provenance__isnull", True)),
                            models.Q(("profile__isnull", False), ("provenance__isnull", False)),
                            _connector="OR",
                        ),
                        name="analysis_run_profile_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["queued", "running"]), _negated=True),
                            models.Q(("metadata__isnull", True), ("profile__isnull", True)),
                            _connector="OR",
                        ),
                        name="analysis_run_result_at_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Activation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "activation_id",
                    models.CharField(
                        default=agents_proxy.activations.models.new_activation_id,
                        editable=False,
                        max_length=64,
                        unique=True,
                        verbose_name="activation ID",
                    ),
                ),
                ("number", models.PositiveSmallIntegerField(default=0, verbose_name="sending")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("sending", "sending"),
                            ("delivered", "delivered"),
                            ("failed", "failed"),
                        ],
                        default=agents_proxy.states.ActivationStatus["QUEUED"],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("next_attempt_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("lease_until", models.DateTimeField(null=True)),
                ("status_code", models.PositiveSmallIntegerField(null=True, verbose_name="last answer")),
                ("error_code", models.CharField(blank=True, max_length=48, verbose_name="error")),
                ("body", models.TextField(null=True)),
                ("digest", models.CharField(max_length=64, verbose_name="SHA-256 of what is sent")),
                ("created_at", models.DateTimeField(verbose_name="asked")),
                ("finished_at", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="activations",
                        to="agents_proxy.destination",
                        verbose_name="destination",
                    ),
                ),
                (
                    "consent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="activations",
                        to="agents_proxy.processingconsent",
                        verbose_name="consent to processing",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="activations",
                        to="agents_proxy.run",
                        verbose_name="analysis",
                    ),
                ),
            ],
            options={
                "verbose_name": "activation",
                "verbose_name_plural": "activations",
                "db_table": "activations",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "queued")), fields=["next_attempt_at"], name="activation_due"
                    ),
                    models.Index(
                        condition=models.Q(("status", "sending")), fields=["lease_until"], name="activation_leases"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "destination", "number"), name="activation_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["queued"]),
                            ("status__in", ["sending"]),
                            ("status__in", ["delivered", "failed"]),
                            _connector="OR",
                        ),
                        name="activation_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["queued"]), ("next_attempt_at__isnull", False)),
                            models.Q(
                                models.Q(("status__in", ["queued"]), _negated=True), ("next_attempt_at__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="activation_next_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["sending"]), ("lease_until__isnull", False)),
                            models.Q(
                                models.Q(("status__in", ["sending"]), _negated=True), ("lease_until__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="activation_lease_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("status__in", ["delivered", "failed"]),
                                ("body__isnull", True),
                                ("finished_at__isnull", False),
                            ),
                            models.Q(
                                models.Q(("status__in", ["delivered", "failed"]), _negated=True),
                                ("body__isnull", False),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="activation_finish_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), _negated=True),
                            models.Q(("error_code", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="activation_failure_has_error",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "delivered"), _negated=True),
                            models.Q(("error_code", ""), ("status_code__isnull", False)),
                            _connector="OR",
                        ),
                        name="activation_delivery_has_answer",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("agent", models.CharField(max_length=32)),
                ("task_id", models.CharField(max_length=72)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("running", "running"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("skipped", "skipped"),
                        ],
                        default=agents_proxy.states.StepStatus["WAITING"],
                        max_length=16,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("duration_ms", models.PositiveIntegerField(null=True)),
                ("reply", models.TextField(null=True)),
                ("fields", models.TextField(null=True)),
                ("repaired", models.BooleanField(default=False)),
                ("field_count", models.PositiveIntegerField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=48)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="agents_proxy.run",
                    ),
                ),
            ],
            options={
                "db_table": "analysis_steps",
                "ordering": ["run", "position"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "running")), fields=["lease_until"], name="analysis_step_leases"
                    ),
                    models.Index(
                        condition=models.Q(("status", "failed")), fields=["finished_at"], name="analysis_step_failures"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "position"), name="analysis_step_position_once"),
                    models.UniqueConstraint(fields=("run", "agent"), name="analysis_step_agent_once"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["waiting", "running", "succeeded", "failed", "skipped"])),
                        name="analysis_step_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("status", "running")),
                            models.Q(models.Q(("status", "running"), _negated=True), ("lease_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="analysis_step_lease_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", True), ("started_at__isnull", True), ("status", "waiting")
                            ),
                            models.Q(
                                ("finished_at__isnull", True), ("started_at__isnull", False), ("status", "running")
                            ),
                            models.Q(
                                ("finished_at__isnull", False),
                                ("started_at__isnull", False),
                                ("status__in", ["succeeded", "failed"]),
                            ),
                            models.Q(("finished_at__isnull", False), ("status", "skipped")),
                            _connector="OR",
                        ),
                        name="analysis_step_times_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), models.Q(("error_code", ""), _negated=True)),
                            ("status", "skipped"),
                            models.Q(
                                models.Q(("status__in", ["failed", "skipped"]), _negated=True), ("error_code", "")
                            ),
                            _connector="OR",
                        ),
                        name="analysis_step_error_together",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "succeeded"), _negated=True),
                            models.Q(("field_count__isnull", False), ("reply__isnull", False)),
                            _connector="OR",
                        ),
                        name="analysis_step_success_has_reply",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "succeeded"), ("fields__isnull", True), _connector="OR"),
                        name="analysis_step_fields_of_success",
                    ),
                ],
            },
        ),
    ]
