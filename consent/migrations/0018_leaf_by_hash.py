from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0017_approvals")]

    operations = [
        migrations.AddIndex(
            model_name="logleaf",
            index=models.Index(fields=["entry_hash"], name="consent_log_leaf_by_hash"),
        ),
    ]
