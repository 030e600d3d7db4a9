"""What a browser remembers of a vault and of its notes, where something fails, goes back, or begins anew."""

from collections.abc import Callable
from typing import Any

import pytest

from consent_bridge.signatures import thumbprint
from tests.system.browser.sealing.chromium import Driver, Tab
from tests.system.browser.sealing.owner_api import OwnerApi

pytestmark = pytest.mark.browser
Tabs = Callable[..., Tab]

PASSPHRASE = "a quiet river in november"
MODULES = """const vault = await import("/static/js/vault/vault.js");
  const notes = await import("/static/js/vault/notes.js");
  const { recalled } = await import("/static/js/vault/device.js");
  const { failure } = await import("/tests/system/browser/sealing/page.js");"""
HEAD = {"chain": "c", "sequence": 4, "entry_hash": "h"}


@pytest.fixture
def api(sealing_driver: Driver) -> OwnerApi:
    sealing_driver.server.api = OwnerApi("usr_a")
    return sealing_driver.server.api


def run(tab: Tab, body: str, argument: Any = None) -> Any:
    return tab.run(f"async (given) => {{ {MODULES} {body} }}", argument)


MAKE = "await (await vault.createVault({ passphrase: given, ...choice })).confirm();"


def make_vault(tab: Tab, choice: str = "{}") -> None:
    run(tab, f"const choice = {choice}; {MAKE}", PASSPHRASE)


@pytest.fixture
def tab(sealing_tabs: Tabs, api: OwnerApi) -> Tab:
    tab: Tab = sealing_tabs("?user=usr_a&session=s1")
    make_vault(tab)
    return tab


def put_back(tab: Tab, api: OwnerApi) -> dict[str, Any]:
    """Notes that are older than those that this browser saw; the newer ones."""
    older = api.notes
    run(tab, "await notes.changeNotes((now) => ({ ...now, approvals: {}, extra: 1 }));")
    newer, api.notes = api.notes, older
    return newer


def test_notes_that_went_back_do_not_come_under_a_new_key(tab: Tab, api: OwnerApi) -> None:
    put_back(tab, api)

    failed = run(
        tab,
        """return failure(() => vault.prepareRotation({ kind: "passphrase", secret: given },
          [{ kind: "passphrase", label: "P", secret: "another river in december" }]));""",
        PASSPHRASE,
    )

    assert failed == ["Refused", "rolled_back"]


def test_notes_that_go_back_during_a_change_of_the_key_are_not_sealed_again(tab: Tab, api: OwnerApi) -> None:
    api.rotation = "vk_next"
    put_back(tab, api)

    failed = run(
        tab,
        """const { current } = await import("/static/js/vault/keyring.js");
          const next = { ...(await current()), keyId: "vk_next" };
          return failure(() => vault.finishRotation(next, { progress: () => {}, paused: () => false }));""",
    )

    assert failed == ["Refused", "rolled_back"]
    assert ("PUT", "/vault/rotation/notes") not in api.seen


def test_going_on_with_older_notes_forgets_nothing_before_they_are_written(tab: Tab, api: OwnerApi) -> None:
    put_back(tab, api)
    go_on = "return failure(() => notes.takeOlderNotes(given));"
    seen = 'return (await recalled("notes:usr_a"))?.revision;'
    api.refuses = {("PUT", "vault", "notes")}

    assert run(tab, go_on, HEAD) == ["ApiError", "temporarily_unavailable"]

    assert run(tab, seen) == 2
    assert run(tab, "return failure(notes.readNotes);") == ["Refused", "rolled_back"]
    api.refuses = set()
    assert run(tab, go_on, HEAD) is None
    assert run(tab, "return (await notes.readNotes()).notes.history;") == HEAD


def test_without_the_notes_that_came_with_the_vault_nothing_goes_on(tab: Tab, api: OwnerApi) -> None:
    run(tab, "await notes.readNotes();")
    api.notes = {"revision": 0, "jwe": None}

    assert run(tab, "return failure(() => notes.takeOlderNotes(given));", HEAD) == ["Refused", "rolled_back"]

    assert run(tab, 'return (await recalled("notes:usr_a"))?.revision;') == 1
    assert api.notes["revision"] == 0


