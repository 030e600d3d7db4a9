"""Playing a person against the real application: by the Python client, and from a shell."""

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from consent_bridge import cli
from consent_bridge.client import Client
from consent_bridge.errors import KeyRefused, Problem, Refused
from consent_bridge.keys import generate_connector_key
from consent_bridge.synthetic import SYNTHETIC_PROFILE
from tests.callers import Developer
from tests.factories import TestAppFactory

CUISINE = "lifestyle.food.favorite_cuisine"


@pytest.fixture
def test_api(transactional_db: None) -> Developer:
    return Developer.of(TestAppFactory())


@pytest.fixture
def client(service: str, test_api: Developer) -> Iterator[Client]:
    with Client(f"{service}/api/v1", test_api.token) as made:
        yield made


def ask(client: Client, user_id: str, key: Any, **terms: Any) -> Any:
    return client.request_consent(
        user_id, "attr.lifestyle.food.*", purpose="Suggest restaurants that you would like", key=key, **terms
    )


def test_the_synthetic_profile_fills_every_segment_that_it_names(client: Client) -> None:
    person = client.make_sandbox_person("Ada")
    person.fill()
    person.fill()  # twice is as once, but for the revisions

    kept = {(segment.domain, segment.segment_id): segment.values for segment in person.segments()}
    assert kept == {place: dict(values) for place, values in SYNTHETIC_PROFILE.items()}
    assert "attr.financial.*" in client.discover(person.user_id).scopes


def test_a_person_approves_pauses_resumes_and_revokes(client: Client) -> None:
    key, person = generate_connector_key(), client.make_sandbox_person()
    person.fill({("lifestyle", "food"): {"favorite_cuisine": "Thai", "diet_preference": "Vegan"}})
    made_request = ask(client, person.user_id, key, access_duration=3600)

    status = person.approve(made_request.request_id, attributes=[CUISINE], access_duration=600)
    assert status.grant is not None
    assert client.read(made_request, key).data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    moved = [move(status.grant.grant_id).grant for move in (person.pause, person.resume, person.revoke)]

    assert [grant.status for grant in moved if grant] == ["paused", "active", "revoked"]


def test_an_app_has_itself_told_of_an_event_of_agents(client: Client) -> None:
    first, second = (client.tell_sandbox_event(event) for event in ("analysis.completed", "deletion.confirmed"))

    assert (first.status, second.status) == ("completed", "confirmed")
    assert (first.analysis_id or "").startswith("ana_")
    assert second.sequence > first.sequence
    with pytest.raises(Problem, match="invalid_request"):
        client.tell_sandbox_event("consent.granted")


def test_a_person_denies_and_lets_time_pass(client: Client) -> None:
    with client.make_sandbox_person("Bo") as person:
        person.fill()
        denied = ask(client, person.user_id, generate_connector_key())
        assert person.deny(denied.request_id).status == "denied"
        status = client.status(denied.request_id)
        person.expire(60)
        assert client.status(denied.request_id) == status
        assert [entry.label for entry in client.sandbox_people()] == ["Bo"]

    assert client.sandbox_people() == ()
    with pytest.raises(Problem, match="unknown_user"):
        client.discover(person.user_id)


