import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0006_members_named_in_team"),
    ]

    operations = [
        migrations.CreateModel(
            name="OAuthClient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client_id", models.CharField(max_length=2048, unique=True, verbose_name="client ID")),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("redirect_uris", models.JSONField()),
                ("jwks", models.JSONField(default=list)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "connected program",
                "verbose_name_plural": "connected programs",
                "db_table": "oauth_clients",
            },
        ),
        migrations.AddField(
            model_name="developertoken",
            name="client",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tokens",
                to="developers.oauthclient",
            ),
        ),
        migrations.AddField(
            model_name="developertoken",
            name="resource",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
        migrations.AddConstraint(
            model_name="developertoken",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("client__isnull", True), ("resource", "")),
                    models.Q(
                        ("client__isnull", False),
                        ("header_only", True),
                        models.Q(("resource", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="developer_token_of_host",
            ),
        ),
        migrations.CreateModel(
            name="OAuthSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("code", "Code"), ("access", "Access token"), ("refresh", "Refresh token")],
                        max_length=8,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("redirect_uri", models.CharField(blank=True, default="", max_length=2048)),
                ("code_challenge", models.CharField(blank=True, default="", max_length=43)),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="secrets",
                        to="developers.developertoken",
                    ),
                ),
            ],
            options={
                "db_table": "oauth_secrets",
                "indexes": [models.Index(fields=["expires_at"], name="oauth_secrets_over")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["code", "access", "refresh"])), name="oauth_secret_kind"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind", "code"),
                                models.Q(("redirect_uri", ""), _negated=True),
                                models.Q(("code_challenge", ""), _negated=True),
                            ),
                            models.Q(
                                models.Q(("kind", "code"), _negated=True), ("code_challenge", ""), ("redirect_uri", "")
                            ),
                            _connector="OR",
                        ),
                        name="oauth_secret_code_is_bound",
                    ),
                ],
            },
        ),
    ]
