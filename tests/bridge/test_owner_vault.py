"""The vault of an owner without a browser: made, unlocked, written, and never rolled back."""

import pytest

from consent_bridge.errors import KeyRefused, Problem, Refused
from consent_bridge.sealed import VaultKey, generate_vault_key, seal_segment, unwrap, wrap
from consent_bridge.segments import SegmentHeader
from consent_bridge.vault import Segment
from tests.bridge.fake_site import FOOD, PASSPHRASE


def test_vault_is_made_with_two_wrappers_of_one_key(owner, site):
    code = owner.create_vault(PASSPHRASE)

    assert [wrapper["kind"] for wrapper in site.vault["wrappers"]] == ["passphrase", "recovery"]
    opened = [
        unwrap(wrapper["jwe"], wrapper["kind"], secret, user_id="usr_a", key_id=site.vault["key_id"])
        for wrapper, secret in zip(site.vault["wrappers"], (PASSPHRASE, code), strict=True)
    ]
    assert opened[0] == opened[1]


def test_vault_is_made_once(owner):
    owner.create_vault(PASSPHRASE)

    with pytest.raises(Problem, match="vault_exists"):
        owner.create_vault(PASSPHRASE)


def test_weak_passphrase_makes_no_vault(owner, site):
    with pytest.raises(KeyRefused, match="shorter than 12"):
        owner.create_vault("short")

    assert site.vault["key_id"] is None


@pytest.mark.parametrize("secret", ["passphrase", "recovery_code"])
def test_vault_unlocks_with_either_secret(owner, secret):
    code = owner.create_vault(PASSPHRASE)
    owner.write("lifestyle", "food", FOOD, base=0)
    owner.lock()

    owner.unlock(**{secret: PASSPHRASE if secret == "passphrase" else code})

    assert owner.segments(domain="lifestyle") == [Segment("lifestyle", "food", 1, FOOD)]


def test_vault_stays_locked_with_a_wrong_secret(unlocked):
    unlocked.lock()

    with pytest.raises(KeyRefused, match="this passphrase does not open the vault"):
        unlocked.unlock(passphrase="wrong horse battery")
    with pytest.raises(KeyRefused, match="give a passphrase"):
        unlocked.unlock()
    with pytest.raises(KeyRefused, match="the vault is locked"):
        unlocked.segments(domain="lifestyle")


def test_vault_that_is_not_there_cannot_be_unlocked(owner):
    with pytest.raises(KeyRefused, match="no passphrase wrapper"):
        owner.unlock(passphrase=PASSPHRASE)


def test_wrapper_of_another_person_is_refused(owner, site):
    owner.create_vault(PASSPHRASE)
    planted = wrap(VaultKey(site.vault["key_id"], b"k" * 32), "passphrase", PASSPHRASE, "usr_b")
    site.vault["wrappers"][0]["jwe"] = planted

    with pytest.raises(Refused, match='sub is "usr_b", not "usr_a"'):
        owner.unlock(passphrase=PASSPHRASE)


def test_segment_is_read_as_it_was_written(unlocked, site):
    assert unlocked.segments(scope="attr.lifestyle.food.*") == [
        Segment("lifestyle", "food", 1, FOOD),
        Segment("lifestyle", "fitness", 1, {"gym_membership": "none"}),
    ]
    assert site.segments["lifestyle", "food"]["attributes"] == list(FOOD)


def test_stale_write_is_a_problem_with_the_current_revision(unlocked):
    unlocked.write("lifestyle", "food", {**FOOD, "own_dish": "stew"}, base=1)

    with pytest.raises(Problem) as caught:
        unlocked.write("lifestyle", "food", FOOD, base=1)

    assert caught.value.code == "stale_revision"
    assert caught.value.extra["current_content_revision"] == 2


def test_update_keeps_what_it_does_not_change(unlocked):
    updated = unlocked.update("lifestyle", "food", {"own_dish": "stew"})

    assert (updated.content_revision, updated.manifest_revision) == (2, 1)
    assert unlocked.segments(domain="lifestyle")[0].values == {**FOOD, "own_dish": "stew"}


def test_update_of_a_segment_that_is_not_there_makes_it(unlocked):
    assert unlocked.update("contact", "email", {"email": "zoe@example.org"}).content_revision == 1


def test_update_that_lost_a_race_is_made_on_top_of_the_winner(fake, site, unlocked):
    real = fake.scripts["GET", "/vault/segments"][0]

    def overtaken(call):
        answer = real(call)
        header = SegmentHeader(site.vault["key_id"], "usr_a", "lifestyle", "food", 2)
        winner = seal_segment({**FOOD, "own_dish": "pie"}, unlocked._unlocked().secret, header)
        site.segments["lifestyle", "food"] = {
            **site.segments["lifestyle", "food"],
            "content_revision": 2,
            "jwe": winner,
        }
        return answer

    fake.scripts["GET", "/vault/segments"] = [overtaken, real]

    unlocked.update("lifestyle", "food", {"coffee_or_tea": "tea"})

    assert unlocked.segments(domain="lifestyle")[0] == Segment(
        "lifestyle", "food", 3, {**FOOD, "own_dish": "pie", "coffee_or_tea": "tea"}
    )


def test_deleted_segment_is_made_anew_where_its_counting_stopped(unlocked):
    unlocked.delete("lifestyle", "food", base=1)

    assert unlocked.update("lifestyle", "food", {"own_dish": "stew"}).content_revision == 3


def test_older_segment_than_seen_is_refused(unlocked, site):
    before = dict(site.segments["lifestyle", "food"])
    unlocked.update("lifestyle", "food", {"own_dish": "stew"})
    site.segments["lifestyle", "food"] = before

    with pytest.raises(Refused, match=r"lifestyle\.food is revision 1, older"):
        unlocked.segments(domain="lifestyle")


def test_swapped_segments_are_refused(unlocked, site):
    food, fitness = site.segments["lifestyle", "food"], site.segments["lifestyle", "fitness"]
    food["jwe"], fitness["jwe"] = fitness["jwe"], food["jwe"]

    with pytest.raises(Refused, match='segment_id is "fitness", not "food"'):
        unlocked.segments(domain="lifestyle")


def test_vault_whose_key_was_changed_elsewhere_is_locked(unlocked, site):
    key, place = generate_vault_key(), ("usr_a", "lifestyle", "food", 1)
    site.vault["key_id"] = key.key_id
    site.segments["lifestyle", "food"]["jwe"] = seal_segment(FOOD, key.secret, SegmentHeader(key.key_id, *place))

    with pytest.raises(KeyRefused, match="the vault's key was changed meanwhile"):
        unlocked.segments(domain="lifestyle")
    with pytest.raises(KeyRefused, match="the vault is locked"):
        unlocked.segments(domain="lifestyle")


def test_approval_of_what_the_vault_has_nothing_of_sends_nothing(owner, site):
    owner.create_vault(PASSPHRASE)

    with pytest.raises(Refused, match="holds none of the attributes"):
        owner.approve(owner.review("req_a"))

    assert site.decisions == []
