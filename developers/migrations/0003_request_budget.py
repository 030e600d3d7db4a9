from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0002_deliveries"),
    ]

    operations = [
        migrations.AddField(
            model_name="app",
            name="request_budget",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Empty takes the deployment's default; 0 is no limit.",
                null=True,
                verbose_name="new requests an hour",
            ),
        ),
    ]
