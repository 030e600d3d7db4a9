"""What the reference agents keep: found by any identifier, changed, never mixed, forgotten on demand."""

import threading
from pathlib import Path
from typing import Any

import pytest

from agents_proxy.analyses.prompts import profile_prompt
from examples.reference_agents.prompts import Call
from examples.reference_agents.store import Store, keep_in, kept
from tests.agents_proxy.reference_agents import profile_of
from tests.patience import MOST_SECONDS
from tests.system.agents_proxy.test_reference import ask, start

pytestmark = pytest.mark.usefixtures("empty_store")
NOBODY = Call("")
STORY = """Create a profile; reach her at +49 30 12345678 or Zoe.Doe@example.org.
Full name: Zoe Doe
Age: 34
City: Berlin
Diet preference: vegetarian
Likes: tea, jazz
"""
IDENTIFIERS = {"fullName": "Zoe Doe", "email": "zoe.doe@example.org", "countryCode": "+49", "phoneNumber": "3012345678"}
ZOE = {
    "full_name": "Zoe Doe", "email": "zoe.doe@example.org", "phone": "+493012345678", "age": 34, "city": "Berlin",
    "diet_preference": "vegetarian", "likes": ["tea", "jazz"], "country": "Germany",
}  # fmt: skip


@pytest.mark.parametrize(
    "prompt",
    [
        "Phone: +49 30 12345678", "Who can be reached at +49 (30) 1234-5678?", "E-mail: ZOE.DOE@example.org",
        '{"phone": "+493012345678"}', '{"email": "Zoe.Doe@Example.org"}', profile_prompt(IDENTIFIERS),
        '{"countryCode": "+49", "phoneNumber": "3012345678"}',
    ],
)  # fmt: skip
def test_what_was_created_is_found_by_each_identifier_however_it_is_written(prompt: str) -> None:
    created = profile_of("core-profile", STORY)

    assert created == ZOE
    assert profile_of("core", prompt) == ZOE


def test_nothing_kept_answers_the_identifiers_alone() -> None:
    assert profile_of("core", "Phone: +49 30 12345678") == {"phone": "+493012345678"}
    assert profile_of("core", "Who?") == {}


def test_the_same_person_again_changes_the_profile() -> None:
    profile_of("core-profile", STORY)

    profile_of("core-profile", "zoe.doe@example.org moved.\nCity: Bremen\nEducation: doctorate")

    assert profile_of("core", "+49 30 12345678") == {**ZOE, "city": "Bremen", "education": "doctorate"}


@pytest.mark.parametrize(
    ("instruction", "changed"),
    [
        ("Diet preference: vegan", {"diet_preference": "vegan"}),
        ("- City = Bonn", {"city": "Bonn"}),
        ("Please change the diet to vegan.", {"diet_preference": "vegan"}),
        ("Set her city to Bonn", {"city": "Bonn"}),
        ("My diet is vegan. My likes are tea, rain.", {"diet_preference": "vegan", "likes": ["tea", "rain"]}),
        ("Age: 35 years", {"age": 35}),
        ("Likes: tea", {"likes": ["tea"]}),
        ("Gym membership: no", {"gym_membership": False}),
        ('{"dietPreference": "vegan", "Coffee or Tea": "tea"}', {"diet_preference": "vegan", "coffee_or_tea": "tea"}),
        ('{"phone": "+49 30 / 12345678", "age": 36}', {"age": 36}),
        ('{"diet_preference": null}', {"diet_preference": None}),
        ("Her brother is vegan. Rules: be kind", {}),
    ],
)
def test_an_update_changes_the_kept_profile(instruction: str, changed: dict[str, Any]) -> None:
    profile_of("core-profile", STORY)
    expected = {name: value for name, value in {**ZOE, **changed}.items() if value is not None}

    assert profile_of("core-profile-update", f"The person with +49 30 12345678.\n{instruction}") == expected
    assert profile_of("core", "zoe.doe@example.org") == expected


def test_an_update_finds_the_profile_by_what_it_is_given() -> None:
    profile_of("core-profile", STORY)

    updated = profile_of(
        "core-profile-update", '{"userProfile": {"email": "zoe.doe@example.org"}}\nDiet preference: vegan'
    )

    assert updated == {**ZOE, "diet_preference": "vegan"}


def test_an_update_of_nobody_keeps_nobody() -> None:
    profile_of("core-profile-update", "Update +49 30 12345678.")

    assert kept().find({"phone": "+493012345678"}) is None


def test_identifiers_of_two_people_find_and_change_nobody() -> None:
    profile_of("core-profile", STORY)
    profile_of("core-profile", "Name: Ben Moss\nAge: 50\nEmail: ben@example.org")
    both = "+49 30 12345678 and ben@example.org"

    assert profile_of("core", both) == {"phone": "+493012345678", "email": "ben@example.org"}
    profile_of("core-profile", f"{both}\nDiet preference: vegan")
    assert profile_of("core", "+49 30 12345678") == ZOE
    assert profile_of("core", "ben@example.org")["age"] == 50


