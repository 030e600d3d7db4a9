"""An owner's addresses for their old data: a row goes only when what it held is in segments that stand."""

from typing import Any

import pytest
from django.core.management import call_command

from common import encryption
from pkm.history.models import Event
from pkm.legacy.models import LegacyBlob, LegacyMetadata, MigrationState
from tests import factories
from tests.callers import JsonClient, signed_in
from tests.pkm.old_data import finish, progress

OLD, PROGRESS, FINISH = "/vault/legacy", "/vault/legacy/progress", "/vault/legacy/lifestyle/finish"


@pytest.fixture
def blob(person: Any) -> LegacyBlob:
    """An old row of somebody who keeps some food already."""
    factories.give_vault(person)
    factories.MigrationStateFactory(user=person)
    return factories.LegacyBlobFactory(user=person)


def _refused(answer: Any, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content


def test_old_data_is_listed_for_its_owner_alone(owner: JsonClient, blob: LegacyBlob) -> None:
    assert owner.get(OLD).json() == {
        "status": "waiting_for_unlock",
        "moved": [],
        "at": None,
        "counts": {},
        "last_error": "",
        "blobs": [
            {"domain": "lifestyle", "jwe": encryption.opened(blob.jwe), "updated_at": "2024-05-17T09:30:00Z"},
        ],
    }
    other = signed_in(factories.PersonFactory())
    absent = {"status": "absent", "moved": [], "at": None, "counts": {}, "last_error": "", "blobs": []}
    assert other.get(OLD).json() == absent
    _refused(other.put(PROGRESS, progress()), 404, "not_found")
    _refused(other.post(FINISH, finish()), 404, "not_found")
    assert LegacyBlob.objects.get() == blob


def test_checkpoint_comes_back(owner: JsonClient, blob: LegacyBlob) -> None:
    state = owner.put(PROGRESS, progress()).json()

    assert state == {key: value for key, value in owner.get(OLD).json().items() if key != "blobs"}
    assert (state["status"], state["at"]) == ("running", {"domain": "lifestyle", "segments": {"food": 1}})
    owner.put(PROGRESS, progress(status="failed", last_error="cannot_open"))
    assert MigrationState.objects.get().last_error == "cannot_open"


@pytest.mark.parametrize(
    "change",
    [
        {"status": "completed"}, {"status": "failed"}, {"last_error": "oops"}, {"last_error": "It's Zoe"},
        {"at": {}}, {"at": {"domain": "!", "segments": {}}}, {"at": {"domain": "a", "segments": {"b": 0}}},
        {"counts": {}}, {"counts": {"written": -1, "aside": 0}}, {"surprise": 1},
        {"counts": {"written": 1, "aside": 0, "kept": 0}},
    ],
)  # fmt: skip
def test_progress_that_does_not_fit_is_refused(owner: JsonClient, blob: LegacyBlob, change: Any) -> None:
    _refused(owner.put(PROGRESS, progress(**change)), 400, "invalid_request")


def test_row_goes_when_its_segments_stand_and_the_history_tells(
    owner: JsonClient, blob: LegacyBlob, person: Any
) -> None:
    factories.LegacyMetadataFactory(user=person)
    factories.LegacyBlobFactory(user=person, domain="identity")

    state = owner.post(FINISH, finish()).json()

    assert (state["status"], state["moved"], state["counts"]) == ("running", ["lifestyle"], {"moved": 1, "kept": 0})
    assert LegacyBlob.objects.get().domain == "identity"
    assert not LegacyMetadata.objects.exists()
    step = Event.objects.filter(user=person).latest("sequence")
    facts = {"domain": "lifestyle", "segments": ["food"], "status": "running"}
    assert (step.kind, step.facts) == ("migration_step", facts)


def test_value_that_gave_way_counts_once_however_often_its_row_is_gone_through(
    owner: JsonClient, blob: LegacyBlob, person: Any
) -> None:
    factories.LegacyBlobFactory(user=person, domain="identity")
    _refused(owner.post(FINISH, finish(segments={"food": 2}, kept=3)), 409, "stale_revision")
    owner.put(PROGRESS, progress())

    owner.post(FINISH, finish(kept=3))
    _refused(owner.post(FINISH, finish(kept=3)), 404, "not_found")
    state = owner.post("/vault/legacy/identity/finish", finish(segments={}, discard=True, kept=1)).json()

    assert state["counts"] == {"written": 1, "aside": 0, "kept": 4, "moved": 2}


def test_last_row_completes_it(owner: JsonClient, blob: LegacyBlob) -> None:
    owner.put(PROGRESS, progress())
    state = owner.post(FINISH, finish()).json()

    assert (state["status"], state["at"]) == ("completed", None)
    assert state["counts"] == {"written": 1, "kept": 0, "aside": 0, "moved": 1}
    _refused(owner.post(FINISH, finish()), 404, "not_found")
    _refused(owner.put(PROGRESS, progress()), 404, "not_found")


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"segments": {"food": 2}}, 409, "stale_revision"),
        ({"segments": {"fitness": 1}}, 409, "stale_revision"),
        ({"segments": {"food": 1, "fitness": 1}}, 409, "stale_revision"),
        ({"updated_at": "2024-05-17T09:29:59Z"}, 409, "stale_revision"),
        ({"segments": {}}, 400, "invalid_request"),
        ({"discard": True}, 400, "invalid_request"),
        ({"updated_at": "yesterday"}, 400, "invalid_request"),
        ({"segments": {"food": 0}}, 400, "invalid_request"),
        ({"segments": ["food"]}, 400, "invalid_request"),
        ({"kept": -1}, 400, "invalid_request"),
    ],
)
def test_row_stays_where_its_segments_do_not_stand(
    owner: JsonClient, blob: LegacyBlob, change: Any, status: int, code: str
) -> None:
    _refused(owner.post(FINISH, finish(**change)), status, code)
    assert LegacyBlob.objects.get() == blob
    assert MigrationState.objects.get().status == "waiting_for_unlock"


def test_old_revision_of_a_segment_is_not_enough(owner: JsonClient, person: Any) -> None:
    vault = factories.give_vault(person)
    vault.write("lifestyle", "food", {"favorite_cuisine": "Thai"}, base=1)
    factories.MigrationStateFactory(user=factories.LegacyBlobFactory(user=person).user)

    _refused(owner.post(FINISH, finish()), 409, "stale_revision")
    assert owner.post(FINISH, finish(segments={"food": 2})).status_code == 200


def test_row_with_nothing_to_keep_is_discarded_by_saying_so(owner: JsonClient, blob: LegacyBlob) -> None:
    assert owner.post(FINISH, finish(segments={}, discard=True)).json()["status"] == "completed"
    assert not LegacyBlob.objects.exists()


def test_row_that_was_moved_does_not_come_back_by_the_same_file(
    owner: JsonClient, blob: LegacyBlob, tmp_path: Any
) -> None:
    path = tmp_path / "old.jsonl"
    jwe = encryption.opened(blob.jwe)
    path.write_text(
        f'{{"user_email":"{blob.user.email}","domain":"lifestyle","jwe":"{jwe}","updated_at":"2024-05-17T09:30:00Z"}}\n'
    )
    owner.post(FINISH, finish())

    call_command("import_legacy", path)

    assert not LegacyBlob.objects.exists()
    assert owner.get(OLD).json()["status"] == "completed"
