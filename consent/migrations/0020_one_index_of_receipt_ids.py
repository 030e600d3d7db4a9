from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0019_receipts_share_claims"),
    ]

    operations = [
        migrations.AlterField("receipt", "receipt_id", models.CharField(max_length=64)),
        migrations.AddConstraint(
            "receipt", models.UniqueConstraint(fields=["receipt_id"], name="consent_receipt_id_once")
        ),
    ]
