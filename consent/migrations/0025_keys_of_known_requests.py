from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0024_required_because"),
    ]

    operations = [
        migrations.AddIndex(
            "consentrequest",
            models.Index(
                fields=["app", "connector_thumbprint", "connector_key_id", "created_at", "withheld"],
                name="consent_known_request_keys",
            ),
        ),
        # after it: to drop an index lets nobody read either, which is to last no longer than that
        migrations.RemoveIndex("consentrequest", "consent_request_keys"),
    ]
