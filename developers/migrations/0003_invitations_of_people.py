import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0002_closed_with_owner_is_told"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="appinvitation",
            name="app_invitation_open_once",
        ),
        migrations.AddField(
            model_name="appinvitation",
            name="hands_over",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="appinvitation",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="app_invitations_received",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AlterField(
            model_name="appinvitation",
            name="email",
            field=models.EmailField(blank=True, max_length=254, verbose_name="e-mail address"),
        ),
        migrations.AddConstraint(
            model_name="appinvitation",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("accepted_at__isnull", True),
                    ("withdrawn_at__isnull", True),
                    models.Q(("email", ""), _negated=True),
                ),
                fields=("app", "email"),
                name="app_invitation_open_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="appinvitation",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("accepted_at__isnull", True), ("person__isnull", False), ("withdrawn_at__isnull", True)
                ),
                fields=("app", "person"),
                name="app_invitation_person_open_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="appinvitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("person__isnull", True), models.Q(("email", ""), _negated=True)),
                    models.Q(("email", ""), ("person__isnull", False)),
                    _connector="OR",
                ),
                name="app_invitation_asks_somebody",
            ),
        ),
    ]
