from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consent", "0022_grants_to_record")]

    operations = [
        migrations.AddField(
            model_name="noticecounter",
            name="forgotten",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
