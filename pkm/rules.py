"""What the database itself holds of this room's rules."""

from uuid import uuid4

from django.db.backends.base.base import BaseDatabaseWrapper

from common.sql.triggers import Rule, append_only, closed

# what the old system left: lifted by `manage.py import_legacy` alone, in its own transactions
LEGACY_RULES: list[Rule] = [*closed("legacy_encrypted_blobs"), *closed("legacy_metadata_index")]
RULES: list[Rule] = [*append_only("pkm_events", erasable=["DELETE"]), *LEGACY_RULES]

_BUMP_FUNCTION = """
CREATE OR REPLACE FUNCTION bump_registry_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE pkm_registry_version SET version = gen_random_uuid()::text; RETURN NULL; END $$
"""


_VERSIONED = ("pkm_scope_registry", "domain_registry")


def registry_version_triggers(vendor: str) -> list[str]:
    """The names of the triggers that `install_registry_version` leaves: one a table, or on SQLite one an event."""
    if vendor == "postgresql":
        return [f"{table}_version" for table in _VERSIONED]
    return [f"{table}_version_{event}" for table in _VERSIONED for event in ("insert", "update", "delete")]


def install_registry_version(database: BaseDatabaseWrapper) -> None:
    """Every change of the registry, by whatever hand, replaces its version, so no process serves an old copy.

    The version is random rather than counted: a counter that a rollback takes back would come again with other rows.
    """
    tables = set(database.introspection.table_names())
    if not {"pkm_registry_version", *_VERSIONED} <= tables:
        return
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            cursor.execute(_BUMP_FUNCTION)
        for table in _VERSIONED:
            if database.vendor == "postgresql":
                cursor.execute(f'DROP TRIGGER IF EXISTS "{table}_version" ON "{table}"')
                cursor.execute(
                    f'CREATE TRIGGER "{table}_version" AFTER INSERT OR UPDATE OR DELETE ON "{table}" '
                    "FOR EACH STATEMENT EXECUTE FUNCTION bump_registry_version()"
                )
                continue
            for event in ("INSERT", "UPDATE", "DELETE"):
                name = f"{table}_version_{event.lower()}"
                cursor.execute(f'DROP TRIGGER IF EXISTS "{name}"')
                cursor.execute(
                    f'CREATE TRIGGER "{name}" AFTER {event} ON "{table}" '  # noqa: S608  # every name is one of ours
                    "BEGIN UPDATE pkm_registry_version SET version = lower(hex(randomblob(16))); END"
                )
        cursor.execute(
            "INSERT INTO pkm_registry_version (id, version) SELECT 1, %s "
            "WHERE NOT EXISTS (SELECT 1 FROM pkm_registry_version)",
            [uuid4().hex],
        )
