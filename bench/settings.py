"""The deployment's own settings, with one more address: the reference."""

from config.settings import *  # noqa: F403  # all of them

ROOT_URLCONF = PROGRAM_URLCONF = "bench.urls"
