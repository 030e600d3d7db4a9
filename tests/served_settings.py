"""The settings of a server that a test starts: the deployment's own, with the cheap password hash of the tests.

A sign-in at the deployment's cost takes 19 MiB and some hundredths of a second of a processor, and the tests make
hundreds of them at such servers. Those of the canaries, which look for secrets in the server's memory, have the
deployment's.
"""

from config.settings import *  # noqa: F403  # every setting, as deployments have it

PASSWORD_HASHERS = ["tests.password_hash.QuickArgon2"]
