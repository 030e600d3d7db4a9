from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0016_connections"),
    ]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name="derived",
            field=models.JSONField(null=True, verbose_name="answers asked for"),
        ),
    ]
