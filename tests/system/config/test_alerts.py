"""Each alert fires once its fault is made, and not before: Prometheus's own evaluation of the rules that are shipped.

What is scraped of a real server and worker before and after a fault stands for an hour of it: what a counter gained is
gained each minute, what showed life goes on to, what grew older grows older. Waiting for that hour would show no more.
"""

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from consent.ledger.models import AuditPending
from developers.models import App
from tests import factories
from tests.agents_proxy.proxy_calls import consenting
from tests.callers import Developer, signed_in
from tests.factories.accounts import OutgoingMailFactory
from tests.patience import eventually
from tests.served_site import ROOT
from tests.system.config.watching import Samples, Watched

PROMTOOL = shutil.which("promtool")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(PROMTOOL is None, reason="promtool, of Prometheus, is not installed"),
]
ALERTS = ROOT / "deploy" / "monitoring" / "alerts.yaml"
BEAT, AGE = "consent_heartbeat_timestamp_seconds", "consent_queue_age_seconds"
RULES = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
MINUTES = 60
Series = list[dict[str, str]]  # as promtool's tests write them
TASKS = "consent_task_duration_seconds_count"


def series(before: Samples, after: Samples | None) -> Series:
    """An hour of it, a value a minute; without `after` nobody answered a scrape any more."""
    up = {"series": 'up{job="consent"}', "values": f"{int(after is not None)}x{MINUTES}"}
    found = [
        {"series": _named(*key), "values": _values(key[0], before.get(key), value)}
        for key, value in (after or {}).items()
    ]
    return [up, *found]


def _named(name: str, labels: frozenset[tuple[str, str]]) -> str:
    pairs = {**dict(labels), "job": "consent"}
    return f"{name}{{{','.join(f'{label}={json.dumps(text)}' for label, text in sorted(pairs.items()))}}}"


def _values(name: str, before: float | None, after: float) -> str:
    gained = after - (before or 0.0)
    if name.startswith("consent_heartbeat"):  # an hour that begins at 0
        return f"0+60x{MINUTES}" if gained else f"0x{MINUTES}"
    if name.startswith("consent_queue_age"):
        return f"{after}+60x{MINUTES}" if gained > 0 and before else f"{after}x{MINUTES}"
    is_counter = name.endswith(("_total", "_count", "_bucket", "_sum"))
    first = "_ " if before is None else ""  # what is told for the first time is no increase
    return first + (f"{before or after}+{gained}x{MINUTES}" if is_counter else f"{after}x{MINUTES}")


def firing(before: Samples, after: Samples | None, folder: Path) -> set[str]:
    """The alerts that fire at the end of the hour."""
    return firing_after(MINUTES, series(before, after), folder)


def firing_after(minutes: int, given: Series, folder: Path) -> set[str]:
    """The alerts that fire then."""
    names = [rule["alert"] for rule in RULES]
    expected = [
        {
            "expr": f'group(ALERTS{{alertname="{name}", alertstate="firing"}}) or vector(0)',
            "eval_time": f"{minutes}m",
            "exp_samples": [{"labels": "{}", "value": -1}],  # never: what it is instead is printed
        }
        for name in names
    ]
    test = {"interval": "1m", "input_series": given, "promql_expr_test": expected}
    file = folder / "rules-test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run([str(PROMTOOL), "test", "rules", file], capture_output=True, text=True, check=False)
    got = re.findall(r'alertname=\\"(\w+).*\n.*\n +got: \{\} (\S+)', done.stdout + done.stderr)
    assert [name for name, _ in got] == names, done.stdout + done.stderr
    return {name for name, value in got if float(value) == 1}


@contextmanager
def watched(var: Path, **environment: str) -> Iterator[Watched]:
    made = Watched(var, **environment)
    try:
        made.start()
        yield made
    finally:
        made.end()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has locks to wait for, and a pool")