def test_a_file_outlives_the_program_and_belongs_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "profiles.sqlite3"
    keep_in(path)
    profile_of("core-profile", STORY)
    keep_in(path)

    assert profile_of("core", "+49 30 12345678") == ZOE
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_threads_make_one_profile() -> None:
    threads = [
        threading.Thread(target=profile_of, args=("core-profile", f"zoe@example.org\nAge: {20 + at}"))
        for at in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert profile_of("core", "zoe@example.org")["age"] in range(20, 36)
    assert kept()._connection.execute("SELECT count(DISTINCT profile) FROM fields").fetchone() == (1,)


def test_two_programs_share_a_file(tmp_path: Path) -> None:
    one, other = (Store(tmp_path / "profiles.sqlite3") for _ in range(2))
    one.change({"email": "a@example.org"}, {"email": "a@example.org", "age": 30}, by=NOBODY)
    other.change({"email": "A@example.org"}, {"age": 31}, by=NOBODY)

    assert one.find({"email": "a@example.org"}) == {"email": "a@example.org", "age": 31}


def test_an_address_of_somebody_else_cannot_be_taken() -> None:
    store = kept()
    store.change({"email": "a@example.org"}, {"email": "a@example.org"}, by=NOBODY)
    store.change({"email": "b@example.org"}, {"email": "b@example.org"}, by=NOBODY)

    for known, fields in (({"email": "a@example.org"}, {"email": "b@example.org"}), ({}, {"age": 30})):
        with pytest.raises(ValueError, match="phone number or e-mail address of one person"):
            store.change(known, fields, by=NOBODY)
    assert store.find({"email": "a@example.org"}) == {"email": "a@example.org"}


def test_a_new_address_takes_the_place_of_the_old_one() -> None:
    store, zoe = kept(), {"phone": "+493012345678"}
    store.change(zoe, {**zoe, "email": "old@example.org", "age": 30}, by=Call("", "one", 1.0, "zoe"))
    store.change(zoe, {"email": "new@example.org"}, by=Call("", "other", 2.0, "zoe"))

    assert store.find({"email": "old@example.org"}) is None
    assert store.find({"email": "new@example.org"}) == {**zoe, "email": "new@example.org", "age": 30}
    assert store.forget({"phone": [zoe["phone"]]}, consent="one", before=9.0, person="zoe") == 3
    assert store.find(zoe) is None


def test_what_came_first_counts_again_when_what_came_later_goes() -> None:
    store, zoe = kept(), {"email": "zoe@example.org"}
    store.change(zoe, {**zoe, "city": "Bonn", "age": 30}, by=Call("", "one", 1.0, "zoe"))
    store.change(zoe, {**zoe, "city": "Porto"}, by=Call("", "other", 2.0, "zoe"))

    assert store.forget({"email": [zoe["email"]]}, consent="other", before=2.0, person="zoe") == 0
    assert store.forget({"email": [zoe["email"]]}, consent="other", before=9.0, person="somebody") == 0
    assert store.find(zoe) == {**zoe, "city": "Porto", "age": 30}
    store.forget({"email": [zoe["email"]]}, consent="other", before=9.0, person="zoe")
    assert store.find(zoe) == {**zoe, "city": "Bonn", "age": 30}


@pytest.mark.parametrize("name", ["core-profile", "core-profile-update", "core", "public", "second", "brand"])
@pytest.mark.parametrize(
    "prompt",
    [
        '{"email": {"a": 1}, "phone": ["x"], "full_name": 7}', '{"userProfile": []}',
        '{"email": ""} Remove it from likes.',
        '{"likes": {"a": [null]}, "email": "a@example.org"}', "'; DROP TABLE profiles; -- a@example.org", "Remove",
    ],
)  # fmt: skip
def test_bad_input_is_answered_and_breaks_nothing(name: str, prompt: str) -> None:
    assert isinstance(profile_of(name, prompt), dict)
    assert isinstance(profile_of("core", "a@example.org"), dict)


@pytest.mark.own_process("the file is read by a second program")
def test_the_program_keeps_profiles_in_the_file_that_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "profiles.sqlite3"
    for prompt, name in ((STORY, "core-profile"), ("+49 30 12345678", "core")):
        process, address = start("--store", str(path))
        try:
            answered = ask(address, name, prompt)
        finally:
            process.terminate()
            process.communicate(timeout=MOST_SECONDS)
        assert {field: value for field, value in answered.items() if field != "confidence_score"} == ZOE


def test_updates_at_the_same_time_keep_what_each_other_changed() -> None:
    profile_of("core-profile", "zoe@example.org")
    names = ("city", "occupation", "education", "fashion_style", "gender", "state", "country", "address")
    threads = [
        threading.Thread(target=profile_of, args=("core-profile-update", f'zoe@example.org {{"{name}": "x"}}'))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert profile_of("core", "zoe@example.org") == {"email": "zoe@example.org", **dict.fromkeys(names, "x")}
