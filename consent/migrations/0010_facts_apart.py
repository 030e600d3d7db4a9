"""Entries that hold the hash of their facts, the facts in a table of their own, and chains with names of their own.

Chains that are there keep their name, and their entries the formula by which they were made.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

import consent.ledger.models


def name_chains(apps: Any, schema_editor: Any) -> None:
    """Every chain that is there is called as its subject."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("INSERT INTO audit_chains (chain, subject) SELECT chain, chain FROM consent_audit_heads")


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0009_handling"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditChain",
            fields=[
                (
                    "chain",
                    models.CharField(
                        default=consent.ledger.models.new_chain_id, max_length=80, primary_key=True, serialize=False
                    ),
                ),
                ("subject", models.CharField(max_length=80, unique=True)),
            ],
            options={"db_table": "audit_chains"},
        ),
        migrations.RunPython(name_chains, migrations.RunPython.noop),
        migrations.AddField(
            model_name="auditentry",
            name="version",
            field=models.PositiveSmallIntegerField(db_default=1, default=2),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="facts_hash",
            field=models.CharField(blank=True, db_default="", max_length=43),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="facts",
            field=models.JSONField(db_column="facts", null=True, verbose_name="facts"),
        ),
        migrations.RenameField(model_name="auditentry", old_name="facts", new_name="own_facts"),
        migrations.AddConstraint(
            model_name="auditentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("facts_hash", ""), ("version", 1)),
                    models.Q(
                        ("own_facts__isnull", True),
                        ("version", 2),
                        models.Q(("facts_hash", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="consent_audit_version",
            ),
        ),
        migrations.CreateModel(
            name="AuditFacts",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="kept",
                        serialize=False,
                        to="consent.auditentry",
                    ),
                ),
                ("salt", models.BinaryField(max_length=32)),
                ("facts", models.JSONField()),
                ("about", models.CharField(blank=True, max_length=80)),
            ],
            options={
                "db_table": "audit_facts",
                "indexes": [models.Index(fields=["about"], name="audit_facts_about")],
            },
        ),
    ]
