from datetime import timedelta
from typing import Any

from django.db import migrations, models
from django.db.models import F, Q


def note_what_was_written(apps: Any, schema_editor: Any) -> None:
    """What was written about, and what needs no reminder, waits for no mail."""
    requests, grants = apps.get_model("consent", "ConsentRequest"), apps.get_model("consent", "Grant")
    mails = apps.get_model("consent", "Mail").objects
    written = mails.filter(kind="request").values("request")
    requests.objects.filter(status="pending", pk__in=written).update(mail_waits=False)
    reminded = Q(request__in=mails.filter(kind="ending").values("request"))
    short = Q(starts_at__gt=F("expires_at") - timedelta(days=7))
    grants.objects.filter(reminded | short, status__in=["active", "paused"]).update(reminder_waits=False)


class Migration(migrations.Migration):
    dependencies = [("consent", "0013_deliveries_by_status")]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="mail_waits",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="grant",
            name="reminder_waits",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.RunPython(note_what_was_written, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="consentrequest",
            index=models.Index(
                condition=models.Q(("mail_waits", True), ("status", "pending")),
                fields=["created_at"],
                name="consent_request_to_mail",
            ),
        ),
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(
                condition=models.Q(("status__in", ["active", "paused"]), ("reminder_waits", True)),
                fields=["expires_at"],
                name="consent_grant_to_remind",
            ),
        ),
    ]
