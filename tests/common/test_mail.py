"""Every mail says that a machine wrote it."""

import ast
from pathlib import Path

import pytest
from django.core import mail as outgoing
from django.test import Client

from common import mail
from tests.factories import PersonFactory

ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("accounts", "agents_proxy", "common", "config", "consent", "developers", "pkm", "portal")
_SENDS = {"send_mail", "send_mass_mail", "mail_admins", "mail_managers", "EmailMessage", "EmailMultiAlternatives"}


def test_a_mail_says_that_nobody_typed_it() -> None:
    assert mail.send("Hello", "Words", "zoe@example.org")

    (sent,) = outgoing.outbox
    assert sent.message()["Auto-Submitted"] == "auto-generated"


@pytest.mark.django_db
@pytest.mark.parametrize("email", ["zoe@example.org", "nobody@example.org"])
def test_so_do_those_of_the_sign_in(email: str) -> None:
    PersonFactory(email="zoe@example.org")
    Client().post("/accounts/password/reset/", {"email": email})

    (sent,) = outgoing.outbox
    assert sent.message()["Auto-Submitted"] == "auto-generated"


def test_mails_are_sent_from_one_place() -> None:
    """Or one of them would not say it."""
    found = {
        str(program.relative_to(ROOT))
        for room in _ROOMS
        for program in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(program.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "django.core.mail"
        and _SENDS & {name.name for name in node.names}
    }  # fmt: skip
    assert found == {"common/mail.py"}
