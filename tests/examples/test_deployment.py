"""The examples of `deploy/` agree with each other, with the settings and with the database's own rules."""

import re
import shlex

import pytest
from django.apps import apps

from common.sql.triggers import Rule
from consent.rules import RULES as CONSENT_RULES
from deploy.local.serving import THREADS
from developers.rules import RULES as DEVELOPERS_RULES
from pkm.rules import RULES as PKM_RULES
from tests.system.bridge.hosts import ROOT

DEPLOY = ROOT / "deploy"
PROGRAMS = ("granian", "celery")
FAST, SLOW, WORKER = "--blocking-threads 16", f"--blocking-threads {THREADS}", "--concurrency 16"
TOOLS_WORKERS, TOOLS_THREADS = 2, 450  # as they were measured; the threads are of each worker
TOOLS = f"--blocking-threads {TOOLS_THREADS}"
NAMES = {FAST: "consent-fast", SLOW: "consent-slow", TOOLS: "consent-tools", WORKER: "consent-worker"}


def default(name):
    """A whole number out of env.example."""
    return int(re.search(rf"^{name}=(\d+)$", (ROOT / "env.example").read_text(), re.MULTILINE)[1])


def of_systemd():
    for path in (DEPLOY / "systemd").glob("*.service"):
        yield path.stem, shlex.split(re.search(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)[1])


def test_the_registry_follows_the_migration():
    """A new attribute of the starter list reaches a database that there is by `sync_registry` alone."""
    assert "manage.py migrate && python manage.py sync_registry &&" in (ROOT / "docs" / "operating.md").read_text()


def of_the_handbook():
    for line in re.findall(
        r"`((?:granian|celery) [^`]+)`", " ".join((ROOT / "docs" / "operating.md").read_text().split())
    ):
        threads = re.search(r"--(?:blocking-threads|concurrency) \d+", line)
        yield NAMES.get(threads and threads[0]), line


def test_each_process_has_the_threads_that_it_needs():
    found = {name: " ".join(command) for name, command in of_systemd()}

    assert FAST in found["consent-fast"]
    assert SLOW in found["consent-slow"]
    assert f"--workers {TOOLS_WORKERS} {TOOLS}" in found["consent-tools"]
    for unit in ("consent-slow", "consent-tools"):
        assert "--backlog 2048" in found[unit]  # granian takes on no more than that at once
    assert WORKER in found["consent-worker"]


def test_one_process_sequences_the_log_and_no_other_does():
    sequencers = [name for name, command in of_systemd() if command[-2:] == ["manage.py", "sequence_log"]]

    assert sequencers == ["consent-log"]


def test_the_sequencer_shares_neither_secrets_nor_state():
    units = {path.stem: path.read_text() for path in (DEPLOY / "systemd").glob("*.service")}
    for name in ("User", "EnvironmentFile", "StateDirectory", "Environment"):
        values = {stem: re.findall(rf"^{name}=(.*)$", text, re.MULTILINE) for stem, text in units.items()}
        own = values.pop("consent-log")
        assert len(own) == 1
        assert own not in values.values()


def test_state_and_sockets_are_closed_to_other_users_of_the_machine():
    for path in (DEPLOY / "systemd").glob("*.service"):
        lines = path.read_text().splitlines()
        assert {"UMask=0077", "StateDirectoryMode=0700"} <= set(lines), path.name
        assert ("RuntimeDirectoryMode=0750" in lines) is any(line.startswith("RuntimeDirectory=") for line in lines)


def test_the_sequencers_variables_are_ones_that_are_read():
    handbook = (ROOT / "docs" / "operating.md").read_text()
    table = handbook.split("| variable | the sequencer |")[1].split("\n\n")[0]
    named = set(re.findall(r"`([A-Z_]{5,})`", table))

    read = set(re.findall(r"^([A-Z_0-9]+)=", (ROOT / "env.example").read_text(), re.MULTILINE))
    assert {"LOG_KEYS", "LOG_VERIFIER_KEYS", "LOG_SIGNER_FILE", "LOG_MIRROR", "LOG_WITNESSES"} <= named <= read


def test_the_texts_name_the_same_threads():
    assert set(NAMES.values()) <= {name for name, _ in of_the_handbook()}
    table = (DEPLOY / "README.md").read_text()
    for name, threads in (("fast", "16"), ("slow", str(THREADS)), ("tools", str(TOOLS_THREADS)), ("worker", "16")):
        assert re.search(rf"^\| `consent-{name}` \|.*\| {threads}\b", table, re.MULTILINE), name


