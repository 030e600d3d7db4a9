"""What the starter list wrote is remembered, so that a later one can tell what staff changed."""

from importlib import import_module

from django.db import migrations, models

_OF_DOMAIN = ("display_name", "description", "icon", "position")
_OF_ENTRY = ("scope_label", "description", "attributes", "sensitivity_tier", "max_access_duration")


def remember(apps, _schema_editor):
    """Until now the list wrote once, in the migration before this one."""
    rows = import_module("pkm.migrations.0002_starter_registry").ROWS
    record_model = apps.get_model("pkm", "StarterRecord")
    record_model.objects.bulk_create(
        record_model(key=row[key], written={name: row[name] for name in fields})
        for kind, key, fields in (("domains", "domain_key", _OF_DOMAIN), ("entries", "scope", _OF_ENTRY))
        for row in rows[kind]
    )


class Migration(migrations.Migration):
    dependencies = [("pkm", "0002_starter_registry")]

    operations = [
        migrations.CreateModel(
            name="StarterRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=210, unique=True)),
                ("written", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={"db_table": "pkm_starter_records"},
        ),
        migrations.RunPython(remember, migrations.RunPython.noop),
    ]
