from django.db import migrations, models

import developers.members.models


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0005_people_of_apps"),
    ]

    operations = [
        migrations.AddField(
            model_name="appmember",
            name="member_id",
            field=models.CharField(
                default=developers.members.models.new_member_id, editable=False, max_length=64, unique=True
            ),
        ),
    ]
