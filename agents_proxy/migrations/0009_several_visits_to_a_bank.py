import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents_proxy", "0008_banks_say_what_changed"),
    ]

    operations = [
        migrations.AlterField(
            model_name="linksession",
            name="item",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="link_sessions",
                to="agents_proxy.item",
            ),
        ),
    ]
