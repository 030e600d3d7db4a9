"""Whose key a client takes: the one that it met first, kept from one export to the next, or one that it led to."""

import pytest

from consent_bridge.approvals import KeyPins, OwnerKeyChanged
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.opening import open_envelope
from consent_bridge.results import Envelope, MadeRequest, build
from consent_bridge.signatures import SigningKey, number_of, sha256, thumbprint
from consent_bridge.signing import generate_root, signed_rotation
from consent_bridge.state import OwnerKeys
from tests.bridge import wire
from tests.bridge.refusals import refused_for

ISSUER = "https://consent.example"
MADE_REQUEST = build(MadeRequest, wire.MADE_REQUEST)


def opened(body, pins=None, **options):
    return open_envelope(build(Envelope, body), MADE_REQUEST, wire.KEY, pins=pins, **options)


def own_key():
    return wire.ROOT.app_key(ISSUER, "app_a")


def test_what_the_vault_signed_is_taken_and_its_key_kept():
    pins = KeyPins()
    assert opened(wire.envelope(), pins).data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert pins.find(ISSUER, "usr_a").key == own_key().public
    assert KeyPins(pins.dump()).dump() == pins.dump()
    assert opened(wire.envelope(2), pins).revision == 2


def test_an_export_of_the_services_own_making_is_refused():
    """A server that knows everything but the vault seals to the app's public key, and cannot sign."""
    forged = wire.envelope()
    other = wire.envelope()
    with refused_for("export_sha256"):
        opened({**forged, "approval": other["approval"], "owner_key": other["owner_key"]})
    thief = wire.signed(forged, root=generate_root())
    pins = KeyPins()
    opened(other, pins)
    with pytest.raises(OwnerKeyChanged) as changed:
        opened(thief, pins)
    assert not changed.value.reset
    assert pins.find(ISSUER, "usr_a").key == own_key().public


def test_another_key_is_taken_where_the_old_one_led_to_it():
    pins, new = KeyPins(), generate_root()
    first = wire.envelope()
    opened(first, pins)
    steps = signed_rotation(wire.ROOT, new, issuer=ISSUER, user_id="usr_own", root_seq=1, apps={"app_a": ("usr_a", 1)})
    moved = {**wire.signed(wire.envelope(), root=new), "key_history": steps[1:]}

    for unfit in (
        [],
        steps[:1],
        signed_rotation(
            generate_root(), new, issuer=ISSUER, user_id="usr_own", root_seq=1, apps={"app_a": ("usr_a", 1)}
        )[1:],
    ):
        with pytest.raises(Refused):
            opened({**moved, "key_history": unfit}, pins)
    opened(moved, pins)
    assert pins.find(ISSUER, "usr_a").key == new.app_key(ISSUER, "app_a").public
    opened(first, pins)  # what was taken while the old key counted
    with pytest.raises(OwnerKeyChanged):
        opened(wire.envelope(), pins)  # what the old key signs now


class Clock:
    now = 1_800_000_000.5

    def __call__(self):
        return self.now


def reset_by(root):
    return {**wire.signed(wire.envelope(), root=root), "owner_key_reset": True}


def changed_key(answer, pins):
    """Refused, and noted."""
    with pytest.raises(OwnerKeyChanged) as changed:
        opened(answer, pins)
    return changed.value


@pytest.mark.parametrize("is_known", [True, False])
def test_a_reset_key_can_be_accepted_seven_days_after_this_client_met_it(is_known):
    clock = Clock()
    pins, answer = KeyPins(clock=clock), reset_by(generate_root())
    if is_known:
        opened(wire.envelope(), pins)
    changed = changed_key(answer, pins)
    assert changed.reset
    assert "from 2027-01-22T08:00:00Z on" in str(changed)
    for later in (0, 6 * 86400, 86399):
        clock.now += later
        pins = KeyPins(pins.dump(), clock=clock)
        changed_key(answer, pins)
        with refused_for("owner_key", KeyRefused, "from 2027-01-22T08:00:00Z on"):
            pins.accept(ISSUER, "usr_a", changed.key)
    clock.now += 1
    pins.accept(ISSUER, "usr_a", changed.key)
    assert opened(answer, KeyPins(pins.dump())).revision == 1


