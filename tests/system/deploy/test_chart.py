"""The chart of `deploy/chart/`, rendered by helm as it stands and with each of its options; no cluster runs here."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from config.env import ROOT
from deploy.local.releasing import CHART, helm
from tests.architecture.test_environment import names_in_example
from tests.examples.test_deployment import FAST, SLOW, TOOLS, TOOLS_WORKERS, WORKER
from tests.fresh import fresh_secrets

pytestmark = pytest.mark.skipif(helm() is None, reason="there is no helm for this machine in requirements-dev.in")
HANDBOOK = (ROOT / "docs" / "operating.md").read_text()
[EXAMPLE] = re.findall(r"```yaml\n(host: .*?)```", HANDBOOK, re.DOTALL)
CONTROLLER = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}]
PEERS = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "prometheus"}}}]
CALLERS = ("--set-json", f"networkPolicy.from={json.dumps(CONTROLLER)}")
OPTIONS = {
    "default": CALLERS,
    "handbook": (*CALLERS, "--values", "-"),
    "scaling": (*CALLERS, "--set", "web.fast.maxReplicas=6", "--set", "web.slow.replicas=2"),
    "files": (*CALLERS, "--set", "files=consent-files,env.SITE_PAGES=/etc/consent,release=mine"),
    "digest": (*CALLERS, "--set", "image.tag=sha256:0a", "--set-json", 'image.pullSecrets=[{"name":"registry"}]'),
    "peers": ("--set-json", f"networkPolicy={json.dumps({'from': CONTROLLER, 'metricsFrom': PEERS})}"),
    "storage": (*CALLERS, "--set", "log.storageClass=slow,ingress.className=nginx"),
    "least": ("--set", "log.enabled=false,ingress.enabled=false,networkPolicy.enabled=false"),
}  # fmt: skip
SERVERS = ("consent-fast", "consent-slow", "consent-tools")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(helm()), *arguments], input=EXAMPLE, capture_output=True, text=True, check=False)


@cache
def rendered(option: str = "default") -> list[dict[str, Any]]:
    """Everything that helm would bring to a cluster."""
    made = run("template", "consent", str(CHART), *OPTIONS[option])
    assert made.returncode == 0, made.stderr
    return [each for each in yaml.safe_load_all(made.stdout) if each]


def of(kind: str, option: str = "default") -> dict[str, dict[str, Any]]:
    return {made["metadata"]["name"]: made for made in rendered(option) if made["kind"] == kind}


def pods(option: str = "default") -> dict[str, dict[str, Any]]:
    """The specification of each kind of pod, by the name of what makes it."""
    made = [each for each in rendered(option) if "template" in each.get("spec", {})]
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in made}


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (*pod.get("initContainers", ()), *pod["containers"])


def process(name: str) -> dict[str, Any]:
    [container] = pods()[name]["containers"]
    return dict(container)


def sources(container: dict[str, Any]) -> list[str]:
    return [each["secretRef"]["name"] for each in container["envFrom"]]


@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_rendered_is_valid_for_the_oldest_and_the_newest_kubernetes(option: str) -> None:
    linted = run("lint", "--strict", str(CHART), *OPTIONS[option])
    oldest = re.search(r">=([\d.]+)\.", (CHART / "Chart.yaml").read_text())

    assert linted.returncode == 0, linted.stdout
    assert oldest is not None
    for made in rendered(option):
        for version in (oldest[1], kubernetes_validate.latest_version()):
            kubernetes_validate.validate(made, version, strict=True)


def test_the_options_are_seen() -> None:
    assert list(of("HorizontalPodAutoscaler", "scaling")) == ["consent-fast"]
    assert of("HorizontalPodAutoscaler", "scaling")["consent-fast"]["spec"]["maxReplicas"] == 6
    assert "replicas" not in of("Deployment", "scaling")["consent-fast"]["spec"]
    assert set(of("PodDisruptionBudget", "scaling")) == {"consent-fast", "consent-slow"}
    assert set(of("PodDisruptionBudget")) == {"consent-fast"}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert process("consent-fast")["image"].endswith(f"/consent-runtime:{version}")
    assert pods("digest")["consent-fast"]["containers"][0]["image"].endswith("/consent-runtime@sha256:0a")
    release = {"name": "release", "configMap": {"name": f"consent-release-{version}"}}
    assert pods()["consent-fast"]["volumes"][-1] == release
    assert pods("files")["consent-fast"]["volumes"][-1] == {"name": "release", "configMap": {"name": "mine"}}
    for pod in pods("files").values():
        assert {"name": "files", "configMap": {"name": "consent-files"}} in pod["volumes"]
        for container in containers(pod):  # psql too, whose address may name a certificate
            mounted = {"name": "files", "mountPath": "/etc/consent", "readOnly": True}
            assert mounted in container["volumeMounts"], container["name"]
    assert of("NetworkPolicy", "peers")["consent-all"]["spec"]["ingress"] == [
        {"from": PEERS, "ports": [{"port": 9464}]}
    ]
    servers = of("NetworkPolicy", "peers")["consent-servers"]["spec"]
    assert servers["ingress"] == [{"from": CONTROLLER, "ports": [{"port": 8000}]}]
    assert "ingress" not in of("NetworkPolicy")["consent-all"]["spec"]  # nobody
    assert not of("StatefulSet", "least") | of("Ingress", "least") | of("NetworkPolicy", "least")


@pytest.mark.parametrize("option", OPTIONS)
def test_each_container_is_confined_and_limited(option: str) -> None:
    for pod in pods(option).values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"] == {
            "runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }  # fmt: skip
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True,
            }  # fmt: skip
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            assert "memory" in container["resources"]["limits"]
    assert "uid 10001" in (ROOT / "deploy" / "image" / "Dockerfile").read_text()


def test_each_process_that_can_be_asked_is_probed() -> None:
    for name in SERVERS:
        server = process(name)
        probes = {probe: server[f"{probe}Probe"] for probe in ("startup", "liveness", "readiness")}
        assert [each["httpGet"]["path"] for each in probes.values()] == ["/livez", "/livez", "/readyz"]
        assert {each["httpGet"]["httpHeaders"][0]["value"] for each in probes.values()} == {"consent.example"}
        assert probes["readiness"]["timeoutSeconds"] > 1  # which /readyz itself may take
        assert probes["startup"]["periodSeconds"] * probes["startup"]["failureThreshold"] >= 120
    for name in ("consent-worker", "consent-beat"):
        made = process(name)
        address = {"name": "METRICS_ADDRESS", "value": "0.0.0.0:9464"}
        assert address in made["env"]  # where a worker answers once it works
        assert {"name": "metrics", "containerPort": 9464} in made["ports"]
        assert made["startupProbe"]["tcpSocket"] == made["livenessProbe"]["tcpSocket"] == {"port": "metrics"}


def test_keys_are_where_they_are_needed_and_nowhere_else() -> None:
    mounted = {
        name: {each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
        for name, pod in pods().items()
    }
    read = {name: {source for each in containers(pod) for source in sources(each)} for name, pod in pods().items()}

    assert mounted == {
        **{name: {"consent-receipt-keys"} for name in (*SERVERS, "consent-worker", "consent-migrate")},
        "consent-beat": set(),
        "consent-log": {"consent-log-keys"},
    }
    assert read == {
        **{name: {"consent-env"} for name in (*SERVERS, "consent-worker", "consent-beat")},
        "consent-log": {"consent-log-env"},
        "consent-migrate": {"consent-env", "consent-owner-env"},
    }
    migrating, roles = containers(pods()["consent-migrate"])
    assert sources(migrating)[-1] == sources(roles)[0] == "consent-owner-env"  # the last one's DATABASE_URL counts
    static = pods()["consent-fast"]["initContainers"][0]
    assert "keys" not in [each["name"] for each in static["volumeMounts"]]


def variables(name: str, keys: Path) -> dict[str, str]:
    """Those that the chart itself gives the first container with a program of ours, with its keys' folder as here."""
    container = next(containers(pods()[name])) if name == "consent-migrate" else process(name)
    return {each["name"]: each["value"].replace("/keys/", f"{keys}/") for each in container["env"]}


