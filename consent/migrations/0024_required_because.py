from django.db import migrations, models

from common.sql.triggers import Rule, take_off


def drop_the_rule(apps, schema_editor):
    """SQLite drops no column that a trigger names; whoever migrated installs the rules again, of the columns left."""
    take_off(schema_editor.connection, Rule("consent_requests", "frozen", "UPDATE", ""))


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0023_one_index_of_request_ids"),
    ]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="required_because",
            field=models.CharField(max_length=140, null=True, verbose_name="without what is needed"),
        ),
        migrations.RunPython(migrations.RunPython.noop, drop_the_rule),
    ]
