from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0008_personal_apps"),
    ]

    operations = [
        migrations.AddField(
            model_name="appperson",
            name="ended_at",
            field=models.DateTimeField(null=True),
        ),
    ]
