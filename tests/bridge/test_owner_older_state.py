"""The owner's program where the service shows an older state than was seen: it says so, and seals nothing."""

from dataclasses import replace

import pytest

from consent_bridge.errors import Problem, Refused
from consent_bridge.owner import Owner
from consent_bridge.records import without_records
from consent_bridge.signatures import sha256, thumbprint
from consent_bridge.signing import new_root, seal_root
from consent_bridge.vault_notes import NotesMemory, RolledBack, seal_notes
from consent_bridge.wrappers import wrap
from tests.bridge.fake_service import Reply, problem
from tests.bridge.fake_site import LOGIN, PASSPHRASE, PASSWORD
from tests.bridge.refusals import refused_for
from tests.bridge.remembered import CUISINE, another_program, entry, notes_of, status, write_notes


def test_older_notes_than_were_seen_stop_a_decision_and_a_renewal(unlocked, site, approved):
    before = site.notes
    unlocked.refresh_grant(approved)
    site.notes, sent = before, len(site.decisions) + len(site.exports)

    with pytest.raises(RolledBack, match="older state of your vault than was seen here"):
        unlocked.refresh_grant(status(CUISINE, revision=2))
    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))
    site.notes = {"revision": 0, "jwe": None}
    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))

    assert len(site.decisions) + len(site.exports) == sent


def test_other_notes_of_the_same_revision_stop_a_decision(unlocked, site, approved):
    revision = site.notes["revision"]
    notes = {"approvals": without_records(None, [], 0)}
    site.notes = {"jwe": seal_notes(notes, unlocked._unlocked(), "usr_a", revision), "revision": revision}

    with pytest.raises(RolledBack):
        unlocked.approve(unlocked.review("req_a"))


def test_newer_notes_of_another_device_are_taken(unlocked, site, approved):
    write_notes(unlocked, site, log={"size": 4})
    write_notes(unlocked, site, log={"size": 5})

    unlocked.approve(unlocked.review("req_a"))

    assert notes_of(unlocked, site)["log"] == {"size": 5}


def test_what_was_seen_outlives_the_program_where_somebody_keeps_it(fake, unlocked, site, approved):
    memory, before = NotesMemory(), site.notes
    with another_program(fake, memory) as first:
        first.approve(first.review("req_a"))
    site.notes = before

    with another_program(fake, memory) as second, pytest.raises(RolledBack):
        second.approve(second.review("req_a"))


def test_a_program_that_is_faster_makes_no_alarm(fake, unlocked, site, approved):
    """It writes, and remembers what it wrote, while the answer of before is on its way."""
    memory, notes_script = NotesMemory(), fake.scripts["GET", "/vault/notes"][0]
    with another_program(fake, memory) as slower, another_program(fake, memory) as faster:

        def overtaken(call):
            answer = notes_script(call)
            fake.scripts["GET", "/vault/notes"] = [notes_script]
            faster.approve(faster.review("req_a"))
            return answer

        fake.scripts["GET", "/vault/notes"] = [overtaken]
        slower.check_state()

    assert memory.load("usr_a")["notes"]["revision"] == site.notes["revision"]


# --- a vault that was made with notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["notes", "the root in them", "the root"])
def test_a_vault_that_was_made_with_notes_approves_nothing_without_them(fake, unlocked, site, gone):
    """On a device that remembers nothing: the way in says so, and the service cannot make one that says otherwise."""
    if gone == "notes":
        site.notes = {"revision": 0, "jwe": None}
    elif gone == "the root":
        site.vault["signing_jwe"] = site.vault["signing_public_key"] = None
    else:
        jwe = seal_notes({"approvals": {}}, unlocked._unlocked(), "usr_a", 1)
        site.notes = {"revision": 1, "jwe": jwe}

    with pytest.raises(Refused), another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert (site.decisions, site.vault["signing_jwe"] is None) == ([], gone == "the root")


def test_a_device_that_remembers_nothing_says_no_date(fake, unlocked, site):
    site.notes = {"revision": 0, "jwe": None}

    with (
        another_program(fake, NotesMemory()) as owner,
        pytest.raises(RolledBack, match="than there was: your vault was"),
    ):
        owner.check_state()


def test_another_root_than_the_notes_name_is_refused(fake, unlocked, site):
    _, members = new_root(unlocked._unlocked().secret, unlocked._unlocked().key_id, "usr_a")
    site.vault |= members

    with refused_for("signing_public_key"), another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert site.decisions == []


@pytest.mark.parametrize("present", ["old", "new"])
def test_a_root_that_is_being_replaced_is_known_by_both_of_its_names(fake, unlocked, site, present):
    """The browser names the next one in the notes before it sends it, beside the one that the service has."""
    old, key = unlocked._approval_root(), unlocked._unlocked()
    new, members = new_root(key.secret, key.key_id, "usr_a")
    write_notes(unlocked, site, root=thumbprint(old.key.public), next_root=thumbprint(new.key.public))
    if present == "new":
        site.vault |= members

    with another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert len(site.decisions) == 1


