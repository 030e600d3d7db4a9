"""The address that an app's key was made for, which for a while was part of 0017.

A database that has the column from there keeps what it says. The release before this writes rows without it.
"""

from typing import Any

from django.conf import settings
from django.db import migrations, models


def add_where_missing(apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, "approval_keys")
    if "issuer" not in {column.name for column in columns}:
        schema_editor.execute("ALTER TABLE approval_keys ADD COLUMN issuer varchar(300) DEFAULT '' NOT NULL")


def fill(apps: Any, schema_editor: Any) -> None:
    """What names no address was made for the one that the service has."""
    keys = apps.get_model("consent", "ApprovalKey").objects.using(schema_editor.connection.alias)
    keys.filter(issuer="").update(issuer=settings.ISSUER)


class Migration(migrations.Migration):
    dependencies = [("consent", "0019_frozen_approvals")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("approvalkey", "issuer", models.CharField(default="", max_length=300)),
            ],
        ),
        migrations.RunPython(add_where_missing, migrations.RunPython.noop),
        migrations.AlterField("approvalkey", "issuer", models.CharField(db_default="", default="", max_length=300)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
