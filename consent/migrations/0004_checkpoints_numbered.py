"""Checkpoints are numbered without gaps."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0003_checkpoints_counted")]

    operations = [migrations.AddField("auditcheckpoint", "number", models.PositiveBigIntegerField(null=True))]
