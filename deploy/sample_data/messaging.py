"""What a message needs: an approved template, and a number that the sample owner verified."""

from django.apps import apps
from django.db.models import Max
from django.utils import timezone

from agents_proxy.digests import digest, digests
from common import encryption
from deploy.sample_data.content import MESSAGE_TEMPLATE, MESSAGE_TEXT, OWNER_NUMBER


def ensure_number(owner: dict[str, str]) -> str:
    """The number, verified for this person as a code that reached it would do it: whoever had it has it no more."""
    numbers = apps.get_model("agents_proxy.PhoneNumber").objects
    user = apps.get_model("accounts.User").objects.get(email=owner["email"])
    same = numbers.filter(digest__in=digests("number", OWNER_NUMBER))
    if not same.filter(user=user, verified_at__isnull=False).exists():
        same.exclude(user=user).update(verified_at=None)
        kept = {"number": encryption.sealed(OWNER_NUMBER), "verified_at": timezone.now()}
        numbers.update_or_create(user=user, digest=digest("number", OWNER_NUMBER), defaults=kept)
    return OWNER_NUMBER


def ensure_template(staff: dict[str, str]) -> str:
    """The approved template's name; two members of staff had a hand in it, as always."""
    templates, users = apps.get_model("agents_proxy.MessageTemplate").objects, apps.get_model("accounts.User").objects
    if not templates.filter(name=MESSAGE_TEMPLATE, language="en", active=True).exists():
        proposer = users.get(email=staff["email"])
        approver = users.get(email="reviewer@example.org")
        newest = templates.filter(name=MESSAGE_TEMPLATE, language="en").aggregate(newest=Max("version"))["newest"] or 0
        templates.create(
            name=MESSAGE_TEMPLATE, language="en", text=MESSAGE_TEXT, proposed_by=proposer, approved_by=approver,
            approved_at=timezone.now(), active=True, version=newest + 1,
        )  # fmt: skip
    return MESSAGE_TEMPLATE
