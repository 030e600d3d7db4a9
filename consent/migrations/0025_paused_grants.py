from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0024_forgotten_reads")]

    operations = [
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(condition=models.Q(("status", "paused")), fields=["id"], name="consent_grant_paused"),
        ),
    ]
