from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires_at", models.BigIntegerField(db_index=True, null=True)),
            ],
            options={
                "db_table": "cache_entries",
            },
        ),
        migrations.CreateModel(
            name="RateCount",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("used", models.PositiveIntegerField()),
                ("resets_at", models.BigIntegerField(db_index=True)),
            ],
            options={
                "db_table": "rate_counts",
            },
        ),
    ]
