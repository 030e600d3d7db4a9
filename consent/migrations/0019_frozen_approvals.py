from django.db import migrations

from common.sql.triggers import frozen, install_rules

_COLUMNS = ["export_id", "grant_id", "revision", "connector_key_id", "sources", "sealed_at"]
_SIGNED = ["approval", "owner_key", "owner_key_reset", "approved_attributes"]


def freeze(columns):
    """A database that has the earlier trigger of this name gets this one; /readyz misses triggers by name alone."""
    rule = frozen("consent_exports", columns, erasable=True)
    return lambda apps, editor: install_rules(editor.connection, [rule])


class Migration(migrations.Migration):
    dependencies = [("consent", "0018_leaf_by_hash")]

    operations = [migrations.RunPython(freeze([*_COLUMNS, *_SIGNED]), freeze(_COLUMNS))]
