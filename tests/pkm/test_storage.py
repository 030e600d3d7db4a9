"""How much one person may keep: older revisions go first, then a write is refused, and nothing else is lost."""

from typing import Any

import orjson
import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from pkm import errors
from pkm.segments import actions as segment_actions
from pkm.segments.models import Blob
from pkm.segments.storage import storage_of
from tests.callers import JsonClient
from tests.factories import PersonFactory, Vault, give_vault
from tests.pkm.sealed_segments import segment
from tests.refused import refused_as

SEGMENTS = [("lifestyle", "food"), ("lifestyle", "fitness"), ("lifestyle", "shopping"), ("technology", "use")]
ATTRIBUTE = {
    ("lifestyle", "food"): "favorite_cuisine", ("lifestyle", "fitness"): "gym_membership",
    ("lifestyle", "shopping"): "fashion_style", ("technology", "use"): "primary_device",
}  # fmt: skip


@pytest.fixture
def vault(person: User) -> Vault:
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return give_vault(person, {})


@pytest.fixture(autouse=True)
def _small(settings: Any) -> None:
    settings.STORAGE_BYTES_PER_PERSON, settings.SEGMENTS_PER_PERSON = 40_000, 3
    settings.STORAGE_BYTES_UNVERIFIED, settings.SEGMENTS_UNVERIFIED = 10_000, 2


def write(vault: Vault, place: tuple[str, str], length: int, *, base: int = 0) -> dict[str, Any]:
    """One attribute of `length` characters, which takes four thirds of that sealed."""
    body = segment(vault, *place, {ATTRIBUTE[place]: "x" * length}, base=base)
    return segment_actions.write_segment(by=vault.user, domain=place[0], segment_id=place[1], **body)


def revisions(user: User) -> list[tuple[str, int]]:
    return list(Blob.objects.filter(user=user).order_by("pk").values_list("segment_id", "content_revision"))


def test_older_revisions_are_dropped_oldest_first_before_anything_is_refused(vault: Vault) -> None:
    for base in range(3):
        write(vault, SEGMENTS[0], 6_000, base=base)
    for base in range(2):
        write(vault, SEGMENTS[1], 6_000, base=base)

    # five revisions of 8.3 kB are over 40 kB: the oldest alone had to go
    assert revisions(vault.user) == [("food", 2), ("food", 3), ("fitness", 1), ("fitness", 2)]
    assert storage_of(vault.user).used_bytes <= 40_000


def test_what_does_not_fit_beside_the_current_ones_is_refused_and_changes_nothing(vault: Vault) -> None:
    write(vault, SEGMENTS[0], 12_000)
    write(vault, SEGMENTS[0], 12_000, base=1)
    before = revisions(vault.user)

    with refused_as(errors.QuotaExceeded) as refused:
        write(vault, SEGMENTS[1], 20_000)

    assert revisions(vault.user) == before
    assert refused.value.members["quota_bytes"] == 40_000
    assert refused.value.members["used_bytes"] == storage_of(vault.user).current_bytes
    assert "Delete what you no longer need" in refused.value.detail


def test_there_are_so_many_segments_and_no_more(vault: Vault) -> None:
    for place in SEGMENTS[:3]:
        write(vault, place, 10)

    with refused_as(errors.QuotaExceeded, match="3 segments"):
        write(vault, SEGMENTS[3], 10)
    write(vault, SEGMENTS[0], 20, base=1)
    segment_actions.delete_segment(by=vault.user, domain="lifestyle", segment_id="food", base_content_revision=2)

    assert write(vault, SEGMENTS[3], 10)["content_revision"] == 1


def test_whoever_is_over_can_still_make_room(vault: Vault, settings: Any) -> None:
    write(vault, SEGMENTS[0], 12_000)
    write(vault, SEGMENTS[1], 12_000)
    settings.STORAGE_BYTES_PER_PERSON = 20_000

    with refused_as(errors.QuotaExceeded):
        write(vault, SEGMENTS[0], 13_000, base=1)
    assert write(vault, SEGMENTS[0], 11_000, base=1)["content_revision"] == 2
    segment_actions.delete_segment(by=vault.user, domain="lifestyle", segment_id="fitness", base_content_revision=1)

    assert write(vault, SEGMENTS[0], 13_000, base=2)["content_revision"] == 3


def test_there_is_less_room_before_the_address_is_verified(db: None) -> None:
    vault = give_vault(PersonFactory(), {})

    with refused_as(errors.QuotaExceeded, match="Confirm your e-mail address"):
        write(vault, SEGMENTS[0], 9_000)
    EmailAddress.objects.create(user=vault.user, email=vault.user.email, verified=True, primary=True)

    assert write(vault, SEGMENTS[0], 9_000)["content_revision"] == 1


@pytest.mark.parametrize("off", [0])
def test_zero_is_no_limit(off: int, vault: Vault, settings: Any) -> None:
    settings.STORAGE_BYTES_PER_PERSON = settings.SEGMENTS_PER_PERSON = off

    for place in SEGMENTS:
        write(vault, place, 30_000)

    assert storage_of(vault.user).segments == 4


def test_one_person_takes_no_room_from_another(vault: Vault) -> None:
    write(vault, SEGMENTS[0], 25_000)
    other = PersonFactory()
    EmailAddress.objects.create(user=other, email=other.email, verified=True, primary=True)

    assert write(give_vault(other, {}), SEGMENTS[0], 25_000)["content_revision"] == 1


def test_the_address_answers_413_and_says_how_full_it_is(vault: Vault, owner: JsonClient) -> None:
    body = segment(vault, "lifestyle", "food", {"favorite_cuisine": "x" * 40_000}, base=0)

    answer = owner.put("/vault/segments/lifestyle/food", body)

    problem = orjson.loads(answer.content)
    assert (answer.status_code, problem["code"]) == (413, "quota_exceeded")
    assert (problem["quota_bytes"], problem["used_bytes"], problem["segments"]) == (40_000, 0, 0)


def test_the_page_says_what_is_used(vault: Vault, owner: JsonClient) -> None:
    write(vault, SEGMENTS[0], 6_000)

    page = owner.client.get("/vault/").content.decode()

    assert "of 39.1\xa0KB used" in page
    assert "Confirm your email address" not in page
    EmailAddress.objects.update(verified=False)
    assert "Confirm your email address" in owner.client.get("/vault/").content.decode()
