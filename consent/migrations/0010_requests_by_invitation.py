from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0009_processing_notices"),
    ]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="invitation_sha256",
            field=models.CharField(max_length=43, null=True, verbose_name="digest of the sharing ID used"),
        ),
    ]
