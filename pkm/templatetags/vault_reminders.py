"""What the vault's pages remind of, wherever they ask to unlock."""

from django import template
from django.template.context import RequestContext

from accounts.authentication import person_of
from pkm.vault import queries as vault_queries

register = template.Library()


@register.simple_tag(takes_context=True)
def needs_new_secrets(context: RequestContext) -> bool:
    """Whether whoever looks at this page has unlocked with the recovery code and made nothing new since."""
    return vault_queries.needs_new_secrets(person_of(context.request))
