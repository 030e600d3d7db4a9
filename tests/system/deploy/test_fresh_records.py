"""`./run trip` with nothing there before: every record that the specification names in 2.1 has rows, and all hold."""

import os
import sqlite3
import subprocess
from pathlib import Path

from deploy.local.serving import free_port
from tests.served_site import ROOT

PKM_DATA_PLANE = (
    "pkm_index", "pkm_scope_registry", "pkm_blobs", "vault_keys", "pkm_manifests", "pkm_manifest_paths", "pkm_events",
    "pkm_migration_state",
)  # fmt: skip
SHARED = (
    "consent_audit", "consent_exports", "developer_applications", "developer_apps", "developer_tokens",
    "vault_key_wrappers", "runtime_persona_state", "domain_registry", "actor_profiles", "legacy_encrypted_blobs",
)  # fmt: skip
# What there is only by somebody's own act, which the sample does not make up for them.
BY_AN_ACT = ("consent_scope_templates", "marketplace_public_profiles", "legacy_metadata_index")
# What the agents' side of the trip leaves behind.
PROFILES = (
    "aggregator_items", "aggregator_link_sessions", "aggregator_refresh_runs", "analysis_runs", "outbound_messages",
    "processing_consents", "activations", "activation_destinations",
)  # fmt: skip


def test_after_a_fresh_run_every_record_has_rows_and_everything_holds(tmp_path: Path) -> None:
    own = {"CONSENT_VAR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": "", "PORT": str(free_port())}
    environment = {**os.environ, **own, "DJANGO_SETTINGS_MODULE": "config.settings"}
    for name in ("SECRET_KEY", "DATA_ENCRYPTION_KEYS", "RECEIPT_KEYS", "BASE_URL"):
        environment.pop(name, None)  # of the tests' own run: a fresh one makes them

    def run(*arguments: str) -> str:
        done = subprocess.run(["./run", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"./run {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    first = run("trip")
    for line in (
        "5/5 read", "core-profile made ", "favourite cuisine is now Georgian",
        "linked Lindenau Savings Bank", "4/4 second: ", " fields of Mara Lindholm", "coverage ",
        "ask       core: ", "sports_interest stays rowing by the owner's word (", "second says volleyball)",
        "Neighbourhood CRM, which a consent names, got ",
        "the gateway reported it delivered",
    ):  # fmt: skip
        assert line in first, first

    with sqlite3.connect(f"file:{tmp_path / 'db.sqlite3'}?mode=ro", uri=True) as database:
        rows = {
            table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # names from above
            for table in (*PKM_DATA_PLANE, *SHARED, *BY_AN_ACT, *PROFILES)
        }
    assert {table for table, count in rows.items() if not count} == set(BY_AN_ACT)
    assert "old rows left: 2" in run("manage", "migration_status")
    assert "1 index rows tell what is kept." in run("manage", "check_index")
    assert ": all hold." in run("manage", "verify_audit")

    again = run("trip")  # with what the first left, on other ports where these are taken
    assert "read on at Lindenau Savings Bank" in again
    assert "sports_interest stays rowing" in again
    assert "Neighbourhood CRM, which a consent names, got " in again
    assert "the gateway reported it delivered" in again
