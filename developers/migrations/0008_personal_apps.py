import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0007_tokens_of_hosts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="app",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="own_assistants",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="app",
            name="mode",
            field=models.CharField(
                choices=[("test", "Test"), ("live", "Live"), ("personal", "Personal")],
                default="live",
                max_length=8,
                verbose_name="mode",
            ),
        ),
        migrations.RemoveConstraint(model_name="app", name="app_mode_application"),
        migrations.AddConstraint(
            model_name="app",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("application__isnull", False), ("mode", "live")),
                    models.Q(("application__isnull", True), ("mode", "test"), ("verified", False)),
                    models.Q(("application__isnull", True), ("mode", "personal"), ("verified", False)),
                    _connector="OR",
                ),
                name="app_mode_application",
            ),
        ),
        migrations.AddConstraint(
            model_name="app",
            constraint=models.CheckConstraint(
                condition=models.Q(("mode", "personal"), ("person__isnull", True), _connector="OR"),
                name="app_of_person",
            ),
        ),
    ]
