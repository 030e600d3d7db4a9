from typing import Any

from django.db import migrations, models
from django.db.models.functions import Coalesce, Now

import developers.apps.models


def give_challenges(apps: Any, schema_editor: Any) -> None:
    """One of its own for each row: the columns were filled with nothing, or with the same for all."""
    for name in ("App", "DeveloperApplication"):
        rows = apps.get_model("developers", name).objects
        for pk in rows.values_list("pk", flat=True).iterator():
            rows.filter(pk=pk).update(domain_challenge=developers.apps.models.new_challenge())


def leave_old_ones_alone(apps: Any, schema_editor: Any) -> None:
    """Nobody is written to about what was handed in or decided before there was such mail."""
    rows = apps.get_model("developers", "DeveloperApplication").objects
    rows.update(staff_told_at=Now())
    rows.filter(reviewed_at__isnull=False).update(applicant_told_at=Coalesce("reviewed_at", Now()))


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0004_portal_records"),
    ]

    operations = [
        migrations.AddField(
            model_name="app",
            name="domain_checked_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="app",
            name="domain_missing_since",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="app",
            name="lost_domain",
            field=models.CharField(blank=True, editable=False, max_length=253),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="applicant_told_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="domain_challenge",
            field=models.CharField(default=developers.apps.models.new_challenge, editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="domain_checked_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="domain_missing_since",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="domain_proved_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="domain proved"),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="proved_domain",
            field=models.CharField(blank=True, max_length=253, verbose_name="proved domain"),
        ),
        migrations.AddField(
            model_name="developerapplication",
            name="staff_told_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name="app",
            name="domain_challenge",
            field=models.CharField(default=developers.apps.models.new_challenge, editable=False, max_length=64),
        ),
        migrations.AddConstraint(
            model_name="app",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("domain_missing_since__isnull", True),
                    models.Q(("proved_domain", ""), _negated=True),
                    _connector="OR",
                ),
                name="app_domain_missing",
            ),
        ),
        migrations.AddConstraint(
            model_name="developerapplication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("domain_proved_at__isnull", True), ("proved_domain", "")),
                    models.Q(models.Q(("proved_domain", ""), _negated=True), ("domain_proved_at__isnull", False)),
                    _connector="OR",
                ),
                name="application_domain_together",
            ),
        ),
        migrations.AddConstraint(
            model_name="developerapplication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("domain_missing_since__isnull", True),
                    models.Q(("proved_domain", ""), _negated=True),
                    _connector="OR",
                ),
                name="application_domain_missing",
            ),
        ),
        migrations.RunPython(give_challenges, migrations.RunPython.noop),
        migrations.RunPython(leave_old_ones_alone, migrations.RunPython.noop),
    ]