def test_threads_are_more_than_what_may_be_held():
    assert default("A2A_CALLS_IN_FLIGHT") + default("STATUS_WAITERS") < THREADS
    assert default("STATUS_WAITERS") < TOOLS_THREADS
    assert int(WORKER.split()[1]) > default("ANALYSES_AT_ONCE")


@pytest.mark.parametrize(
    ("where", "group"),
    [
        ("/api/a2a/", "slow"),
        ("/profile/", "slow"),
        ("= /api/v1/consent-events", "slow"),
        ("= /api/v1/request-consent", "slow"),
        ("= /oauth/authorize/", "slow"),
        ("= /mcp", "tools"),
        ("= /mcp/", "tools"),
    ],
)
def test_what_may_hold_its_answer_keeps_no_thread_of_the_fast_group(where, group):
    (block,) = re.findall(rf"^ +location {where} {{(.*)}}$", nginx(), re.MULTILINE)

    assert f"proxy_pass http://consent_{group};" in block


@pytest.mark.parametrize(
    ("query", "slow"),
    [
        ("request_id=req_a", False),
        ("request_id=req_a&wait=0", False),
        ("request_id=req_a&wait=30", True),
        ("wait=030&request_id=req_a", True),
        ("request_id=req_a&w%61it=30", True),
    ],
)
def test_what_waits_goes_to_the_slow_group(query, slow):
    pattern = re.search(r'\$consent_wait_group \{.*"~(.*)" consent_slow', nginx())[1]

    assert bool(re.search(pattern, query)) is slow


@pytest.mark.parametrize("where", ["= /api/v1/consent-status", "/api/v1/connections/"])
def test_an_address_that_takes_a_wait_is_told_by_its_query(where):
    (block,) = re.findall(rf"^ +location {where} {{(.*)}}$", nginx(), re.MULTILINE)

    assert block.strip() == "proxy_read_timeout 45s; proxy_pass http://$consent_wait_group;"


def test_nginx_listens_on_ipv6_as_on_ipv4():
    ports = re.findall(r"^ +listen (\d+)( [^;]*)?;", nginx(), re.MULTILINE)

    assert [port for port, _ in ports] == ["80", "443"]
    assert re.findall(r"^ +listen \[::\]:(\d+)( [^;]*)?;", nginx(), re.MULTILINE) == ports


def test_each_group_can_be_probed_through_nginx():
    probed = re.findall(r"location = (/readyz\S*) .* proxy_pass http://consent_(\w+)", nginx())

    assert probed == [("/readyz", "fast"), ("/readyz/slow", "slow"), ("/readyz/tools", "tools")]


def nginx():
    return (DEPLOY / "nginx" / "consent.conf").read_text()


def test_the_roles_name_tables_that_are_there_and_all_that_is_only_added_to():
    statements = re.sub(r"--.*", "", (DEPLOY / "postgresql" / "roles.sql").read_text())
    named = {
        (verb, table)
        for verb, tables in re.findall(r"(REVOKE UPDATE|GRANT DELETE) ON\s+([a-z_,\s]+?)\s+(?:FROM|TO)", statements)
        for table in re.split(r",\s*", tables)
    }
    known = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    rules = (*CONSENT_RULES, *DEVELOPERS_RULES, *PKM_RULES)
    unchanging = {rule.table for rule in rules if refuses_any(rule, "UPDATE")}
    ageing = {rule.table for rule in rules if rule.event == "DELETE" and "days_ago" in rule.condition}
    leaving = {rule.table for rule in PKM_RULES if refuses_any(rule, "INSERT")}  # what the old system left

    assert {table for _, table in named} <= known
    assert unchanging <= {table for verb, table in named if verb == "REVOKE UPDATE"}
    removable = {table for verb, table in named if verb == "GRANT DELETE"}
    assert not removable & {rule.table for rule in rules if refuses_any(rule, "DELETE")}
    assert unchanging & removable == leaving | ageing & unchanging
    assert re.search(rf"REVOKE INSERT ON {', '.join(sorted(leaving))} FROM", statements)


def refuses_any(rule: Rule, event: str) -> bool:
    return rule.event == event and not rule.condition
