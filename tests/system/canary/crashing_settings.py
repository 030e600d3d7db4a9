"""The deployment's own settings, with one more address: one that breaks."""

from config.settings import *  # noqa: F403  # all of them

ROOT_URLCONF = PROGRAM_URLCONF = "tests.system.canary.crashing_urls"