# --- segments and hidden scopes --------------------------------------------------------------------------------------


WRITE = 'await vault.writeAttributes("lifestyle", "food", { coffee_or_tea: given });'
SEALING = """const { openToSeal } = await import("/static/js/vault/reading.js");
  return failure(() => openToSeal({ scope: "attr.lifestyle.food.*" }));"""
SCOPE = "attr.lifestyle.food.*"


def another_device(driver: Driver) -> Tab:
    """One that remembers nothing."""
    tab: Tab = driver.new_tab(driver.new_context(), "?user=usr_a&session=s2")
    run(tab, 'await vault.unlock({ kind: "passphrase", secret: given });', PASSPHRASE)
    return tab


def test_what_was_never_sealed_for_an_app_is_remembered_too(tab: Tab, api: OwnerApi, sealing_driver: Driver) -> None:
    """A device that knows nothing is served the revision before, while the notes are the newest."""
    run(tab, WRITE, "tea")
    older = dict(api.segments["lifestyle", "food"])
    run(tab, WRITE, "coffee")
    assert run(tab, "return (await notes.readNotes()).notes.segments;") == {"lifestyle.food": 2}
    fresh = another_device(sealing_driver)
    assert run(fresh, SEALING) is None

    api.segments["lifestyle", "food"] = older

    assert run(fresh, SEALING) == ["Refused", "rolled_back"]


