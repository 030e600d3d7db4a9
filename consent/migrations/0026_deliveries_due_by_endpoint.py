from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0025_keys_of_known_requests"),
    ]

    operations = [
        migrations.AddIndex(
            "webhookdelivery",
            models.Index(
                fields=["endpoint", "next_at"],
                condition=models.Q(finished_at=None),
                name="webhook_delivery_own_due",
            ),
        ),
    ]
