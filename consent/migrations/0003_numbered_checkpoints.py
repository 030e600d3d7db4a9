"""Checkpoints are numbered without gaps, and the log's state counts them."""

from typing import Any

from django.db import migrations, models


def number(apps: Any, schema_editor: Any) -> None:
    """In the order in which they were signed."""
    alias = schema_editor.connection.alias
    checkpoints = apps.get_model("consent", "AuditCheckpoint").objects.using(alias)
    count = 0
    for pk in list(checkpoints.order_by("pk").values_list("pk", flat=True)):
        count += 1
        checkpoints.filter(pk=pk).update(number=count)
    apps.get_model("consent", "LogState").objects.using(alias).update(signed=count)


class Migration(migrations.Migration):
    dependencies = [("consent", "0002_begin_log")]

    operations = [
        migrations.AddField("logstate", "signed", models.PositiveBigIntegerField(default=0)),
        migrations.AddField(
            "auditcheckpoint", "number", models.PositiveBigIntegerField(default=0), preserve_default=False
        ),
        migrations.RunPython(number, migrations.RunPython.noop),
        migrations.AddConstraint(
            "auditcheckpoint", models.UniqueConstraint(fields=["number"], name="consent_checkpoint_number_once")
        ),
    ]
