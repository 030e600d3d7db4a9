from django.conf import settings
from django.db import migrations, models


def name_as_before(apps, schema_editor):
    """What a database from before the first release has: all apps called a person by their own ID."""
    requests = apps.get_model("consent", "ConsentRequest").objects.using(schema_editor.connection.alias)
    own = apps.get_model("accounts", "User").objects.filter(pk=models.OuterRef("user")).values("public_id")
    requests.update(pairwise_id=models.Subquery(own[:1]))


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
        migrations.RunPython(name_as_before, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="consentrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("pairwise_id", ""), _negated=True), name="consent_request_names_person"
            ),
        ),
    ]
