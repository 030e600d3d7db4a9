"""The one row of the public log's state, which is locked before anything enters the log."""

from typing import Any

from django.db import migrations


def begin(apps: Any, schema_editor: Any) -> None:
    apps.get_model("consent", "LogState").objects.using(schema_editor.connection.alias).create(pk=1)


class Migration(migrations.Migration):
    dependencies = [("consent", "0001_initial")]

    operations = [migrations.RunPython(begin, migrations.RunPython.noop)]
