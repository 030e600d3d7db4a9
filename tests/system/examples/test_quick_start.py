"""Every snippet of the quick start does what it says, in its order, against the real application."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import invitation_of
from tests.system.bridge.hosts import ROOT
from tests.system.bridge.steps import FOOD
from tests.system.bridge_js.conftest import package  # noqa: F401  # a fixture
from tests.system.bridge_js.node import node

QUICK_START = (ROOT / "docs" / "quick-start.md").read_text()
SNIPPETS = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", QUICK_START, re.MULTILINE | re.DOTALL))
APPROVED = {"lifestyle": {"food": FOOD}}


@pytest.fixture
def place(tmp_path, environment, person):
    """A folder with every snippet in a file of its name, and the environment that they run in."""
    for name, text in SNIPPETS.items():
        (tmp_path / name).write_text(text)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return tmp_path, {**environment, "PATH": path, "USER_ID": invitation_of(person)}


def run(place, script, owner):
    """What a script printed; whatever it asks the person for is approved as soon as it says where."""
    folder, environment = place
    process = subprocess.Popen(
        ["bash", "-e", script], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    printed = ""
    with process:
        for line in process.stdout:
            printed += line
            if found := re.search(r"/consent/requests/(req_\w+)/", line):
                owner.approve(owner.review(found[1]), invited=True)
        complained = process.stderr.read()
    assert process.returncode == 0, f"{printed}\n{complained}"
    return printed


def test_every_snippet_has_a_test_and_none_stands_outside():
    fenced = re.findall(r"^```(\w+)(.*)$", QUICK_START, re.MULTILINE)
    scripts = {name for name in SNIPPETS if name.endswith(".sh")}

    assert [kind for kind, name in fenced if not name.strip()] == ["text"]  # the variables, which a fixture sets
    assert scripts == {"discover.sh", "ask.sh", "read.sh", "python.sh", "node.sh"}
    for name in SNIPPETS.keys() - scripts:
        assert any(name in SNIPPETS[script] for script in scripts), name


def test_with_curl_and_a_jose_library(place, owner):
    discovered = json.loads(run(place, "discover.sh", owner))
    assert "/consent/requests/req_" in run(place, "ask.sh", owner)
    made_request = json.loads((place[0] / "asked.json").read_text())
    read = run(place, "read.sh", owner)

    assert "attr.lifestyle.food.*" in discovered["scopes"]
    assert made_request["status"] == "pending"
    assert json.loads(read[read.rindex('{"lifestyle"') :]) == APPROVED
    assert (place[0] / "app.jwk").stat().st_mode & 0o777 == 0o600


REFUSAL = {"status": 403, "code": "insufficient_permission", "detail": "This token may not do that."}


@pytest.mark.parametrize(
    ("program", "answer"),
    [("check_request.py", "asked.json"), ("check_status.py", "status.json"), ("open_export.py", "export.json")],
)
def test_each_answer_is_checked(place, owner, program, answer):
    folder, environment = place
    run(place, "ask.sh", owner)
    (folder / answer).write_text(json.dumps(REFUSAL))

    done = subprocess.run([sys.executable, program], cwd=folder, env=environment, capture_output=True)

    assert (done.returncode, done.stderr.decode().strip()) == (1, REFUSAL["detail"])


def test_a_refused_look_ends_the_script(place):
    folder, environment = place
    refused = {**environment, "USER_ID": "usr_nobody"}

    done = subprocess.run(["bash", "-e", "discover.sh"], cwd=folder, env=refused, capture_output=True)

    assert done.returncode == 22
    assert json.loads(done.stdout)["code"] == "unknown_user"


def test_the_check_finds_what_the_person_would_be_shown_instead(place, owner):
    folder, environment = place
    run(place, "ask.sh", owner)
    made_request = json.loads((folder / "asked.json").read_text())
    made_request["request"]["purpose"] = "Sell what you like"
    (folder / "asked.json").write_text(json.dumps(made_request))

    done = subprocess.run([sys.executable, "check_request.py"], cwd=folder, env=environment, capture_output=True)

    assert done.returncode == 1
    assert b"something else than what was asked" in done.stderr


@pytest.mark.parametrize(
    ("terms", "path"),
    [
        ({"scope": "attr.identity.basic.age_over_18"}, "identity.basic.age_over_18"),
        (
            {
                "scope": "attr.identity.*",
                "required_attributes": ["identity.basic.birth_date"],
                "accepts": {"identity.basic.birth_date": ["identity.basic.age_over_18"]},
            },
            "identity.basic.age_over_18",
        ),
    ],
    ids=["asked for", "accepted"],
)
def test_the_check_takes_an_answer_in_place_of_a_value_as_it_was_asked_for(place, owner, terms, path):
    folder, environment = place
    owner.update("identity", "basic", {"birth_date": "1990-05-17"})
    (folder / "make_request.py").write_text(
        SNIPPETS["make_request.py"].replace('with open("body.json"', f'body |= {terms!r}\nwith open("body.json"')
    )
    done = subprocess.run(["bash", "-e", "ask.sh"], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "/consent/requests/req_" in done.stdout

    made_request = json.loads((folder / "asked.json").read_text())
    made_request["request"]["derived"][path]["from"] = "identity.basic.full_name"
    (folder / "asked.json").write_text(json.dumps(made_request))
    done = subprocess.run([sys.executable, "check_request.py"], cwd=folder, env=environment, capture_output=True)
    assert b"something else than what was asked" in done.stderr


def test_opening_refuses_the_answer_to_another_request(place, owner):
    folder, environment = place
    run(place, "ask.sh", owner)
    run(place, "read.sh", owner)
    made_request = json.loads((folder / "asked.json").read_text())
    (folder / "asked.json").write_text(json.dumps({**made_request, "request_id": "req_other"}))

    done = subprocess.run([sys.executable, "open_export.py"], cwd=folder, env=environment, capture_output=True)

    assert done.returncode == 1
    assert b"not the answer to this request" in done.stderr


def test_with_the_python_client(place, owner):
    assert ast.literal_eval(run(place, "python.sh", owner).splitlines()[-1]) == APPROVED


def test_with_the_node_client(place, owner, package):  # noqa: F811  # the fixture
    folder, environment = place
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "consent-bridge").symlink_to(package)
    environment["PATH"] = f"{Path(node()).parent}{os.pathsep}{environment['PATH']}"

    assert json.loads(run((folder, environment), "node.sh", owner).splitlines()[-1]) == APPROVED
