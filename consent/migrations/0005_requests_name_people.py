from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0004_checkpoints_numbered"),
        ("developers", "0005_people_of_apps"),
        ("pkm", "0003_mails_go_to_the_outbox"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="pairwise_id",
            field=models.CharField(default="", max_length=64, verbose_name="the app's ID for the person"),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="consentrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("pairwise_id", ""), _negated=True), name="consent_request_names_person"
            ),
        ),
    ]