def test_an_older_vault_without_the_mark_goes_on_and_gets_its_notes(fake, unlocked, site):
    key = replace(unlocked._unlocked(), has_notes=False)
    site.vault["wrappers"] = [
        {"kind": "passphrase", "label": "Passphrase", "jwe": wrap(key, "passphrase", PASSPHRASE, "usr_a")}
    ]
    site.notes = {"revision": 0, "jwe": None}

    with another_program(fake, NotesMemory()) as owner:
        owner.approve(owner.review("req_a"))

    assert len(site.decisions) == site.notes["revision"] == 1


def test_an_older_key_that_was_put_back_with_its_notes_stops_a_decision(fake, unlocked, site):
    """The person changed the vault's key elsewhere: the notes count it. A higher generation is taken over."""
    memory, old_vault, old_notes = NotesMemory(), dict(site.vault), site.notes
    with another_program(fake, memory) as first:
        first.approve(first.review("req_a"))
    old = unlocked._unlocked()
    new, notes, revision = replace(old, key_id="vk_" + "b" * 26), notes_of(unlocked, site), site.notes["revision"]
    counted = {**notes, "generation": notes["generation"] + 1, "retired": [old.key_id]}
    site.vault |= {
        "key_id": new.key_id,
        "wrappers": [{"kind": "passphrase", "label": "P", "jwe": wrap(new, "passphrase", PASSPHRASE, "usr_a")}],
        "signing_jwe": seal_root(unlocked._approval_root(), new.secret, new.key_id, "usr_a"),
    }
    site.notes = {"jwe": seal_notes(counted, new, "usr_a", revision), "revision": revision}
    with another_program(fake, memory) as second:
        second.check_state()

    forged = {**notes, "connectors": {}}
    for kept in (old_notes, {"jwe": seal_notes(forged, old, "usr_a", revision + 9), "revision": revision + 9}):
        site.vault, site.notes = dict(old_vault), kept
        with another_program(fake, memory) as third, pytest.raises(RolledBack):
            third.check_state()


# --- what the history tells of the vault ------------------------------------------------------------------------------


def say_state(site, key_id, revision=None, jwe=None):
    """The service writes down which notes there are."""
    facts = {
        "key_id": key_id,
        "revision": revision or site.notes["revision"],
        "notes_sha256": sha256(jwe or site.notes["jwe"]),
    }
    site.chain.append(entry(site, "vault_state", facts))


def test_notes_that_went_back_are_told_to_a_program_that_saw_nothing(fake, unlocked, site):
    """Notes and segments were put back together, and the history was not."""
    key_id, before = unlocked._unlocked().key_id, site.notes
    say_state(site, key_id)
    write_notes(unlocked, site, log={"size": 4})
    say_state(site, key_id)
    with another_program(fake, NotesMemory()) as first:
        first.check_state()
        first.approve(first.review("req_a"))
    site.notes = before

    with another_program(fake, NotesMemory()) as other:
        with pytest.raises(RolledBack, match="later state"):
            other.check_state()
        with pytest.raises(RolledBack, match="later state"):
            other.approve(other.review("req_a"))
        assert len(site.decisions) == 1
        other.take_older_state()
        say_state(site, key_id)
        other.approve(other.review("req_a"))


@pytest.mark.parametrize("what", ["other notes of the revision", "a later key"])
def test_other_notes_and_an_earlier_key_are_told_too(fake, unlocked, site, what):
    key_id = unlocked._unlocked().key_id
    say_state(site, key_id, jwe="other" if what.startswith("other") else None)
    if what == "a later key":
        say_state(site, "vk_later")
    with another_program(fake, NotesMemory()) as other, pytest.raises(RolledBack, match="later state"):
        other.check_state()


def test_an_earlier_vault_a_retired_key_and_a_state_that_is_not_told_are_no_older_state(fake, unlocked, site):
    say_state(site, "vk_of_a_vault_that_was_given_up", revision=99)
    key_id = unlocked._unlocked().key_id
    say_state(site, key_id)
    say_state(site, "vk_retired", revision=99)
    write_notes(unlocked, site, retired=["vk_retired"])
    with another_program(fake, NotesMemory()) as other:
        other.check_state()


def test_a_program_that_writes_meanwhile_makes_no_alarm_by_the_history(fake, unlocked, site):
    """The history was read after it wrote, and the notes before."""
    key_id, older = unlocked._unlocked().key_id, Reply(site.notes)
    newer = fake.scripts["GET", "/vault/notes"][0]
    with another_program(fake, NotesMemory()) as slower:
        write_notes(unlocked, site, log={"size": 4})
        say_state(site, key_id)
        fake.scripts["GET", "/vault/notes"] = [older, newer]
        slower._take_out_ended()


