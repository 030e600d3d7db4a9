import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.identifiers


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0004_mails_go_to_the_outbox"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AppPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "pairwise_id",
                    models.CharField(
                        default=accounts.identifiers.new_user_id, editable=False, max_length=64, unique=True
                    ),
                ),
                ("connected_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="people",
                        to="developers.app",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="known_to_apps",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "app_people",
                "constraints": [models.UniqueConstraint(fields=("app", "user"), name="app_person_once")],
            },
        ),
    ]
