from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0006_connector_keys"),
    ]

    operations = [
        migrations.DeleteModel(
            name="DiscoveryMiss",
        ),
    ]