# --- a new vault ------------------------------------------------------------------------------------------------------


def test_a_new_vault_after_the_old_one_was_given_up_is_no_older_state(fake, unlocked, site, approved):
    """Neither on the device that makes it, nor on another that saw the old vault."""
    here, elsewhere = NotesMemory(), NotesMemory()
    write_notes(unlocked, site, generation=notes_of(unlocked, site)["generation"] + 2)
    for memory in (here, elsewhere):
        another_program(fake, memory).close()
    given_up(site)

    with Owner(fake.url, memory=here) as owner:
        owner.sign_in(LOGIN, PASSWORD)
        owner.create_vault(PASSPHRASE)
        owner.check_state()
        first = site.notes
        owner.write("lifestyle", "food", {"favorite_cuisine": "Greek"}, base=2)
        owner.approve(owner.review("req_a"))
        site.notes = first
        with pytest.raises(RolledBack):
            owner.check_state()
    with another_program(fake, elsewhere) as other:
        other.check_state()


@pytest.mark.parametrize("remembers", ["nothing", "an earlier key of it"])
def test_a_device_that_knows_less_of_the_old_vault_makes_one_that_others_take_over(fake, unlocked, site, remembers):
    here, elsewhere = NotesMemory(), NotesMemory()
    if remembers != "nothing":
        write_notes(unlocked, site, generation=1)
        another_program(fake, here).close()
    write_notes(unlocked, site, generation=9)
    another_program(fake, elsewhere).close()
    given_up(site)

    with Owner(fake.url, memory=here) as owner:
        owner.sign_in(LOGIN, PASSWORD)
        owner.create_vault(PASSPHRASE)
    with another_program(fake, elsewhere) as other:
        other.check_state()


def test_a_vault_that_was_not_made_changes_nothing_that_is_remembered(fake, unlocked, site, approved):
    memory, before = NotesMemory(), site.notes
    with another_program(fake, memory) as first:
        first.approve(first.review("req_a"))
        with pytest.raises(Problem, match="vault_exists"):
            first.create_vault(PASSPHRASE)
        site.notes = before
        with pytest.raises(RolledBack):
            first.check_state()


def given_up(site):
    """As the service keeps it once that took effect: nothing of the vault, and segments count on."""
    site.vault, site.notes = {"key_id": None, "wrappers": []}, {"revision": 0, "jwe": None}
    for row in site.segments.values():
        row |= {"content_revision": row["content_revision"] + 1, "jwe": None}


# --- what went back ---------------------------------------------------------------------------------------------------


def test_what_went_back_is_told_and_taken_by_the_persons_word(fake, unlocked, site, approved):
    """The program ends, the service is restored, and another run of it says so before anything is shown or sealed."""
    memory = NotesMemory()
    with another_program(fake, memory) as first:
        first.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
        yesterday = (site.notes, {place: dict(row) for place, row in site.segments.items()})
        first.update("lifestyle", "food", {"favorite_cuisine": "Georgian"})
        first.approve(first.review("req_a"))
    site.notes, site.segments = yesterday
    site.decisions.clear()

    with another_program(fake, memory) as second:
        with pytest.raises(RolledBack, match=r"lifestyle\.food went back from revision 3 to 2; .* ask the operator"):
            second.check_state()
        second.take_older_state()
        second.check_state()
        assert notes_of(second, site)["approvals"] == {"app_a": {"sub": "usr_as_app_a", "keys": {}}}
        with refused_for("approval"):
            second.refresh_grant(approved)
        second.approve(second.review("req_a"))

    assert len(site.decisions) == 1


def test_what_was_seen_is_forgotten_only_once_the_older_state_is_written(fake, unlocked, site, approved):
    memory, before = NotesMemory(), site.notes
    with another_program(fake, memory) as first:
        first.approve(first.review("req_a"))
    newest = site.notes
    site.notes, kept = before, fake.scripts["PUT", "/vault/notes"]
    with another_program(fake, memory) as second:
        fake.scripts["PUT", "/vault/notes"] = [problem("reauthentication_required", 403)]
        with pytest.raises(Problem, match="reauthentication_required"):
            second.take_older_state()
        with pytest.raises(RolledBack):
            second.check_state()
        fake.scripts["PUT", "/vault/notes"] = kept
        site.notes = {"revision": 0, "jwe": None}
        with refused_for("notes", RolledBack, match="only a new vault helps"):
            second.take_older_state()
        site.notes = before
        with pytest.raises(RolledBack):
            second.check_state()
        second.take_older_state()
        second.check_state()

    site.notes = before  # and what was written is seen in its place
    with another_program(fake, memory) as third, pytest.raises(RolledBack):
        third.check_state()
    site.notes = newest
    with another_program(fake, memory) as fourth, pytest.raises(RolledBack):
        fourth.check_state()