def test_alerts_about_answers(tmp_path: Path) -> None:
    person, request = consenting(factories.PersonFactory()), factories.ConsentRequestFactory()
    api = Developer.of(request.app)
    nowhere = {"AGENT_BRAND_URL": "http://127.0.0.1:9"}
    few = {"SIGN_IN_FAILURES": "1", "STATUS_WAITERS": "1", "STATUS_POLL_BURST": "1", "DATABASE_POOL": "2"}
    crashing = {"DJANGO_SETTINGS_MODULE": "tests.system.canary.crashing_settings"}
    with watched(tmp_path, **nowhere, **few, **crashing) as site:
        status = f"/api/v1/consent-status?request_id={request.request_id}"
        assert [site.get("/livez"), site.get("/accounts/login/"), site.get(status, api.token)] == [200, 200, 200]
        eventually(lambda: site.value("consent_database_pool", state="waiting") == 0, "connections for those who began")
        # a process may take more than a second for its first page; and nobody signs the log, so that its queue ages
        begun = {key: value for key, value in site.samples().items() if key[0] != AGE}
        assert site.get("/api/v1/scope-catalog", api.token) == 200
        healthy = site.samples()
        silent = {"ConsentWorkerOrTimerSilent"}  # there is none here
        assert firing(begun, healthy, tmp_path) == silent

        assert site.get("/api/v1/crash", api.token) == 500
        _ask_agent(site, person)
        assert slow_page(site) == 404
        for _ in range(70):
            site.get(status, api.token)
        waiting = threading.Thread(target=site.get, args=(f"{status}&wait=30", api.token))
        waiting.start()
        eventually(lambda: site.value("consent_held_share", kind="answers") == 1, "the long poll")
        fired = firing(healthy, site.samples(), tmp_path)
        assert api.post("/end-consent", {"request_id": request.request_id}).status_code == 200
        waiting.join()

        assert fired == silent | {
            "ConsentLogLate", "ConsentErrors", "ConsentSlow", "ConsentManyHeld", "ConsentLimitsHit",
            "ConsentAgentFails",
        }  # fmt: skip
        assert "ConsentPoolExhausted" in firing(healthy, crowded(site), tmp_path)
        assert guess_passwords(site, 2) == [200, 429]
        before = site.samples()
        assert set(guess_passwords(site, 20)) == {429}
        assert "ConsentSignInRefused" in firing(before, site.samples(), tmp_path)
        before = site.samples()
        site.server.stop()
        assert not site.answers()
        assert firing(before, None, tmp_path) == silent | {"ConsentNotScraped"}


def guess_passwords(site: Watched, times: int) -> list[int]:
    """The statuses of so many attempts at one account."""
    cookies = {settings.CSRF_COOKIE_NAME: "t" * 32}
    headers = {"X-CSRFToken": "t" * 32, "Origin": site.server.address}
    form = {"login": "nobody@people.test", "password": "wrong"}
    address = f"{site.server.address}/accounts/login/"
    return [
        requests.post(address, data=form, cookies=cookies, headers=headers, timeout=60).status_code
        for _ in range(times)
    ]


def _ask_agent(site: Watched, person: Any) -> None:
    session = signed_in(person).client.cookies[settings.SESSION_COOKIE_NAME].value
    cookies = {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: "t" * 32}
    headers = {"X-CSRFToken": "t" * 32, "Origin": site.server.address}
    address = f"{site.server.address}/api/a2a/brand"
    assert (
        requests.post(address, json={"text": "Who?"}, cookies=cookies, headers=headers, timeout=60).status_code == 502
    )


def slow_page(site: Watched) -> int:
    """The status of a page whose statement had to wait for more than a second."""
    found: list[int] = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE marketplace_public_profiles")
        asking = threading.Thread(target=lambda: found.append(site.get("/people/nobody/")))
        asking.start()
        waits = (
            "SELECT 1 FROM pg_locks WHERE relation = 'marketplace_public_profiles'::regclass"
            " AND NOT granted AND clock_timestamp() > waitstart + interval '1.1 seconds'"
        )
        eventually(lambda: cursor.execute(waits).fetchone(), "a statement that waits")
    asking.join()
    return found[0]


def crowded(site: Watched) -> Samples:
    """What is scraped while more is asked than the connections of the pool allow."""
    enough, crowd = threading.Event(), []

    def ask() -> None:
        while not enough.is_set():
            site.get("/people/nobody/")

    try:
        for _ in range(20):
            crowd.append(threading.Thread(target=ask))
            crowd[-1].start()
        found: Samples = {}

        def waits() -> bool:
            nonlocal found
            found = site.samples()
            return found["consent_database_pool", frozenset({("state", "waiting")})] > 0

        eventually(waits, "who waits for a connection")
        return found
    finally:
        enough.set()
        for each in crowd:
            each.join()


