"""The deployment's own settings, with a shorter lease of a step."""

from config.settings import *  # noqa: F403  # all of them

ANALYSIS_LEASE_SECONDS = 8