def test_a_program_that_saw_newer_segments_reads_those_that_it_took(fake, unlocked, site):
    before = {place: dict(row) for place, row in site.segments.items()}
    unlocked.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
    site.segments = before

    unlocked.take_older_state()

    assert unlocked.segments(domain="lifestyle")[0].content_revision == 1


def test_a_segment_that_was_put_back_is_not_sealed_by_a_program_that_never_saw_it(fake, unlocked, site):
    """Neither an older revision than one that was sealed, nor one that was deleted, wherever that was done."""
    before = {place: dict(row) for place, row in site.segments.items()}
    unlocked.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
    unlocked.approve(unlocked.review("req_a"))
    site.segments = {place: dict(row) for place, row in before.items()}
    with another_program(fake, NotesMemory()) as second, refused_for("content_revision", RolledBack):
        second.approve(second.review("req_a"))

    unlocked.delete("lifestyle", "food", base=1)
    site.segments = before
    with another_program(fake, NotesMemory()) as third, refused_for("content_revision", RolledBack):
        third.approve(third.review("req_a"))

    assert len(site.decisions) == 1


def test_a_second_device_and_a_deletion_there_are_no_rollback(fake, unlocked, site):
    with another_program(fake, NotesMemory()) as other:
        other.segments(domain="lifestyle")
        unlocked.update("lifestyle", "food", {"favorite_cuisine": "Greek"})
        unlocked.delete("lifestyle", "fitness", base=1)
        other.check_state()
        other.approve(other.review("req_a"))
    unlocked.check_state()
    unlocked.approve(unlocked.review("req_a"))

    assert len(site.decisions) == 2


# --- segments and hidden scopes ---------------------------------------------------------------------------------------


def served_again(site, unlocked, value):
    """The segment as it is, written over since, and what is served from then on."""
    older = dict(site.segments["lifestyle", "food"])
    unlocked.update("lifestyle", "food", {"coffee_or_tea": value})
    return older


def test_an_older_segment_that_was_never_sealed_for_an_app_is_noticed_elsewhere(fake, unlocked, site):
    unlocked.update("lifestyle", "food", {"coffee_or_tea": "tea"})
    older = served_again(site, unlocked, "coffee")
    assert notes_of(unlocked, site)["segments"]["lifestyle.food"] == older["content_revision"] + 1
    site.segments["lifestyle", "food"] = older

    with another_program(fake, NotesMemory()) as fresh:
        with pytest.raises(RolledBack, match="older than one seen before"):
            fresh.approve(fresh.review("req_a"))
        with pytest.raises(RolledBack, match=r"lifestyle\.food went back from revision"):
            fresh.check_state()
        fresh.take_older_state()
        fresh.check_state()
    assert site.decisions == []


def test_a_deletion_is_remembered_with_it_or_not_at_all(fake, unlocked, site):
    unlocked.update("lifestyle", "food", {"coffee_or_tea": "tea"})
    older = dict(site.segments["lifestyle", "food"])
    site.notes, before = {**site.notes, "revision": 9}, site.notes
    with pytest.raises(Refused):
        unlocked.delete("lifestyle", "food", base=older["content_revision"])
    assert site.segments["lifestyle", "food"] == older
    site.notes = before

    unlocked.delete("lifestyle", "food", base=older["content_revision"])

    site.segments["lifestyle", "food"] = older
    with another_program(fake, NotesMemory()) as fresh, pytest.raises(RolledBack):
        fresh.approve(fresh.review("req_a"))


def test_a_scope_that_the_service_shows_again_stops_all_until_the_person_takes_it(unlocked, site):
    unlocked.update("lifestyle", "food", {"coffee_or_tea": "tea"})
    write_notes(unlocked, site, hidden=["attr.lifestyle.food.*"])

    with pytest.raises(RolledBack, match="was hidden, and the service shows it to apps again"):
        unlocked.approve(unlocked.review("req_a"))

    unlocked.take_older_state()
    assert notes_of(unlocked, site)["hidden"] == []
    unlocked.check_state()


def test_what_was_hidden_while_the_vault_was_locked_is_taken_over(unlocked, site, fake):
    unlocked.update("lifestyle", "food", {"coffee_or_tea": "tea"})
    notes_script = fake.scripts["GET", "/vault/notes"][0]

    def hidden(call):
        answer = notes_script(call)
        return replace(answer, body={**answer.body, "hidden_scopes": ["attr.lifestyle.food.*"]})

    fake.scripts["GET", "/vault/notes"] = [hidden]
    unlocked.update("lifestyle", "food", {"coffee_or_tea": "coffee"})

    assert notes_of(unlocked, site)["hidden"] == ["attr.lifestyle.food.*"]
