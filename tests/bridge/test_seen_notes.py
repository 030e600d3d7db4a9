"""What several programs of one machine keep of what they saw: none forgets what another one saw."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from consent_bridge.state import SeenNotes
from consent_bridge.vault_notes import NotesMemory

WRITERS, EACH = 4, 25


def seen(revision, generation=1):
    return {"revision": revision, "key_id": "vk_a", "generation": generation, "sha256": f"sha_{revision}", "at": 0}


def keep_many(directory, number):
    """One program, each time of another person."""
    for count in range(EACH):
        SeenNotes(directory).keep(f"usr_{number}_{count}", {"notes": seen(count)})


def test_programs_that_write_at_once_lose_nothing(tmp_path):
    with ThreadPoolExecutor(WRITERS) as programs:  # each opens the file anew, as a process does
        list(programs.map(keep_many, [tmp_path] * WRITERS, range(WRITERS)))

    kept = SeenNotes(tmp_path)
    lost = [
        (number, count)
        for number in range(WRITERS)
        for count in range(EACH)
        if kept.load(f"usr_{number}_{count}") != {"notes": seen(count)}
    ]
    assert lost == []


@pytest.fixture(params=["a file", "this process"])
def memory(request, tmp_path):
    return SeenNotes(tmp_path) if request.param == "a file" else NotesMemory()


def test_a_program_that_is_late_keeps_nothing_older_than_what_is_kept(memory):
    memory.keep("usr_a", {"notes": seen(5, generation=2), "segments": {"lifestyle.food": 3}})

    memory.keep("usr_a", {"notes": seen(4, generation=2), "segments": {"lifestyle.food": 2, "contact.email": 1}})
    memory.keep("usr_a", {"notes": seen(9, generation=1)})
    assert memory.load("usr_a") == {
        "notes": seen(5, generation=2),
        "segments": {"lifestyle.food": 3, "contact.email": 1},
    }

    memory.keep("usr_a", {"notes": seen(1, generation=3)})
    assert memory.load("usr_a")["notes"] == seen(1, generation=3)


def test_what_was_seen_is_replaced_by_the_persons_word(memory):
    memory.keep("usr_a", {"notes": seen(5), "segments": {"lifestyle.food": 3}})
    memory.keep("usr_b", {"notes": seen(7)})

    memory.replace("usr_a", {"notes": seen(2)})

    assert (memory.load("usr_a"), memory.load("usr_b")) == ({"notes": seen(2)}, {"notes": seen(7)})