def test_a_deleted_segment_that_is_put_back_is_older_than_its_deletion(
    tab: Tab, api: OwnerApi, sealing_driver: Driver
) -> None:
    run(tab, WRITE, "tea")
    older = dict(api.segments["lifestyle", "food"])
    run(tab, WRITE, None)
    assert run(tab, "return (await notes.readNotes()).notes.segments;") == {"lifestyle.food": 2}
    assert run(tab, 'return (await recalled("segments:usr_a"))["lifestyle.food"];') is None

    api.segments["lifestyle", "food"] = older

    assert run(another_device(sealing_driver), SEALING) == ["Refused", "rolled_back"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_write_that_fails_leaves_no_trace_in_the_notes(tab: Tab, api: OwnerApi, method: str) -> None:
    run(tab, WRITE, "tea")
    before = api.notes
    api.refuses = {(method, "vault", "segments", "lifestyle", "food")}

    failed = run(tab, f"return failure(async () => {{ {WRITE} }});", "coffee" if method == "PUT" else None)

    assert (failed, api.notes) == (["ApiError", "temporarily_unavailable"], before)
    api.refuses = set()
    run(tab, WRITE, "milk")
    assert run(tab, SEALING) is None


def test_two_devices_that_write_at_once_both_come_to_be_remembered(
    tab: Tab, api: OwnerApi, sealing_driver: Driver
) -> None:
    other = another_device(sealing_driver)
    write = 'await vault.writeAttributes("lifestyle", given, { coffee_or_tea: "tea" });'
    for number in range(3):
        run(tab, write, "food")
        run(other, write, "habits")
        assert api.counts == {("lifestyle", "food"): 1 + number, ("lifestyle", "habits"): 1 + number}

    known = run(tab, "return (await notes.readNotes()).notes.segments;")
    assert known == {"lifestyle.food": 3, "lifestyle.habits": 3}


def test_a_scope_that_the_service_shows_again_is_told_and_one_that_the_vault_shows_is_not(
    tab: Tab, api: OwnerApi, sealing_driver: Driver
) -> None:
    run(tab, "await vault.hideScope(given);", SCOPE)
    fresh = another_device(sealing_driver)
    assert run(fresh, "return (await notes.readNotes()).notes.hidden;") == [SCOPE]
    api.hidden = set()

    assert run(fresh, "return failure(notes.readNotes);") == ["Refused", "rolled_back"]
    assert run(
        fresh,
        "return (await notes.notesBesideSeen(await (await import('/static/js/vault/keyring.js')).current())).shown;",
    ) == [SCOPE]
    api.hidden = {SCOPE}
    run(fresh, "await vault.showScope(given);", SCOPE)
    assert api.hidden == set()
    assert run(tab, "return (await notes.readNotes()).notes.hidden;") == []


def test_what_was_hidden_while_the_vault_was_locked_is_taken_over(tab: Tab, api: OwnerApi) -> None:
    api.hidden = {SCOPE}
    run(tab, WRITE, "tea")
    api.hidden = set()

    assert run(tab, "return failure(notes.readNotes);") == ["Refused", "rolled_back"]


def test_who_goes_on_takes_what_is_there_of_segments_and_scopes(tab: Tab, api: OwnerApi) -> None:
    run(tab, "await vault.hideScope(given);", SCOPE)
    run(tab, WRITE, "tea")
    older = dict(api.segments["lifestyle", "food"])
    run(tab, WRITE, "coffee")
    api.segments["lifestyle", "food"], api.hidden = older, set()

    run(tab, "await notes.takeOlderNotes(given);", HEAD)

    kept = run(tab, "return (await notes.readNotes()).notes;")
    assert (kept["segments"], kept["hidden"]) == ({"lifestyle.food": 1}, [])
    assert run(tab, SEALING) is None


@pytest.mark.parametrize("lost", ["the new root", "the answer"])
def test_a_root_whose_replacement_broke_off_twice_still_opens(
    tab: Tab, api: OwnerApi, sealing_tabs: Tabs, lost: str
) -> None:
    """First the service took the new root and its answer was lost; then the next attempt failed."""
    approvals = 'const { replaceRoot, approvalRoot } = await import("/static/js/vault/approvals.js");'
    if lost == "the answer":
        api.loses = {("PUT", "vault", "signing-key")}
        assert run(tab, f"{approvals} return failure(replaceRoot);") is not None
        api.loses = set()
    api.refuses = {("PUT", "vault", "signing-key")}
    tab = sealing_tabs("?user=usr_a&session=s1")  # the page was loaded again

    assert run(tab, f"{approvals} return failure(replaceRoot);") is not None

    tab = sealing_tabs("?user=usr_a&session=s1")
    assert run(tab, f"{approvals} return failure(approvalRoot);") is None
    assert run(tab, "return (await notes.readNotes()).notes.root;") == thumbprint(api.root["signing_public_key"])


def test_a_new_vault_is_no_older_state_on_another_device(sealing_driver: Driver, api: OwnerApi) -> None:
    """Each device has seen the vault before; one of them gives it up and makes a new one."""
    one, other = (
        sealing_driver.new_tab(sealing_driver.new_context(), f"?user=usr_a&session={session}") for session in "ab"
    )
    make_vault(one)
    unlock = 'await vault.unlock({ kind: "passphrase", secret: given });'
    run(other, f'{unlock} await vault.writeAttributes("lifestyle", "food", {{ coffee_or_tea: "tea" }});', PASSPHRASE)
    for number in range(3):
        run(other, "await notes.changeNotes((now) => ({ ...now, extra: given }));", number)
    api.key_id, api.wrappers, api.segments, api.counts = None, [], {}, {}
    api.notes = {"revision": 0, "jwe": None}
    run(one, "await new Promise((resolve) => setTimeout(resolve, 1100)); await vault.lock();")
    make_vault(one, "{ knowsOfOlder: true }")

    run(other, f"await vault.lock(); {unlock}", PASSPHRASE)

    assert run(other, "return failure(notes.readNotes);") is None
    assert run(other, 'return recalled("segments:usr_a");') is None
    sealing_driver.close_contexts()


def test_the_log_is_asked_about_few_entries_at_once(sealing_tabs: Tabs) -> None:
    """A browser that was away for months asks about hundreds."""
    tab: Tab = sealing_tabs()
    found = tab.run(
        """async (count) => {
          const { whichAreProved } = await import("/static/js/log/reading.js");
          const paths = [];
          let [open, most] = [0, 0];
          globalThis.fetch = async (path) => {
            paths.push(path);
            most = Math.max(most, (open += 1));
            await null;
            open -= 1;
            return new Response("", { status: 202 });
          };
          const at = new Date().toISOString();
          const entries = Array.from({ length: count }, (_, number) => ({ entry_hash: `${number}`, at }));
          const places = await whichAreProved(entries);
          return { paths, most, places };
        }""",
        21,
    )

    assert found == {"paths": [f"/log/proof/{number}" for number in range(21)], "most": 8, "places": [None] * 21}
