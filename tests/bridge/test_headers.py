"""The header profile: exactly the members listed. Each test seals by hand and says what must stop it."""

import re

import pytest

from consent_bridge.sealed import (
    MAX_JWE_CHARS,
    CannotOpen,
    Refused,
    equal_as_text,
    open_export,
    open_export_where,
    open_segment,
    seal_segment,
)
from tests.bridge.handmade import (
    CONTENT,
    EXPORT,
    EXPORT_MEMBERS,
    KEY,
    SEGMENT,
    SEGMENT_MEMBERS,
    VAULT,
    hand_sealed_export,
    hand_sealed_segment,
    with_header,
)
from tests.bridge.refusals import refused_for


def test_hand_sealed_opens_as_it_is():
    assert open_segment(hand_sealed_segment(), VAULT.secret, SEGMENT) == {"coffee_or_tea": "tea"}
    assert open_export(hand_sealed_export(), KEY, EXPORT) == CONTENT


@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("zip", "DEF", "header member zip is refused"),
        ("crit", ["exp"], "header member crit is refused"),
        ("apu", "QQ", "header member apu is refused"),
        ("apv", "QQ", "header member apv is refused"),
        ("jku", "https://a.example/k", "header member jku is refused"),
        ("jwk", {}, "header member jwk is refused"),
        ("x5u", "https://a.example/k", "header member x5u is refused"),
        ("x5t#S256", "QQ", "header member x5t#S256 is refused"),
        ("cty", "application/json", 'header member "cty" is unknown'),
        ("exp", 1, 'header member "exp" is unknown'),
        ("alg", "A128KW", 'alg "A128KW" is not on the list'),
        ("alg", ["A256KW"], "is not on the list"),
        ("enc", "A128GCM", 'enc "A128GCM" is not on the list'),
        ("typ", "JWE", 'typ is "JWE", not "pkm-segment+jwe"'),
        ("kid", "vk_a b", "kid is not 1 to 128"),
        ("kid", "vk_" + "a" * 126, "kid is not 1 to 128"),
        ("kid", "vk_a\n", "kid is not 1 to 128"),
        ("kid", "key_a", "kid does not name a vault key"),
        ("sub", "", "sub is not text"),
        ("sub", 7, "sub is not text"),
        ("sub", "usr_\u202ea", "sub is not text"),
        ("domain", "d" * 513, "domain is not text"),
        ("content_revision", 0, "content_revision is not a positive whole number"),
        ("content_revision", True, "content_revision is not a positive whole number"),
        ("content_revision", "3", "content_revision is not a positive whole number"),
        ("content_revision", 3.0, "content_revision is not a positive whole number"),
        ("content_revision", 2**53, "content_revision is not a positive whole number"),
    ],
)
def test_segment_header_outside_the_profile_is_refused(member, value, reason):
    sealed = with_header(hand_sealed_segment(), lambda header: header.update({member: value}))

    with refused_for(member, match=re.escape(reason)):
        open_segment(sealed, VAULT.secret, SEGMENT)


@pytest.mark.parametrize("member", SEGMENT_MEMBERS)
def test_segment_header_without_a_member_is_refused(member):
    sealed = with_header(hand_sealed_segment(), lambda header: header.pop(member))

    with pytest.raises(Refused, match=f'the header has no member "{member}"'):
        open_segment(sealed, VAULT.secret, SEGMENT)


def test_authentic_segment_with_an_unknown_member_is_refused():
    with pytest.raises(Refused, match='"note" is unknown'):
        open_segment(hand_sealed_segment(note="hello"), VAULT.secret, SEGMENT)


@pytest.mark.parametrize(
    ("member", "other"),
    [("kid", "vk_other"), ("sub", "usr_b"), ("domain", "contact"), ("segment_id", "habits"), ("content_revision", 2)],
)
def test_segment_from_elsewhere_is_refused(member, other):
    with refused_for(member, match=f"header member {member} is"):
        open_segment(hand_sealed_segment(**{member: other}), VAULT.secret, SEGMENT)


@pytest.mark.parametrize(
    ("sealed", "reason"),
    [
        ("", "empty"),
        ("garbage", "1 parts, not 5"),
        ("a.b.c.d", "4 parts"),
        ("a.b.c.d.e.f", "6 parts"),
        ("....", "the header is not JSON"),
        ("e30....", 'no member "alg"'),
        ("W10....", "not a JSON object"),
        ("eyJhbGciOiJBMjU2S1ciLCJhbGciOiJkaXIifQ....", "given twice"),
        ("e30=....", "base64url"),
        ("A" * 5000 + "....", "longer than 4096"),
        ("A" * (MAX_JWE_CHARS + 1), "longer than"),
    ],
)
def test_text_that_is_no_jwe_is_refused(sealed, reason):
    with pytest.raises(Refused, match=reason):
        open_segment(sealed, VAULT.secret, SEGMENT)


@pytest.mark.parametrize(
    ("part", "reason"), [(1, "the encrypted key"), (2, "the initialization vector"), (4, "the authentication tag")]
)
def test_part_of_another_length_is_refused(part, reason):
    parts = seal_segment({"a": 1}, VAULT.secret, SEGMENT).split(".")
    parts[part] = parts[part][:8]

    with pytest.raises(Refused, match=reason):
        open_segment(".".join(parts), VAULT.secret, SEGMENT)


def test_part_that_is_not_base64url_is_refused():
    parts = seal_segment({"a": 1}, VAULT.secret, SEGMENT).split(".")
    parts[3] = parts[3][:-1] + "!"

    with pytest.raises(CannotOpen):
        open_segment(".".join(parts), VAULT.secret, SEGMENT)


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ([("aud", "app_b")], 'aud is "app_a", not "app_b"'),
        ([("revision", "02")], 'revision is 2, not "02"'),
        ([("aud", "app_a"), ("revision", "3")], "revision"),
        ([("color", "red")], 'no member "color"'),
        ([("epk", "{}")], "cannot be compared"),
    ],
)
def test_expectation_as_text_is_refused_where_it_differs(expected, reason):
    with pytest.raises(Refused, match=reason):
        open_export_where(hand_sealed_export(), KEY, equal_as_text(expected))


def test_expectation_as_text_opens_where_it_holds():
    expected = [(name, str(value)) for name, value in EXPORT_MEMBERS.items()]

    assert open_export_where(hand_sealed_export(), KEY, equal_as_text(expected)) == CONTENT
