import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.identifiers


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_outgoing_mails"),
        ("developers", "0005_people_of_apps"),
    ]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="public_id",
            field=models.CharField(
                default=accounts.identifiers.new_user_id,
                editable=False,
                max_length=64,
                unique=True,
                verbose_name="own ID",
            ),
        ),
        migrations.CreateModel(
            name="SharingId",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("sealed", models.TextField(editable=False)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "app",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sharing_id",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "sharing_ids",
            },
        ),
    ]
