from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents_proxy", "0009_several_visits_to_a_bank"),
    ]

    operations = [
        migrations.CreateModel(
            name="OptOut",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "message_opt_outs"},
        ),
    ]
