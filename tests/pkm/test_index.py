"""What is told of people's data is what they keep: after any changes, and by `check_index` about everybody."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.models import User
from pkm.history.models import Event, EventKind, Index
from pkm.registry import actions as registry_actions
from pkm.registry.models import ScopeEntry
from pkm.segments.actions import delete_segment
from pkm.segments.checks import flaws
from pkm.segments.exposure import bring_paths_up_to_date
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.vault import actions as vault_actions
from pkm.vault.actions import NewWrapper
from tests.factories import PersonFactory, StaffFactory, Vault, give_vault
from tests.pkm.sealed_segments import wrapper

PLACES = [("lifestyle", "food"), ("lifestyle", "fitness"), ("identity", "basic")]
NAMES = ["favorite_cuisine", "gym_membership", "age", "my_own_word"]


@pytest.fixture
def vault(person: User) -> Vault:
    return give_vault(person)


def _reasons() -> list[str]:
    return [flaw.reason for flaw in flaws()]


def _change(vault: Vault, change: tuple[Any, ...], revisions: dict[Any, int]) -> None:
    what, place, names = change
    if what == "write":
        vault.write(*place, dict.fromkeys(names, "x"), base=revisions.get(place, 0))
        revisions[place] = revisions.get(place, 0) + 1
    elif what == "delete" and Blob.objects.filter(user=vault.user, segment_id=place[1], size_bytes__gt=0).exists():
        delete_segment(
            by=vault.user, domain=place[0], segment_id=place[1], base_content_revision=revisions.get(place, 0)
        )
        revisions[place] = revisions.get(place, 0) + 1
    elif what == "wrapper":
        body = wrapper(vault.user, vault.key, names[0] if names else "recovery")
        vault_actions.add_wrapper(by=vault.user, wrapper=NewWrapper(**body))


CHANGES = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PLACES), st.lists(st.sampled_from(NAMES), unique=True, max_size=4)),
    st.tuples(st.just("delete"), st.sampled_from(PLACES), st.just([])),
    st.tuples(st.just("wrapper"), st.just(PLACES[0]), st.lists(st.sampled_from(["passkey", "recovery"]), max_size=1)),
)


@pytest.mark.django_db
@settings(max_examples=25)
@given(changes=st.lists(CHANGES, max_size=8))
def test_whatever_is_changed_everything_that_is_told_stays_true(changes: list[tuple[Any, ...]]) -> None:
    vault = give_vault(PersonFactory(), {})
    revisions: dict[Any, int] = {}
    for change in changes:
        _change(vault, change, revisions)

    assert list(flaws(people=[vault.user.pk])) == []


def test_the_vault_and_its_wrappers_say_what_it_can_do(vault: Vault) -> None:
    def flags() -> dict[str, bool]:
        return Index.objects.get(user=vault.user).capability_flags

    first = vault.user.key_wrappers.get()
    assert flags() == {"can_approve": True, "recovery": True, "passkey": False, "continuous": True}
    vault_actions.add_wrapper(by=vault.user, wrapper=NewWrapper(**wrapper(vault.user, vault.key, "passkey")))
    vault_actions.remove_wrapper(by=vault.user, wrapper_id=first.wrapper_id)
    assert flags() == {"can_approve": True, "recovery": False, "passkey": True, "continuous": True}
    vault_actions.restore_wrapper(by=vault.user, wrapper_id=first.wrapper_id)
    assert flags()["recovery"]


def _forget(vault: Vault, **fields: Any) -> None:
    Index.objects.filter(user=vault.user).update(**fields)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"summary_projection": {}}, "summary_projection is told as {}, and is {'lifestyle': {'food': 3}}"),
        ({"available_domains": ["brands"]}, "available_domains is told as ['brands'], and is ['lifestyle']"),
        ({"total_attributes": 7}, "total_attributes is told as 7, and is 3"),
        ({"capability_flags": {}}, "capability_flags is told as {}, and is {'can_approve': True, "),
        ({"domain_freshness": {}}, "domain_freshness is told as {}, and is {'lifestyle': '"),
    ],
)
def test_a_row_that_tells_otherwise_is_named(vault: Vault, fields: dict[str, Any], reason: str) -> None:
    Index.objects.filter(user=vault.user).update(**fields)

    (found,) = _reasons()

    assert found.startswith(reason)


def test_a_manifest_that_tells_otherwise_is_named(vault: Vault) -> None:
    Manifest.objects.filter(user=vault.user).update(path_count=9, segment_ids=[])

    assert _reasons() == [
        "the manifest of lifestyle: path_count is told as 9, and is 3",
        "the manifest of lifestyle: segment_ids is told as [], and is ['food']",
    ]


def test_attributes_of_what_is_gone_and_a_person_without_a_row_are_named(vault: Vault) -> None:
    Blob.objects.filter(user=vault.user).delete()
    other = give_vault(PersonFactory())
    Index.objects.filter(user=other.user).delete()

    assert _reasons() == [
        f"domain_freshness is told as {Index.objects.get(user=vault.user).domain_freshness!r}, and is {{}}",
        "attributes of lifestyle.food are listed, and nothing is kept there",
        "there is a vault and no index row",
        "there is segments and no index row",
    ]


def test_a_gap_in_the_events_is_named(vault: Vault) -> None:
    Event.objects.create(user=vault.user, sequence=99, kind=EventKind.SCOPE_SHOWN, facts={})

    count = Event.objects.filter(user=vault.user).count()
    assert _reasons() == [f"the newest event is told as 99, and is {count}"]


def test_what_staff_make_of_the_registry_reaches_every_manifest(vault: Vault) -> None:
    bring_paths_up_to_date()
    entry = ScopeEntry.objects.get(scope="attr.lifestyle.food.favorite_cuisine")
    registry_actions.withdraw_scopes(entry_pks=[entry.pk], by=StaffFactory())
    before = _reasons()

    changed, again = bring_paths_up_to_date(), bring_paths_up_to_date()

    eligible = dict(ManifestPath.objects.values_list("path", "exposure_eligible"))
    assert before == ["1 paths say something else than the registry about their scope"]
    assert (changed, again, _reasons()) == (1, 0, [])
    assert eligible == {
        "lifestyle.food.diet_preference": True,
        "lifestyle.food.favorite_cuisine": False,
        "lifestyle.food.coffee_or_tea": True,
    }


def test_where_the_registry_has_not_changed_one_read_tells_so(vault: Vault, django_assert_num_queries: Any) -> None:
    bring_paths_up_to_date()

    with django_assert_num_queries(1):
        assert bring_paths_up_to_date() == 0


def test_the_command_names_every_difference_and_fails(vault: Vault) -> None:
    output, wrong = StringIO(), StringIO()
    call_command("check_index", stdout=output)
    Index.objects.filter(user=vault.user).update(total_attributes=7)
    with pytest.raises(CommandError, match="What is told of 1 people is not what they keep"):
        call_command("check_index", stderr=wrong)

    assert output.getvalue() == "1 index rows tell what is kept.\n"
    assert wrong.getvalue() == f"{vault.user.public_id}: total_attributes is told as 7, and is 3\n"


def test_the_command_looks_at_one_person_and_knows_no_other(vault: Vault) -> None:
    Index.objects.filter(user=give_vault(PersonFactory()).user).update(total_attributes=7)
    output = StringIO()
    call_command("check_index", person=vault.user.public_id, stdout=output)

    assert output.getvalue() == "1 index rows tell what is kept.\n"
    with pytest.raises(CommandError, match="nobody with the own ID usr_nobody"):
        call_command("check_index", person="usr_nobody")


def test_it_looks_at_people_in_batches(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkm.segments.checks._AT_ONCE", 1)
    for _ in range(2):
        Index.objects.filter(user=give_vault(PersonFactory()).user).update(total_attributes=7)

    assert len(_reasons()) == 2
