from django.db import migrations, models

import developers.members.models


def name_members(apps, schema_editor):
    members = apps.get_model("developers", "AppMember").objects.using(schema_editor.connection.alias)
    for pk in members.values_list("pk", flat=True):
        members.filter(pk=pk).update(member_id=developers.members.models.new_member_id())


class Migration(migrations.Migration):
    dependencies = [
        ("developers", "0005_people_of_apps"),
    ]

    operations = [
        migrations.AddField(
            model_name="appmember",
            name="member_id",
            field=models.CharField(default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(name_members, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="appmember",
            name="member_id",
            field=models.CharField(
                default=developers.members.models.new_member_id, editable=False, max_length=64, unique=True
            ),
        ),
    ]
