"""What the staff's pages have in common: rows about people are read-only, and looking at them leaves a trace."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.hooks import staff_viewed
from accounts.staff_lists import SearchedByIndex

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Model]
else:
    _Admin = admin.ModelAdmin


class NeverDeleted(SearchedByIndex):
    """Records that staff may add and change, but not delete."""

    list_per_page = 50
    unread: tuple[str, ...] = ()  # columns that no page needs, such as what is sealed

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.unread)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(NeverDeleted):
    """Records that staff may look at. `fields` names every column that is shown; nothing else is read for a page."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AboutPeople(_Admin):
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
