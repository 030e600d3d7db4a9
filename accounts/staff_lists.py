"""How staff's lists are searched and counted, so that a page takes as long among a million rows as among ten."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.text import smart_split, unescape_string_literal

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Model]
    _Paginator = Paginator[Any]
else:
    _Admin = admin.ModelAdmin
    _Paginator = Paginator

MOST_COUNTED = 10_000  # rows; a list that has more says so, and its last page is the one that holds this row
_MOST_RELATED = 1000  # apps or people that one word of a search stands for


class BoundedPaginator(_Paginator):
    """Counts no further than anybody turns pages."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, `MOST_COUNTED + 1` at most."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages nothing else
        return rows.order_by().values("pk")[: MOST_COUNTED + 1].count()


class SearchedByIndex(_Admin):
    """`search_fields`: `=field` is the value itself, `^field` how it begins, both in lower case too; else a part of it.

    Django compares `=field` without regard to case and joins what is related, so that no index serves it. Here what is
    related is looked up first, by its own index, and the row by its foreign key.
    """

    paginator = BoundedPaginator
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        for word in smart_split(search_term):
            text = unescape_string_literal(word) if word[0] == word[-1] and word[0] in "\"'" and word[1:] else word
            queryset = queryset.filter(self._holding(request, text))
        return queryset, False

    def _holding(self, request: HttpRequest, word: str) -> Q:
        found = Q(pk__in=[])
        for field in self.get_search_fields(request):
            relation, _, name = field.lstrip("=^").rpartition("__")
            condition = _condition(field[0], name, word)
            if not relation:
                found |= condition
            elif rows := self._related(relation, condition):
                found |= Q(**{f"{relation}__in": rows})
        return found

    def _related(self, relation: str, condition: Q) -> list[Any]:
        model: Any = self.model
        for step in relation.split("__"):
            model = model._meta.get_field(step).related_model
        return list(model._default_manager.filter(condition).values_list("pk", flat=True)[:_MOST_RELATED])


def _condition(kind: str, name: str, word: str) -> Q:
    if kind == "=":
        return Q(**{f"{name}__in": {word, word.lower()}})
    if kind == "^":
        return Q(**{f"{name}__startswith": word.lower()})
    return Q(**{f"{name}__icontains": word})


def one_of(field: str, values: Iterable[str]) -> type[admin.SimpleListFilter]:
    """A filter of `field` by values that the code knows; Django would look for them through all rows."""

    known = tuple(values)

    class OneOf(admin.SimpleListFilter):
        title = field
        parameter_name = field

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            self.title = model_admin.model._meta.get_field(field).verbose_name
            return [(value, value) for value in known]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            if self.value() is None:
                return queryset
            return queryset.filter(**{field: self.value()}) if self.value() in known else queryset.none()

    return OneOf
