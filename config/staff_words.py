"""What the admin calls models and fields that have no name of their own, in the language of whoever looks.

Django makes these names from those in the code, in English alone. To give each a `verbose_name` would be a migration
for every room; so they are looked up here, after the models are loaded, and migrations do not see it.
"""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy, gettext_noop

from config.admin import ROOMS

_MODELS = {
    gettext_noop("receipt"): gettext_noop("receipts"),
    gettext_noop("notice"): gettext_noop("notices"),
    gettext_noop("audit checkpoint"): gettext_noop("audit checkpoints"),
    gettext_noop("export"): gettext_noop("exports"),
    gettext_noop("read"): gettext_noop("reads"),
    gettext_noop("link session"): gettext_noop("link sessions"),
}
_FIELDS = {
    gettext_noop("created at"), gettext_noop("updated at"), gettext_noop("user"), gettext_noop("app"),
    gettext_noop("applicant"), gettext_noop("reviewer"), gettext_noop("reviewed at"), gettext_noop("member"),
    gettext_noop("digest"), gettext_noop("reminded days"), gettext_noop("created by"), gettext_noop("client"),
    gettext_noop("resource"), gettext_noop("hands over"), gettext_noop("role"), gettext_noop("invited by"),
    gettext_noop("accepted by"), gettext_noop("request"), gettext_noop("end reason"), gettext_noop("prev hash"),
    gettext_noop("entry hash"), gettext_noop("receipt id"), gettext_noop("event"), gettext_noop("sequence"),
    gettext_noop("kind"), gettext_noop("facts"), gettext_noop("at"), gettext_noop("secret"),
    gettext_noop("previous secret"), gettext_noop("endpoint"), gettext_noop("notice"), gettext_noop("status"),
    gettext_noop("attempt"), gettext_noop("status code"), gettext_noop("failure"), gettext_noop("next at"),
    gettext_noop("finished at"), gettext_noop("wrapping alg"), gettext_noop("required attributes"),
    gettext_noop("optional attributes"), gettext_noop("max reads"), gettext_noop("refresh policy"),
    gettext_noop("binding message"), gettext_noop("request digest"), gettext_noop("proposed by"),
    gettext_noop("approved by"), gettext_noop("approved at"), gettext_noop("day"), gettext_noop("count"),
    gettext_noop("first at"), gettext_noop("last at"), gettext_noop("size"), gettext_noop("root"),
    gettext_noop("note"), gettext_noop("cosigned at"), gettext_noop("export id"), gettext_noop("grant"),
    gettext_noop("revision"), gettext_noop("size bytes"), gettext_noop("sources"), gettext_noop("sealed at"),
    gettext_noop("token"), gettext_noop("address prefix"), gettext_noop("batch"), gettext_noop("consent"),
    gettext_noop("item"), gettext_noop("pages"), gettext_noop("added"), gettext_noop("modified"),
    gettext_noop("removed"), gettext_noop("error code"), gettext_noop("started at"), gettext_noop("template"),
}  # fmt: skip
# Django's German says these with "Sie", or at length; ours overrides them
OVERRIDDEN = (
    gettext_noop("Hold down “Control”, or “Command” on a Mac, to select more than one."),
    gettext_noop("Start typing to filter…"),  # which is longer than the field
)


def name_in_words() -> None:
    """Let the names that Django made be said in the reader's language."""
    for model in apps.get_models():
        options: Any = model._meta
        if options.app_label not in ROOMS:
            continue
        made = str(options.verbose_name)
        if "verbose_name" not in options.original_attrs and made in _MODELS:
            options.verbose_name = gettext_lazy(made)
            options.verbose_name_plural = gettext_lazy(_MODELS[made])
        for field in options.local_fields:
            if field._verbose_name is None and field.verbose_name in _FIELDS:
                field.verbose_name = gettext_lazy(field.verbose_name)
