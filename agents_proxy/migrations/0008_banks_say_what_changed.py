from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents_proxy", "0007_consents_are_renewed_and_values_corrected"),
    ]

    operations = [
        migrations.AddField(
            model_name="item",
            name="changed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="item",
            name="ends_at",
            field=models.DateTimeField(null=True, verbose_name="until"),
        ),
        migrations.AddField(
            model_name="item",
            name="history",
            field=models.CharField(
                choices=[("not_ready", "not_ready"), ("initial", "initial"), ("complete", "complete")],
                db_default="complete",
                default="not_ready",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("history__in", ["not_ready", "initial", "complete"])),
                name="aggregator_item_history",
            ),
        ),
    ]
