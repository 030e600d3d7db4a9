"""The log's state counts its checkpoints; those from before have no number and are not counted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0002_begin_log")]

    operations = [migrations.AddField("logstate", "signed", models.PositiveBigIntegerField(db_default=0, default=0))]
