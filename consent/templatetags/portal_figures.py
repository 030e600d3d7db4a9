"""For the developer portal's pages, whose room knows no requests: what became of those of an app."""

from django import template

from consent.portal import figures
from developers.apps.models import App

register = template.Library()


@register.simple_tag
def decisions_of(app: App) -> figures.Decisions:
    return figures.decisions_of(app)


@register.simple_tag
def first_steps_of(app: App) -> list[figures.Step]:
    return figures.first_steps(app)