def test_a_person_connects_approves_and_comes_back(client: Client, test_api: Developer) -> None:
    back = "http://localhost:8090/back"
    test_api.app.origins = ["http://localhost:8090"]
    test_api.app.save(update_fields=["origins"])
    key, person = generate_connector_key(), client.make_sandbox_person()
    person.fill({("lifestyle", "food"): {"favorite_cuisine": "Thai"}})
    along = client.request_along("attr.lifestyle.food.*", purpose="Suggest restaurants that you would like", key=key)
    made = client.begin_connection(return_url=back, request=along, binding_message="Order 4711")
    answered = person.connect(made.connection_id)
    assert client.connection(made.connection_id).user_id is None
    person.approve(str(answered.request_id))
    code = parse_qs(urlsplit(str(answered.return_to)).query)["connection_code"][0]
    other = client.request_along("attr.lifestyle.food.*", purpose="Sell what you like to others", key=key)
    with pytest.raises(Refused, match="is not the one that was asked for"):
        client.complete_connection(made.connection_id, code, request=other, return_url=back)

    done = client.complete_connection(made.connection_id, code, request=along, return_url=back)

    assert (done.status, done.user_id) == ("connected", person.user_id)
    assert done.request is not None
    assert client.read(done.request, key).data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    later = client.connection(made.connection_id, request=along, return_url=back)
    assert later.request is not None
    one_second = replace(later.request, expires_in=done.request.expires_in)  # which is less with each second
    assert replace(later, request=one_second) == done
    events = client.events(last_event_id=0)
    first = next(events)
    assert (first.type, first.connection and first.connection.user_id) == ("connection.connected", person.user_id)
    second = next(events).status
    assert second is not None
    assert second.status == "approved"
    client.end_connection(person.user_id)
    with pytest.raises(Problem, match="unknown_user"):
        client.discover(person.user_id)
    declined = client.begin_connection()
    assert person.decline(declined.connection_id).return_to is None
    assert client.connection(declined.connection_id, wait=1).status == "declined"


def test_whoever_holds_the_vault_key_plays_them_again(client: Client) -> None:
    key, made = generate_connector_key(), client.make_sandbox_person()
    made.fill()
    made_request = ask(client, made.user_id, key)

    with pytest.raises(KeyRefused, match="locked"):
        client.sandbox_person(made.user_id).approve(made_request.request_id)
    client.sandbox_person(made.user_id, made.vault_key).approve(made_request.request_id)
    made.expire(2 * 86400)

    with pytest.raises(Problem, match="grant_ended"):
        client.read(made_request, key)


def test_a_live_token_makes_nobody(service: str, transactional_db: None, api: Developer) -> None:
    with Client(f"{service}/api/v1", api.token) as live, pytest.raises(Problem, match="test_mode_required"):
        live.make_sandbox_person()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert cli.main(["sandbox", *arguments]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def shell(service: str, test_api: Developer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONSENT_BASE_URL", f"{service}/api/v1")
    monkeypatch.setenv("CONSENT_DEVELOPER_TOKEN", test_api.token)
    monkeypatch.setenv("CONSENT_BRIDGE_STATE", str(tmp_path))
    return tmp_path


def test_a_person_is_played_from_a_shell(shell: Path, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    key, made = generate_connector_key(), run(capsys, "new", "--label", "Ada")
    made_request = ask(client, made["user_id"], key)
    approved = run(capsys, "approve", made_request.request_id, "--attribute", CUISINE)
    revoked = run(capsys, "revoke", made_request.request_id)
    denied = run(capsys, "deny", ask(client, made["user_id"], key).request_id, "--reason", "enough")

    kept = Path(made["vault_key_file"])
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert approved["grant"]["approved_attributes"] == [CUISINE]
    assert [revoked["grant"]["status"], denied["status"]] == ["revoked", "denied"]


def test_a_shell_without_the_vault_key_approves_nothing(
    shell: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(capsys, "new")
    made_request = ask(client, made["user_id"], generate_connector_key())
    kept = Path(made["vault_key_file"])
    for content in ('{"key_id": "vk_a"}', '{"key_id": "vk_a", "vault_key_hex": "00"}', "[]"):
        kept.write_text(content)
        assert cli.main(["sandbox", "approve", made_request.request_id]) == 1
    kept.unlink()
    assert cli.main(["sandbox", "approve", made_request.request_id]) == 1
    assert cli.main(["sandbox", "revoke", made_request.request_id]) == 1
    assert client.status(made_request.request_id).status == "pending"


def test_a_sharing_id_is_no_path(shell: Path) -> None:
    from consent_bridge.sandbox_commands import _key_file

    with pytest.raises(Refused):
        _key_file("../../usr_a")
