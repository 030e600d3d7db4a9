"""What a member of staff does in the admin, for its tests."""

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse


def list_of(label: str, name: str) -> str:
    """The address of a model's list."""
    return reverse(f"admin:{label}_{name}_changelist")


def act(page: Client, label: str, name: str, action: str, *rows: Any, **more: Any) -> HttpResponse:
    """Choose rows in a list and run an action on them; the page that comes of it."""
    body = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    return page.post(list_of(label, name), body, follow=True)


def messages(answer: Any) -> list[str]:
    """What the page tells about what was just done."""
    return [str(message) for message in answer.context["messages"]]