def test_what_each_process_is_given_is_enough_for_it(tmp_path: Path) -> None:
    """With the Secrets that the handbook has made, in one for the sequencer and in one for all others."""
    app = fresh_secrets()
    for kind in ("RECEIPT", "LOG"):
        (tmp_path / f"{kind.lower()}-keys.json").write_text(app.pop(f"{kind}_KEYS"))
    log = {"SECRET_KEY": app["SECRET_KEY"]}
    own = {"CONSENT_VAR": str(tmp_path / "var"), "PATH": os.environ["PATH"]}

    shown = manage("sequence_log", "--print-keys", env={**own, **log, **variables("consent-log", tmp_path)})
    app["LOG_VERIFIER_KEYS"] = shown.stdout.strip()
    server = variables("consent-fast", tmp_path)
    checked = manage("check", env={**own, **app, **server})
    timer = manage("check", "--tag", "log", env={**own, **app, **variables("consent-beat", tmp_path)})

    assert "+" in shown.stdout, shown.stderr
    assert checked.returncode == 0, checked.stderr
    assert timer.returncode == 0, timer.stderr
    assert variables("consent-worker", tmp_path) == server
    assert variables("consent-migrate", tmp_path) == {
        name: value for name, value in server.items() if name != "METRICS_ADDRESS"
    }


