"""The deployment's password hash at a cost that a test can pay for every person it signs in."""

from accounts.sign_in.password_hash import CappedArgon2


class QuickArgon2(CappedArgon2):
    """The same form, so that the real server, which some tests start, takes it."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
