"""The index from which the overview of an app adds up its calls."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("developers", "0006_reported_leaks")]

    operations = [
        migrations.AlterField(
            model_name="loggedrequest",
            name="app",
            field=models.ForeignKey(
                db_index=False,
                on_delete=models.deletion.CASCADE,
                related_name="logged_requests",
                to="developers.app",
            ),
        ),
        migrations.AddIndex(
            model_name="loggedrequest",
            index=models.Index(fields=["app", "at", "status", "code", "ms"], name="request_log_figures"),
        ),
    ]
