from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0021_one_index_of_export_ids"),
    ]

    operations = [
        migrations.AlterField("grant", "grant_id", models.CharField(max_length=64, verbose_name="grant ID")),
        migrations.AddConstraint("grant", models.UniqueConstraint(fields=["grant_id"], name="consent_grant_id_once")),
    ]
