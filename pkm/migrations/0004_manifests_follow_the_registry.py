"""The version that manifests were brought to, and what index rows left out until now: capabilities and exact times."""

from typing import Any

from django.db import migrations, models
from django.db.models import Max

from common.clock import rfc3339


def fill_index(apps: Any, schema_editor: Any) -> None:
    """Each row for itself, so that memory stays flat; run twice, it writes the same."""
    index, blob, wrapper, vault = (apps.get_model("pkm", name) for name in ("Index", "Blob", "KeyWrapper", "VaultKey"))
    for row in index.objects.order_by("pk").iterator(chunk_size=500):
        kinds = set(wrapper.objects.filter(user=row.user_id, removed_at=None).values_list("kind", flat=True))
        active = vault.objects.filter(user=row.user_id, vault_status="active").exists()
        row.capability_flags = {
            "can_approve": active,
            "recovery": "recovery" in kinds,
            "passkey": "passkey" in kinds,
            "continuous": active,
        }
        changed = blob.objects.filter(user=row.user_id, is_current=True).values("domain").annotate(at=Max("created_at"))
        newest = dict(changed.order_by("domain").values_list("domain", "at"))
        row.domain_freshness = {domain: rfc3339(newest[domain]) for domain in row.domain_freshness if domain in newest}
        row.save(update_fields=["capability_flags", "domain_freshness"])


class Migration(migrations.Migration):
    dependencies = [
        ("pkm", "0003_starter_records"),
    ]

    operations = [
        migrations.AddField(
            model_name="registryversion",
            name="in_manifests",
            field=models.CharField(blank=True, db_default="", max_length=64),
        ),
        migrations.RunPython(fill_index, migrations.RunPython.noop),
    ]