def manage(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_variable_is_one_that_is_read(option: str) -> None:
    named = {
        each["name"] for pod in pods(option).values() for container in containers(pod)
        for each in container.get("env", ())
    }  # fmt: skip

    assert {"BASE_URL", "RECEIPT_KEYS_FILE", "METRICS_ADDRESS"} <= named <= set(names_in_example())


def test_the_commands_are_the_images() -> None:
    dockerfile = (ROOT / "deploy" / "image" / "Dockerfile").read_text()
    serves = json.loads(re.findall(r"^CMD (.*)", dockerfile.replace("\\\n", ""), re.MULTILINE)[0])
    units = {
        name: (ROOT / "deploy" / "systemd" / f"consent-{name}.service").read_text()
        for name in ("worker", "beat", "log")
    }
    started = {
        name: re.findall(r"^ExecStart=\S+/\.venv/bin/(.*)$", unit, re.MULTILINE)[0] for name, unit in units.items()
    }

    for name in SERVERS:
        assert without_numbers(process(name)["command"]) == without_numbers(serves)
    assert {name: " ".join(process(f"consent-{name}")["command"]) for name in started} == started
    steps = next(containers(pods()["consent-migrate"]))["command"][-1]
    for copied in ("manage.py", "deploy/postgresql"):
        assert f"COPY {copied} " in dockerfile
    assert re.findall(r"manage\.py (\w+)", steps) == ["migrate", "sync_registry"]
    assert shutil.which("granian", path=str(Path(sys.executable).parent))


def without_numbers(command: list[str]) -> list[str]:
    return [word for word in command if not word.isdigit()]


def test_each_process_has_the_threads_that_it_needs() -> None:
    found = {name: " ".join(process(name)["command"]) for name in (*SERVERS, "consent-worker")}

    assert FAST in found["consent-fast"]
    assert SLOW in found["consent-slow"]
    assert f"--workers {TOOLS_WORKERS} {TOOLS}" in found["consent-tools"]
    assert WORKER in found["consent-worker"]
    for unit in ("consent-slow", "consent-tools"):
        assert "--backlog 2048" in found[unit]  # granian takes on no more than that at once


def test_there_is_one_timer_and_one_sequencer_whose_disk_outlives_it() -> None:
    timer, log = of("Deployment")["consent-beat"]["spec"], of("StatefulSet")["consent-log"]["spec"]

    assert (timer["replicas"], timer["strategy"]) == (1, {"type": "Recreate"})
    assert log["replicas"] == 1
    assert [each["metadata"]["name"] for each in log["volumeClaimTemplates"]] == ["state"]
    assert "state" not in [each["name"] for each in log["template"]["spec"]["volumes"]]


def test_the_database_comes_first_and_the_rights_after_the_tables() -> None:
    job = of("Job")["consent-migrate"]
    roles = process("consent-migrate")["command"][-1]

    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert roles == 'psql --set=role=consent_app --file=/var/lib/consent/roles.sql "$DATABASE_URL"'
    assert next(containers(pods()["consent-migrate"]))["command"][-1].endswith(
        "cp deploy/postgresql/roles.sql /var/lib/consent"
    )


def test_what_is_asked_for_and_selected_is_there() -> None:
    labels = {
        name: made["spec"]["template"]["metadata"]["labels"]
        for kind in ("Deployment", "StatefulSet", "Job") for name, made in of(kind).items()
    }  # fmt: skip
    for kind in ("Deployment", "StatefulSet", "PodDisruptionBudget"):
        for name, made in of(kind).items():
            assert made["spec"]["selector"]["matchLabels"] == labels[name]
    for name, made in of("Service").items():
        assert made["spec"]["selector"] == labels[name]
        assert made["spec"]["ports"][0]["targetPort"] in [each["name"] for each in process(name)["ports"]]

    slow = [
        "/api/a2a",
        "/profile",
        "/developers",
        "/oauth/authorize",
        *(
            f"/api/v1/{name}"
            for name in ("consent-status", "connections", "consent-events", "manage", "request-consent")
        ),
    ]
    groups = {
        each["path"]: each["backend"]["service"]["name"]
        for made in of("Ingress").values() for each in made["spec"]["rules"][0]["http"]["paths"]
    }  # fmt: skip
    assert groups == {
        **dict.fromkeys(("/", "/accounts", "/admin", "/readyz"), "consent-fast"),
        "/mcp": "consent-tools",
        **dict.fromkeys(slow, "consent-slow"),
    }  # fmt: skip
    assert set(of("Service")) == set(groups.values()) == set(SERVERS)
    policies = {name: made["spec"]["podSelector"] for name, made in of("NetworkPolicy").items()}
    assert {each["app.kubernetes.io/instance"] for each in labels.values()} == {"consent"}
    assert policies["consent-all"] == {"matchLabels": {"app.kubernetes.io/instance": "consent"}}
    assert policies["consent-servers"]["matchExpressions"][0]["values"] == ["fast", "slow", "tools"]


def test_what_is_for_staff_is_open_to_nobody_until_their_network_is_named() -> None:
    ingresses = of("Ingress")
    paths = {
        name: [each["path"] for each in made["spec"]["rules"][0]["http"]["paths"]] for name, made in ingresses.items()
    }
    allowed = ingresses["consent-admin"]["metadata"]["annotations"]

    assert paths["consent-admin"] == ["/admin", "/readyz"]
    assert allowed == {"nginx.ingress.kubernetes.io/whitelist-source-range": "127.0.0.1/32"}
    assert not {"/admin", "/readyz"} & {*paths["consent-pages"], *paths["consent-accounts"]}


def test_whoever_says_who_a_caller_is_has_to_be_named() -> None:
    """Else each pod of the cluster could call the servers as anybody."""
    refused = run("template", "consent", str(CHART))

    assert refused.returncode != 0
    assert "networkPolicy.from has to name who may call the servers" in refused.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        "nobody=knows", "host=under_score", "web.fast.threads=0", "web.fast.replicas=many", "web.other.threads=1",
        "worker.replicas=0", "beat.resources=null", "secrets.receipts=mine", "log.enabled=perhaps", "log.storage=large",
        "role=Consent App", "env.lower=1", "env.SECRET_KEY=s", "env.AGENT_CORE_TOKEN=t", "env.DATABASE_URL=postgres://db/consent",
        "env.LOG_KEYS_FILE=/etc/consent/log-keys.json", "env.BASE_URL=https://other.example", "env.LOG_VERIFIER_KEYS=k",
        "networkPolicy.from=everybody", "image.latest=true", "ingress.annotations.a=1",
    ],
)  # fmt: skip
def test_values_that_are_none_are_refused(wrong: str) -> None:
    assert "the schema" in run("template", "consent", str(CHART), "--set", wrong).stderr


def test_texts_are_no_numbers_where_a_variable_is_one() -> None:
    assert (
        "Expected: string, given: integer"
        in run("template", "consent", str(CHART), "--set", "env.DATABASE_POOL=5").stderr
    )
    assert run("template", "consent", str(CHART), *CALLERS, "--set-string", "env.DATABASE_POOL=5").returncode == 0
