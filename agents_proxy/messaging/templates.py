"""The wording of messages: proposed by one member of staff, approved by another, one active version at a time."""

import re

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from agents_proxy.messaging.models import MessageTemplate
from agents_proxy.messaging.outbound import PARAMETER
from common.clock import database_now
from common.text import is_plain


def text_error(text: str) -> Promise | None:
    """Why this wording cannot be used, or None."""
    if not all(is_plain(line) for line in text.splitlines() if line.strip()):
        return _("Use plain text without invisible characters.")
    if set("{}") & set(PARAMETER.sub("", text)):
        return _("Braces are for parameters alone: {name}, lower-case letters, digits and underscores.")
    return None


def name_error(name: str) -> Promise | None:
    fits = re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name)
    return None if fits else _("Use lower-case letters, digits and underscores, a letter first.")


def language_error(language: str) -> Promise | None:
    fits = re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", language)
    return None if fits else _("Write the language as in en or pt-BR.")


def active_templates() -> list[MessageTemplate]:
    """All wording that may be sent now, by name and language."""
    return list(MessageTemplate.objects.filter(active=True).order_by("name", "language"))


def active_template(name: str, language: str) -> MessageTemplate | None:
    """The wording of this name in this language that may be sent now."""
    return MessageTemplate.objects.filter(name=name, language=language, active=True).first()


def approve_template(*, template_pk: int, by: User) -> bool:
    """Make it the active version; False where `by` proposed it themselves or it was decided before."""
    with transaction.atomic():
        found = MessageTemplate.objects.select_for_update().filter(pk=template_pk, approved_by=None)
        template = found.exclude(proposed_by=by).first()
        if template is None:
            return False
        same = MessageTemplate.objects.filter(name=template.name, language=template.language)
        same.filter(active=True).update(active=False)  # before the other: only one may be active
        template.approved_by, template.approved_at, template.active = by, database_now(), True
        template.save()
    return True


def retire_template(*, template_pk: int) -> bool:
    """No message is sent with it any more; False where it was not active."""
    return bool(MessageTemplate.objects.filter(pk=template_pk, active=True).update(active=False))
