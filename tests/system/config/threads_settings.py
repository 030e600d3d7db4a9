"""The deployment's own settings, with one more address: one that names the threads of its process."""

import os

from tests.served_settings import *  # noqa: F403  # all of them

DISCOVERY_FLUSH_SECONDS = REQUEST_LOG_FLUSH_SECONDS = int(os.environ.get("FLUSH_SECONDS", "1"))
ROOT_URLCONF = PROGRAM_URLCONF = "tests.system.config.threads_urls"
