"""The starter registry of the first release: the scopes that a fresh deployment can be asked for.

Frozen: the rows stand in the file beside this one, so that a later change of the starter list changes nothing here.
`manage.py sync_registry` brings what the list has gained since.
"""

import json
from pathlib import Path

from django.db import migrations

ROWS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def install(apps, _schema_editor):
    """Add what is missing; rows that are there stay as they are."""
    domain_model, entry_model = (apps.get_model("pkm", name) for name in ("Domain", "ScopeEntry"))
    domains = {None: None}
    for row in ROWS["domains"]:
        domains[row["domain_key"]], _ = domain_model.objects.get_or_create(domain_key=row["domain_key"], defaults=row)
    present = set(entry_model.objects.values_list("scope", flat=True))
    entry_model.objects.bulk_create(
        entry_model(**{**row, "domain": domains[row["domain"]]})
        for row in ROWS["entries"]
        if row["scope"] not in present
    )


def remove(apps, _schema_editor):
    """The scopes that were added, then the domains that nothing else uses."""
    domain_model, entry_model = (apps.get_model("pkm", name) for name in ("Domain", "ScopeEntry"))
    entry_model.objects.filter(scope__in=[row["scope"] for row in ROWS["entries"]]).delete()
    unused = domain_model.objects.filter(scope_entries__isnull=True)
    unused.filter(domain_key__in=[row["domain_key"] for row in ROWS["domains"]]).delete()


class Migration(migrations.Migration):
    dependencies = [("pkm", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
