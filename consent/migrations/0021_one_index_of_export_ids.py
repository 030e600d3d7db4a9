from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0020_one_index_of_receipt_ids"),
    ]

    operations = [
        migrations.AlterField("export", "export_id", models.CharField(max_length=64)),
        migrations.AddConstraint(
            "export", models.UniqueConstraint(fields=["export_id"], name="consent_export_id_once")
        ),
    ]
