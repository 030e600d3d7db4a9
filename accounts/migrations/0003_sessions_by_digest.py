"""Sessions move to a table that holds the digests of their keys. Those in clear are deleted: everybody signs in again.

The tables of the packages that kept them go too. No model knows them any more, so nothing would empty them, and the
one that lists people's sessions would keep an account from being erased.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder

_TABLES = ("usersessions_usersession", "django_session")
_PACKAGES = ("usersessions", "sessions")


def drop_sessions_in_clear(apps, schema_editor):
    connection = schema_editor.connection
    present = set(connection.introspection.table_names())
    for table in _TABLES:
        if table in present:
            schema_editor.execute(f"DROP TABLE {connection.ops.quote_name(table)}")
    apps.get_model("contenttypes", "ContentType").objects.filter(app_label__in=_PACKAGES).delete()
    # forgotten as well, so that an older version of this program, put back, makes its tables again
    MigrationRecorder(connection).migration_qs.filter(app__in=_PACKAGES).delete()


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_user_language"), ("contenttypes", "0002_remove_content_type_name")]

    operations = [
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
            options={"db_table": "sessions"},
        ),
        migrations.RunPython(drop_sessions_in_clear, migrations.RunPython.noop),
    ]
