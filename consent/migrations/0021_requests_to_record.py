from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0020_issuer_of_keys")]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="record_waits",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="consentrequest",
            index=models.Index(
                condition=models.Q(("record_waits", True)), fields=["id"], name="consent_request_to_record"
            ),
        ),
    ]
