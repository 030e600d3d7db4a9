"""The deployment's password hash at a cost that a test can pay for every person it signs in."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """The same form, so that the real server, which some tests start, takes it."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
