from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("developers", "0001_initial")]

    operations = [
        migrations.RemoveIndex(model_name="appauditentry", name="app_audit_to_tell"),
        migrations.AddIndex(
            model_name="appauditentry",
            index=models.Index(
                condition=models.Q(
                    ("action__in", ("app.suspended", "app.restored", "app.closed_with_owner")),
                    ("told_at__isnull", True),
                ),
                fields=["id"],
                name="app_audit_to_tell",
            ),
        ),
    ]