def test_alerts_about_worker_queues_and_log(tmp_path: Path) -> None:
    endpoint = factories.WebhookEndpointFactory(url="http://127.0.0.1:9/hook")
    api = Developer.of(endpoint.app)
    away = {"EMAIL_URL": "smtp://127.0.0.1:9", "WEBHOOK_INTERNAL_ADDRESSES": "true"}
    with watched(tmp_path, **away) as site:
        site.start_worker()
        parts = [{"part": part} for part in ("worker", "timer", "sequencer")]
        first = eventually_all(site, parts)
        end_one(api, endpoint.app)  # the sequencer looks once a minute while nothing happens
        eventually(
            lambda: all(site.value(BEAT, **each) > first[each["part"]] for each in parts), "their next signs of life"
        )
        began = {**site.samples(), **{(BEAT, frozenset(each.items())): first[each["part"]] for each in parts}}
        assert firing(began, site.samples(), tmp_path) == set()

        OutgoingMailFactory()
        factories.WebhookDeliveryFactory(endpoint=endpoint)
        send_broken_task(site)
        failed = {
            "consent_mails_total": {"outcome": "away"},
            "consent_webhook_attempts_total": {"outcome": "failed"},
            "consent_task_duration_seconds_count": {"task": "agents_proxy.tasks.run_analysis", "state": "FAILURE"},
        }
        eventually(lambda: all(site.value(name, **labels) for name, labels in failed.items()), "all three failures")
        assert firing(began, site.samples(), tmp_path) == {
            "ConsentMailsFail", "ConsentWebhooksFail", "ConsentTasksFail",
        }  # fmt: skip

        site.kill_worker()
        end_one(api, endpoint.app)
        OutgoingMailFactory(due_at=timezone.now() - timedelta(hours=1))
        AuditPending.objects.create(chain="app:none", kind="test", actor="test", at=timezone.now(), facts={})
        dead = site.samples()
        older = lambda: site.value(AGE, queue="log") > dead[AGE, frozenset({("queue", "log")})] > 0  # noqa: E731
        eventually(older, "an entry that waits")
        assert firing(dead, site.samples(), tmp_path) >= {
            "ConsentWorkerOrTimerSilent", "ConsentSequencerSilent", "ConsentLogLate", "ConsentAuditWaits",
            "ConsentQueueLate",
        }  # fmt: skip


HEALTHY = [
    {"series": f'consent_heartbeat_timestamp_seconds{{part="{part}"}}', "values": "0+60x300"}
    for part in ("worker", "timer")
]
HEALTHY += [{"series": 'up{job="consent"}', "values": "1x300"}]


def counted(name: str, labels: str, every: int) -> Series:
    """Five hours of a counter that gains one each so many minutes."""
    values = " ".join(str(minute // every) for minute in range(301))
    return [{"series": f"{name}{{{labels}}}", "values": values}]


@pytest.mark.parametrize("minutes", [10, 60])
def test_a_task_that_runs_seldom_and_always_fails_is_noticed(minutes: int, tmp_path: Path) -> None:
    failing = counted(TASKS, 'task="a",state="FAILURE"', minutes)
    working = counted(TASKS, 'task="a",state="SUCCESS"', minutes)
    others = counted(TASKS, 'task="b",state="SUCCESS"', minutes)

    assert firing_after(300, [*HEALTHY, *failing, *others], tmp_path) == {"ConsentTasksFail"}
    assert firing_after(300, [*HEALTHY, *failing, *working], tmp_path) == set()
    assert firing_after(300, [*HEALTHY, *others], tmp_path) == set()


def test_a_group_of_servers_that_is_away_is_noticed(tmp_path: Path) -> None:
    def probed(success: int) -> Series:
        path = "https://consent.example/readyz/slow"
        return [{"series": f'probe_success{{job="consent-ready",instance="{path}"}}', "values": f"{success}x60"}]

    assert firing_after(60, [*HEALTHY, *probed(1)], tmp_path) == set()
    assert firing_after(60, [*HEALTHY, *probed(0)], tmp_path) == {"ConsentGroupAway"}


def test_a_sequencer_that_went_to_another_machine_is_not_missed_while_the_log_is_on_time(tmp_path: Path) -> None:
    """Where it counted once, its last sign of life stays."""
    gone = [{"series": f'{BEAT}{{part="sequencer"}}', "values": "0x60"}]

    def late(seconds: int) -> Series:
        return [{"series": f'{AGE}{{queue="log"}}', "values": f"{seconds}x60"}]

    assert firing_after(60, [*HEALTHY, *gone, *late(2)], tmp_path) == set()
    assert firing_after(60, [*HEALTHY, *gone, *late(120)], tmp_path) == {"ConsentSequencerSilent", "ConsentLogLate"}


def end_one(api: Developer, app: App) -> None:
    """A request, withdrawn: an entry for the log, and a webhook."""
    ended = api.post("/end-consent", {"request_id": factories.ConsentRequestFactory(app=app).request_id})
    assert ended.status_code == 200


def eventually_all(site: Watched, parts: list[dict[str, str]]) -> dict[str, float]:
    """Their first signs of life."""
    eventually(lambda: all(site.value(BEAT, **each) for each in parts), "signs of life")
    return {each["part"]: site.value(BEAT, **each) for each in parts}


def send_broken_task(site: Watched) -> None:
    code = (
        "import config.celery, django; django.setup(); config.celery.app.send_task('agents_proxy.tasks.run_analysis')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=site.environment, check=True, timeout=60)
