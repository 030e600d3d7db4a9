import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0015_return_addresses"),
        ("developers", "0009_people_let_go"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Connection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("connection_id", models.CharField(max_length=64, unique=True, verbose_name="connection ID")),
                ("code_digest", models.CharField(editable=False, max_length=64)),
                ("binding_message", models.CharField(blank=True, max_length=64, verbose_name="message on both sides")),
                ("return_url", models.CharField(blank=True, max_length=2000, verbose_name="return address")),
                ("asked", models.JSONField(editable=False, null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("connected", "connected"),
                            ("declined", "declined"),
                            ("expired", "expired"),
                        ],
                        default="pending",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("refusal", models.CharField(blank=True, max_length=64)),
                ("sequence", models.PositiveIntegerField(null=True)),
                ("created_at", models.DateTimeField(verbose_name="begun")),
                ("expires_at", models.DateTimeField(verbose_name="open until")),
                ("answered_at", models.DateTimeField(null=True, verbose_name="answered")),
                ("return_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("complete_by", models.DateTimeField(null=True)),
                ("completed_at", models.DateTimeField(null=True, verbose_name="completed")),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="connections", to="developers.app"
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="connection",
                        to="consent.consentrequest",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="connections",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "connection",
                "verbose_name_plural": "connections",
                "db_table": "connections",
                "indexes": [
                    models.Index(fields=["created_at"], name="connection_age"),
                    models.Index(
                        condition=models.Q(("status", "pending")), fields=["expires_at"], name="connection_unanswered"
                    ),
                    models.Index(
                        condition=models.Q(("completed_at__isnull", True), ("status", "connected")),
                        fields=["complete_by"],
                        name="connection_uncompleted",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["pending", "connected", "declined", "expired"])),
                        name="connection_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("complete_by__isnull", False), ("user__isnull", False)),
                            models.Q(("status", "connected"), _negated=True),
                            _connector="OR",
                        ),
                        name="connection_connected_together",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "pending")),
                        fields=("code_digest",),
                        name="connection_code_open_once",
                    ),
                ],
            },
        ),
    ]
