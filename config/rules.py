"""Every rule that the database is to hold, of all rooms."""

from functools import cache

from accounts.rules import RULES as ACCOUNTS_RULES
from agents_proxy.rules import RULES as AGENTS_RULES
from common.sql.triggers import Rule
from consent.rules import RULES as CONSENT_RULES
from developers.rules import RULES as DEVELOPERS_RULES
from pkm.rules import RULES as PKM_RULES
from pkm.rules import registry_version_triggers

RULES: tuple[Rule, ...] = (*ACCOUNTS_RULES, *CONSENT_RULES, *DEVELOPERS_RULES, *PKM_RULES, *AGENTS_RULES)


@cache
def wanted_triggers(vendor: str) -> frozenset[str]:
    """The names of all triggers that `migrate` leaves in a database of this kind (`sqlite` or `postgresql`)."""
    rules = {rule.trigger for rule in RULES if rule.statements(vendor)}
    return frozenset(rules | set(registry_version_triggers(vendor)))
