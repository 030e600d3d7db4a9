from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0023_forgotten_notices")]

    operations = [
        migrations.CreateModel(
            name="ForgottenReads",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("entry", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "consent_reads_forgotten",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="consent_reads_forgotten_once")
                ],
            },
        ),
    ]