def test_the_seven_days_are_of_one_key_and_end_where_the_kept_one_still_signs():
    clock, one, other = Clock(), reset_by(generate_root()), reset_by(generate_root())
    pins = KeyPins(clock=clock)
    opened(wire.envelope(), pins)
    key = changed_key(one, pins).key
    for between in (lambda: changed_key(other, pins), lambda: opened(wire.envelope(), pins)):
        between()
        clock.now += 8 * 86400
        with refused_for("owner_key", KeyRefused):
            pins.accept(ISSUER, "usr_a", key)  # begins them where the key was never met, too
    clock.now += 8 * 86400
    pins.accept(ISSUER, "usr_a", key)
    assert opened(one, pins).revision == 1


def test_a_clock_that_was_ahead_and_set_right_keeps_no_key_away():
    clock, answer = Clock(), reset_by(generate_root())
    pins, right = KeyPins(clock=clock), clock.now
    opened(wire.envelope(), pins)
    clock.now += 70 * 365 * 86400
    key = changed_key(answer, pins).key
    clock.now = right
    changed_key(answer, pins)
    clock.now += 7 * 86400

    pins.accept(ISSUER, "usr_a", key)

    assert opened(answer, pins).revision == 1


def test_keys_that_could_not_be_written_once_are_written_after_the_next_read(tmp_path):
    keys, pins = OwnerKeys(tmp_path), KeyPins()
    opened(wire.envelope(), pins)

    with keys.keeping(pins):
        pass

    assert keys.load().dump() == pins.dump() != {}


def test_what_another_program_kept_meanwhile_stays(tmp_path):
    keys, key = OwnerKeys(tmp_path), own_key().public
    one, other = keys.load(), keys.load()

    with keys.keeping(one):
        one.keep(ISSUER, "usr_a", key, "an approval")
        with keys.keeping(other):
            other.keep(ISSUER, "usr_a", key, "another approval")
            other.keep(ISSUER, "usr_b", key, "an approval")

    kept = keys.load()
    assert sorted(kept.find(ISSUER, "usr_a").approvals) == sorted(map(sha256, ("an approval", "another approval")))
    assert kept.find(ISSUER, "usr_b").approvals == [sha256("an approval")]


@pytest.mark.parametrize("moving", ["one", "other"])
def test_approvals_of_a_key_that_moved_on_meanwhile_stay(tmp_path, moving):
    keys, new = OwnerKeys(tmp_path), generate_root().app_key(ISSUER, "app_a").public
    first = keys.load()
    with keys.keeping(first):
        first.keep(ISSUER, "usr_a", own_key().public, "an approval")

    one, other = keys.load(), keys.load()
    with keys.keeping(one):
        one.keep(ISSUER, "usr_a", new if moving == "one" else own_key().public, "by one")
        with keys.keeping(other):
            other.keep(ISSUER, "usr_a", new if moving == "other" else own_key().public, "by the other")

    kept = keys.load().find(ISSUER, "usr_a")
    assert (kept.key, kept.earlier) == (new, [thumbprint(own_key().public)])
    assert sorted(kept.approvals) == sorted(map(sha256, ("an approval", "by one", "by the other")))


@pytest.mark.parametrize("accepting", ["one", "other"])
def test_a_key_that_was_accepted_stays_where_another_program_met_it_meanwhile(tmp_path, accepting):
    keys, new = OwnerKeys(tmp_path), generate_root().app_key(ISSUER, "app_a").public
    first = KeyPins(clock=lambda: 0)
    with keys.keeping(first):
        first.keep(ISSUER, "usr_a", own_key().public, "an approval")
        first.meet(ISSUER, "usr_a", new)

    def use(pins, name):
        if name == accepting:
            pins.accept(ISSUER, "usr_a", new)
        else:
            pins.keep(ISSUER, "usr_a", own_key().public, "another approval")

    one, other = KeyPins(keys.load().dump()), KeyPins(keys.load().dump())
    with keys.keeping(one):
        use(one, "one")
        with keys.keeping(other):
            use(other, "other")

    assert keys.load().dump() == {f"{ISSUER} usr_a": {"key": new, "earlier": [], "approvals": []}}


@pytest.mark.parametrize("value", [2**53, -(2**53), 10**400, True, 1.0, None])
def test_a_number_is_whole_and_exact_for_every_reader(value):
    assert number_of({"iat": 2**53 - 1}, "iat", "it") == 2**53 - 1
    with refused_for("iat"):
        number_of({"iat": value}, "iat", "it")


def test_no_two_apps_share_a_key():
    one, two = (wire.ROOT.app_key(ISSUER, app).public for app in ("app_a", "app_b"))
    assert one != two
    assert (
        SigningKey(bytes(32)).public["x"] == "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"
    )  # an RFC 8032 seed of zeros
