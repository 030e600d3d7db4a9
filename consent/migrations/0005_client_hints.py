from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0004_audit_pending"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="discoverymiss",
            name="discovery_miss_once_a_minute",
        ),
        migrations.AddField(
            model_name="discoverymiss",
            name="hint",
            field=models.CharField(blank=True, default="", max_length=4),
        ),
        migrations.AddConstraint(
            model_name="discoverymiss",
            constraint=models.UniqueConstraint(fields=("app", "hint", "minute"), name="discovery_miss_once_a_minute"),
        ),
    ]
