from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents_proxy", "0010_opt_outs"),
    ]

    operations = [
        migrations.AddField(
            model_name="step",
            name="arrived",
            field=models.PositiveIntegerField(null=True),
        ),
    ]
