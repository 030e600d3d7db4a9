"""How staff's lists are searched and counted, so that a page takes as long among a million rows as among ten."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.text import smart_split, unescape_string_literal

MOST_COUNTED = 10_000  # rows; a list that has more says so, and its last page is the one that holds this row
MOST_FILTERED = 50_000  # of the newest rows, in which a filter looks that no index serves
_MOST_RELATED = 1000  # apps or people that one word of a search stands for


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """Counts no further than anybody turns pages."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, `MOST_COUNTED + 1` at most."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages nothing else
        return rows.order_by().values("pk")[: MOST_COUNTED + 1].count()


class BoundedList(ChangeList):
    """A list whose filters look among the newest rows, unless an index serves them or a search narrows the list.

    An index for each filter would be written with every request, read and event; staff look for what is new.
    """

    only_newest = 0  # how many rows the filters look among, where they do; for the template

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        found = super().get_queryset(request, exclude_parameters)
        if self.query or not self._unserved() or not isinstance(self.lookup_opts.pk, models.AutoField):
            return found
        newest = self.root_queryset.order_by("-pk").values_list("pk", flat=True).first()
        if newest is None or newest <= MOST_FILTERED:
            return found
        self.only_newest = MOST_FILTERED
        return found.filter(pk__gt=newest - MOST_FILTERED)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # the search says how many it found only where it was one

    def _unserved(self) -> bool:
        chosen = {f"{name}={value}" for name, values in self.get_filters_params().items() for value in values}
        return not chosen <= set(getattr(self.model_admin, "filters_by_index", ()))


class SearchedByIndex(admin.ModelAdmin):  # type: ignore[type-arg]  # as above
    """`search_fields`: `=field` is the value itself, `^field` how it begins, both in lower case too; else a part of it.

    Django compares `=field` without regard to case and joins what is related, so that no index serves it. Here what is
    related is looked up first, by its own index, and the row by its foreign key.
    """

    paginator = BoundedPaginator
    show_full_result_count = False
    filters_by_index: tuple[str, ...] = ()  # such as "status__exact=pending", where an index over these rows serves it

    searched_among_newest: tuple[str, ...] = ()  # of `search_fields`: what no index serves

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return BoundedList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Of an address only what the list shows or offers; by other fields it would tell bit by bit what they hold."""
        filters = self.get_list_filter(request)
        offered = {one[0] if isinstance(one, tuple) else getattr(one, "parameter_name", one) for one in filters}
        searched = {field.lstrip("=^") for field in self.get_search_fields(request)}
        shown = {*offered, *self.list_display, self.date_hierarchy, "pk", "id"}
        return (
            super().lookup_allowed(lookup, value, request)
            and (lookup in searched or lookup in shown or lookup.partition("__")[0] in shown)
            and not lookup.endswith("regex")
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        for word in smart_split(search_term):
            text = unescape_string_literal(word) if word[0] == word[-1] and word[0] in "\"'" and word[1:] else word
            queryset = queryset.filter(self._holding(request, text))
        return queryset, False

    def _holding(self, request: HttpRequest, word: str) -> Q:
        """What the word is found in, each looked up by itself: of several at once an index serves none."""
        found = Q(pk__in=[])
        for field in self.get_search_fields(request):
            relation, _, beyond = field.lstrip("=^").partition("__")
            if beyond:
                rows = self._related(relation, _condition(field[0], beyond, word))
                found |= Q(**{f"{relation}__in": rows}) if rows else Q()
            else:
                condition = _condition(field[0], relation, word)
                condition &= self._newest() if field in self.searched_among_newest else Q()
                found |= condition if self.model._default_manager.filter(condition).exists() else Q()
        return found

    def _newest(self) -> Q:
        newest = self.model._default_manager.order_by("-pk").values_list("pk", flat=True).first()
        return Q(pk__gt=(newest or 0) - MOST_FILTERED)

    def _related(self, relation: str, condition: Q) -> list[Any]:
        model: Any = self.model._meta.get_field(relation).related_model
        return list(model._default_manager.filter(condition).values_list("pk", flat=True)[:_MOST_RELATED])


def _condition(kind: str, name: str, word: str) -> Q:
    if kind == "=":
        return Q(**{f"{name}__in": {word, word.lower()}})
    if kind == "^":
        return Q(**{f"{name}__startswith": word.lower()})
    return Q(**{f"{name}__icontains": word})


def value_filter(
    field: str, values: Iterable[str], in_words: Callable[[str], str] = str
) -> type[admin.SimpleListFilter]:
    """A filter of `field` by values that the code knows, shown `in_words`; Django would look for them in all rows."""

    known = tuple(values)

    class OneOf(admin.SimpleListFilter):
        title = field
        parameter_name = field

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            self.title = model_admin.model._meta.get_field(field).verbose_name
            return [(value, in_words(value)) for value in known]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            if self.value() is None:
                return queryset
            return queryset.filter(**{field: self.value()}) if self.value() in known else queryset.none()

    return OneOf
