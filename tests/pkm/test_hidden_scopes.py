"""Scopes that a person hides from apps."""

import pytest

from pkm.registry.models import HiddenScope


def test_scope_is_hidden_and_shown(owner, person):
    for _ in range(2):
        answer = owner.put("/vault/hidden-scopes/attr.lifestyle.*")
        assert (answer.status_code, answer.content) == (204, b"")
    assert list(HiddenScope.objects.values_list("user", "scope")) == [(person.pk, "attr.lifestyle.*")]
    for _ in range(2):
        answer = owner.delete("/vault/hidden-scopes/attr.lifestyle.*")
        assert (answer.status_code, answer.content) == (204, b"")
    assert not HiddenScope.objects.exists()


@pytest.mark.parametrize("scope", ["attr.pets.*", "nonsense", "attr.lifestyle.food"])
def test_unknown_scope_is_not_found(owner, scope):
    for answer in (owner.put(f"/vault/hidden-scopes/{scope}"), owner.delete(f"/vault/hidden-scopes/{scope}")):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
