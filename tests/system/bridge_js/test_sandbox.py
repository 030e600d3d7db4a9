"""The client for Node plays a person: by Node, against the real application."""

import json

from consent_bridge.synthetic import SYNTHETIC_PROFILE
from tests.callers import Developer
from tests.factories import TestAppFactory
from tests.system.bridge_js.node import ROOT, run
from tests.system.bridge_js.test_bridge_js import HERE, passed


def test_a_person_is_played(package, service, transactional_db, api):
    token = Developer.of(TestAppFactory(origins=["http://localhost:8090"])).token

    output = run(
        "--test", "--test-reporter=tap", HERE / "sandbox.test.mjs", SERVICE=service, TOKEN=token, LIVE_TOKEN=api.token
    )

    assert passed(output) == 8


def test_both_clients_fill_the_same_profile():
    source = ROOT / "bridge-js" / "src" / "synthetic.js"
    printed = run(
        "--input-type=module",
        "-e",
        f"import {{ SYNTHETIC_PROFILE }} from {json.dumps(str(source))};console.log(JSON.stringify(SYNTHETIC_PROFILE))",
    )

    assert json.loads(printed) == {".".join(place): values for place, values in SYNTHETIC_PROFILE.items()}
