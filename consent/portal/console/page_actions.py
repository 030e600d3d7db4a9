"""What the button of the console asks for, in words, so that it can wait while somebody signs in again."""

from typing import cast

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from consent.portal.console.operations import operations
from developers.members.models import AppMember


def _words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    found = AppMember.objects.select_related("app").filter(user=person_of(request), app__app_id=kwargs["app_id"])
    member, operation = found.first(), operations().get(values.get("operation", ""))
    if member is None or operation is None or not member.app.is_test:
        return None
    asked = gettext("You asked to call %(operation)s for %(app)s.")
    return Words(asked % {"operation": operation.name, "app": member.app.name}, gettext("Call it"))


def _fields() -> tuple[Field, ...]:
    names = {parameter.field for operation in operations().values() for parameter in operation.parameters}
    return tuple(Field(name) for name in ("operation", *sorted(names), "body"))


CALL = PageAction(
    page=to_page("portal:try", "app_id"),
    words=_words,
    fields=cast("tuple[Field, ...]", SimpleLazyObject(_fields)),  # the document is made once all addresses are known
    shows_itself=True,
)
