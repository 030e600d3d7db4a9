"""`./run` on Ctrl-C: the server, the worker and a stream that somebody reads are gone."""

import os
import signal
import subprocess
import sys
import threading

import pytest
import requests
from django.conf import settings

from deploy.local.serving import free_port
from tests.callers import Developer
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, database_url

SERVES = """
import sys
from deploy.local.serving import Interrupted, service, watch
try:
    with service({port}, {{"BASE_URL": "http://127.0.0.1:{port}"}}) as children:
        print("ready", flush=True)
        watch(children)
except Interrupted:
    sys.exit(0)
"""


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_ends_everything_with_a_stream_open(api: Developer) -> None:
    port = free_port()
    environment = {**os.environ, "CONSENT_VAR": str(settings.VAR), "DATABASE_URL": database_url()}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    process = subprocess.Popen(
        [sys.executable, "-c", SERVES.format(port=port)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip() == "ready"
        stream = requests.get(
            f"http://127.0.0.1:{port}/api/v1/consent-events",
            headers={"Authorization": f"Bearer {api.token}"},
            stream=True,
            timeout=60,
        )
        chunks: list[bytes] = []
        reading = threading.Thread(target=lambda: chunks.extend(stream.iter_content(chunk_size=None)))
        reading.start()
        eventually(lambda: chunks, "the beginning of the stream")

        process.send_signal(signal.SIGINT)
        code = process.wait(MOST_SECONDS)
        reading.join(MOST_SECONDS)
    finally:
        process.kill()
        output = process.stdout.read()
        process.stdout.close()
        process.wait()

    assert (code, output) == (0, "")  # nobody had to be ended the hard way
    assert b"retry: " in b"".join(chunks).strip().split(b"\n\n")[-1]
