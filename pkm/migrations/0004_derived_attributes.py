from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pkm", "0003_mails_go_to_the_outbox"),
    ]

    operations = [
        migrations.AddField(
            model_name="scopeentry",
            name="derived",
            field=models.JSONField(
                blank=True,
                help_text="Only for an answer in place of a value: from, rule and rule_version, as the handbook has them.",
                null=True,
                verbose_name="made from",
            ),
        ),
    ]
