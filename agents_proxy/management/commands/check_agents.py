"""`manage.py check_agents`: ask each agent that is configured something harmless, and say what is wrong."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents_proxy.agents import AGENTS
from agents_proxy.health.checks import check


class Command(BaseCommand):
    help = "Ask each configured agent for its card or for a task that is none, about nobody, and say what is wrong."

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = 0
        for agent in AGENTS:
            finding = check(agent)
            wrong += finding.is_wrong
            self.stdout.write(f"{'✗' if finding.is_wrong else '✓'} {agent}: {finding.words}")
        if wrong:
            raise CommandError(f"{wrong} of {len(AGENTS)} agents cannot be asked as they are configured.")
