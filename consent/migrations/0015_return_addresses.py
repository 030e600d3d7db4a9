from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0013_rules_and_news"),
    ]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="return_url",
            field=models.CharField(max_length=2000, null=True, verbose_name="where you go afterwards"),
        ),
        migrations.AddField(
            model_name="consentrequest",
            name="withheld",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
