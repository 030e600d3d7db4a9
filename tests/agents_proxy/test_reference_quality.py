"""How well the reference agents know invented people, on a small sample; `./run bench profiles` measures more."""

import pytest

from bench import profiles
from bench.profile_forms import FORMS, HELD_OUT


@pytest.fixture(scope="module")
def found() -> profiles.Found:
    return profiles.measure(40)


@pytest.mark.parametrize("name", FORMS)
def test_merged_profiles_are_nearly_always_right_and_mostly_complete(name: str) -> None:
    merged = profiles.measure_set(name, 24)

    assert merged.precision >= profiles.PRECISION
    assert merged.recall >= profiles.RECALL


@pytest.mark.parametrize("agent", ["public", "second"])
def test_what_the_registers_hold_is_found(found: profiles.Found, agent: str) -> None:
    for half in profiles.HALVES:
        assert found.total(half, agent).precision >= 0.99
        assert found.total(half, agent).recall >= 0.99


def test_confidence_is_no_more_than_the_share_that_is_true(found: profiles.Found) -> None:
    for low, high in ((0.85, 0.93), (0.93, 0.97), (0.97, 1.01)):
        those = [pair for pair in found.sure if low <= pair[0] < high]
        said = profiles.mean(confidence for confidence, _ in those)
        assert abs(said - profiles.share(those)) < 0.06


def test_no_held_out_form_is_one_of_development() -> None:
    held_out = FORMS[HELD_OUT].forms
    developed = [one.forms for name, one in FORMS.items() if name != HELD_OUT]

    assert all(forms.keys() == held_out.keys() for forms in developed)
    for name, own in held_out.items():
        assert not {str(form) for form in own} & {str(form) for forms in developed for form in forms[name]}
