"""The scopes that a fresh deployment can be asked for, and what the starter list wrote of each.

Frozen: the rows stand in the file beside this one, so that a later change of the starter list changes nothing here.
`manage.py sync_registry` brings what the list has gained since.
"""

import json
from pathlib import Path
from typing import Any

from django.db import migrations

_OF_DOMAIN = ("display_name", "description", "icon", "position")
_OF_ENTRY = ("scope_label", "description", "attributes", "sensitivity_tier", "max_access_duration")


def install(apps: Any, schema_editor: Any) -> None:
    rows = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    domain, entry, record = (apps.get_model("pkm", name) for name in ("Domain", "ScopeEntry", "StarterRecord"))
    domains = {None: None, **{row["domain_key"]: domain.objects.create(**row) for row in rows["domains"]}}
    entry.objects.bulk_create(entry(**{**row, "domain": domains[row["domain"]]}) for row in rows["entries"])
    record.objects.bulk_create(
        record(key=row[key], written={name: row[name] for name in names})
        for kind, key, names in (("domains", "domain_key", _OF_DOMAIN), ("entries", "scope", _OF_ENTRY))
        for row in rows[kind]
    )


class Migration(migrations.Migration):
    dependencies = [("pkm", "0001_initial")]

    operations = [migrations.RunPython(install, migrations.RunPython.noop)]
