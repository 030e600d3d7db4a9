"""What the staff's pages have in common: rows about people are read-only, and looking at them leaves a trace."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db import transaction
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.hooks import staff_viewed
from accounts.staff_lists import SearchedByIndex
from accounts.staff_values import ChoicesInWords, column, has_raw_choices


class NeverDeleted(SearchedByIndex):
    """Records that staff may add and change, but not delete."""

    list_per_page = 50
    unread: tuple[str, ...] = ()  # columns that no page needs, such as what is sealed
    identifiers: tuple[str, ...] = ()  # text columns whose values are the code's, shown in words

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.unread)

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [self._in_words(name) for name in super().get_list_display(request)]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        return [
            (one, ChoicesInWords) if isinstance(one, str) and has_raw_choices(self.opts.get_field(one)) else one
            for one in super().get_list_filter(request)
        ]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        found = list(super().get_fieldsets(request, obj))
        if obj is None or self.has_change_permission(request, obj):  # what can be changed is a form's
            return found
        return [
            (title, {**shown, "fields": [self._in_words(name) for name in shown["fields"]]}) for title, shown in found
        ]

    def _in_words(self, name: Any) -> Any:
        """The column that says in words what this one keeps as an identifier or as JSON; itself where it need not."""
        if not isinstance(name, str) or hasattr(self, name):
            return name
        try:
            field = self.opts.get_field(name)
        except FieldDoesNotExist:
            return name
        is_raw = isinstance(field, JSONField) or name in self.identifiers or has_raw_choices(field)
        return column(field) if is_raw else name

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(NeverDeleted):
    """Records that staff may look at. `fields` names every column that is shown; nothing else is read for a page."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AboutPeople(admin.ModelAdmin):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """Rows about people: each page that shows some is noted in those people's own history before it is answered."""

    about = "user"  # the attributes that lead from a row to the person whom it is about

    def person_of(self, row: Any) -> str | None:
        """The public id of the person that a row is about, None where it is about nobody."""
        for name in self.about.split("."):
            row = row and getattr(row, name)
        return row and str(row.public_id)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", {}).get("cl")
        self._note(request, list(shown.result_list) if shown is not None else [])
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().change_view(request, object_id, form_url, extra_context)
        self._note_object(request, response, "original")
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().history_view(request, object_id, extra_context)
        self._note_object(request, response, "object")
        return response

    def _note_object(self, request: HttpRequest, response: HttpResponse, name: str) -> None:
        shown = getattr(response, "context_data", {}).get(name)
        self._note(request, [shown] if shown is not None else [])

    def _note(self, request: HttpRequest, rows: list[Any]) -> None:
        """In a transaction of its own: an action of this page must not hold what it locked until the page is there."""
        people = sorted({person for person in map(self.person_of, rows) if person is not None})
        if people:
            with transaction.atomic():
                staff_viewed.send(
                    sender=type(self),
                    by=request.user,
                    user_ids=people,
                    what=self.model._meta.model_name,
                    path=request.path,
                )
