"""The public log: every entry that is there waits for it, by the hash that it has.

Signed statements over the heads of all chains go: the log takes their place.
"""

from typing import Any

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


def begin_log(apps: Any, schema_editor: Any) -> None:
    """The one row that says where the log stands."""
    apps.get_model("consent", "LogState").objects.using(schema_editor.connection.alias).create(pk=1)


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0015_retention"),
    ]

    operations = [
        migrations.DeleteModel(name="CheckpointHead"),
        migrations.DeleteModel(name="AuditCheckpoint"),
        migrations.CreateModel(
            name="AuditCheckpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.CharField(blank=True, default="", max_length=32)),
                ("size", models.PositiveBigIntegerField()),
                ("root", models.CharField(max_length=43)),
                ("note", models.TextField()),
                ("cosignatures", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField()),
                ("cosigned_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "consent_audit_checkpoints",
                "constraints": [
                    models.UniqueConstraint(fields=("epoch", "size"), name="consent_checkpoint_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cosigned_at", None), ("cosigned_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="consent_checkpoint_cosigned_later",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("cosigned_at__isnull", False)),
                        fields=["epoch", "size"],
                        name="consent_checkpoint_cosigned",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LogState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.CharField(blank=True, default="", max_length=32)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("frontier", models.BinaryField(default=b"")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "consent_log_state",
                "constraints": [models.CheckConstraint(condition=models.Q(("pk", 1)), name="consent_log_state_is_one")],
            },
        ),
        migrations.CreateModel(
            name="LogTile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.PositiveSmallIntegerField()),
                ("number", models.PositiveBigIntegerField()),
                ("hashes", models.BinaryField(max_length=8192)),
            ],
            options={
                "db_table": "consent_log_tiles",
                "constraints": [models.UniqueConstraint(fields=("level", "number"), name="consent_log_tile_once")],
            },
        ),
        migrations.CreateModel(
            name="LogLeaf",
            fields=[
                ("log_index", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("entry_hash", models.BinaryField(max_length=32)),
                (
                    "entry",
                    models.OneToOneField(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="leaf",
                        to="consent.auditentry",
                    ),
                ),
            ],
            options={"db_table": "consent_log_leaves"},
        ),
        migrations.CreateModel(
            name="LogQueue",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="queued",
                        serialize=False,
                        to="consent.auditentry",
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "consent_log_queue"},
        ),
        migrations.RunSQL(
            "INSERT INTO consent_log_queue (entry_id) SELECT id FROM consent_audit", migrations.RunSQL.noop
        ),
        migrations.RunPython(begin_log, migrations.RunPython.noop),
    ]
