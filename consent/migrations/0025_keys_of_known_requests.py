from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0024_required_because"),
    ]

    operations = [
        migrations.RemoveIndex("consentrequest", "consent_request_keys"),
        migrations.AddIndex(
            "consentrequest",
            models.Index(
                fields=["app", "connector_thumbprint", "connector_key_id", "created_at", "withheld"],
                name="consent_request_keys",
            ),
        ),
    ]
