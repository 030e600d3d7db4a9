from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0021_requests_to_record")]

    operations = [
        migrations.AddField(
            model_name="grant",
            name="record_waits",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(
                condition=models.Q(("record_waits", True)), fields=["id"], name="consent_grant_to_record"
            ),
        ),
    ]
