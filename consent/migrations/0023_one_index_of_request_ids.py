from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0022_one_index_of_grant_ids"),
    ]

    operations = [
        migrations.AlterField(
            "consentrequest", "request_id", models.CharField(max_length=64, verbose_name="request ID")
        ),
        migrations.AddConstraint(
            "consentrequest", models.UniqueConstraint(fields=["request_id"], name="consent_request_id_once")
        ),
    ]
