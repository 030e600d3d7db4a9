from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0014_mail_waits")]

    operations = [
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False)), fields=["finished_at"], name="webhook_delivery_age"
            ),
        ),
        migrations.AddIndex(
            model_name="discovery",
            index=models.Index(fields=["day"], name="discovery_age"),
        ),
        migrations.AddIndex(
            model_name="directoryfind",
            index=models.Index(fields=["day"], name="directory_find_age"),
        ),
    ]
