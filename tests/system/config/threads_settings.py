"""The deployment's own settings, with one more address: one that names the threads of its process."""

from tests.served_settings import *  # noqa: F403  # all of them

ROOT_URLCONF = PROGRAM_URLCONF = "tests.system.config.threads_urls"
