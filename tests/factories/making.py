"""What every factory begins with."""

from typing import Any

from django.db.models import Model
from factory.django import DjangoModelFactory


def makes(model: type[Model]) -> Any:
    """The base of a factory of these rows."""
    return type(f"Of{model.__name__}", (DjangoModelFactory,), {"Meta": type("Meta", (), {"model": model})})
