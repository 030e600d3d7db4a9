"""How long the unlocked key lives: unreadable, for one person and session, in all tabs, fifteen idle minutes."""

from collections.abc import Callable

import pytest

from tests.system.browser.sealing.chromium import Driver, Tab

pytestmark = pytest.mark.browser
Tabs = Callable[..., Tab]

MINE = "?user=usr_a&session=s1"
HOLD = """async () => {
  const { vaultKey } = await import("/tests/system/browser/sealing/page.js");
  const { hold, watch } = await import("/static/js/vault/keyring.js");
  await watch();
  await hold(await vaultKey("usr_a", "vk_a", "42".repeat(32)));
}"""
WATCH = 'async () => (await import("/static/js/vault/keyring.js")).watch()'
IS_UNLOCKED = 'async () => (await import("/static/js/vault/keyring.js")).isUnlocked()'
LOCK = 'async (reason) => (await import("/static/js/vault/keyring.js")).lock(reason)'
USE = """async () => {
  const { failure } = await import("/tests/system/browser/sealing/page.js");
  const { current } = await import("/static/js/vault/keyring.js");
  return failure(current);
}"""
LISTEN = """async () => {
  const { changes } = await import("/static/js/vault/keyring.js");
  globalThis.heard = [];
  for (const type of ["locked", "unlocked"]) {
    changes.addEventListener(type, (event) => globalThis.heard.push([type, event.detail.reason ?? null]));
  }
}"""
STORED = """() => new Promise((resolve) => {
  indexedDB.open("consent-vault", 1).onsuccess = ({ target: { result: db } }) => {
    db.transaction("unlocked").objectStore("unlocked").get("key").onsuccess = ({ target }) => {
      db.close();
      resolve(target.result ?? null);
    };
  };
})"""
HEARD = "() => globalThis.heard"
MINUTES = 60 * 1000  # of milliseconds


def stop_clock(tab: Tab) -> None:
    tab.with_page(lambda page: page.clock.install())
    tab.go(tab.page.url)


def pass_time(tab: Tab, milliseconds: int) -> None:
    tab.with_page(lambda page: page.clock.fast_forward(milliseconds))


def test_key_is_found_by_the_next_page(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    tab.run(HOLD)
    tab.go(tab.page.url)
    assert tab.run(WATCH) is True
    assert tab.run(USE) is None


def test_nothing_is_unlocked_to_begin_with(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    assert tab.run(WATCH) is False
    assert tab.run(USE) == ["Locked", None]


def test_kept_key_cannot_be_read_but_opens_and_seals(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    tab.run(HOLD)
    outcome = tab.run(
        f"""async () => {{
          const {{ failure }} = await import("/tests/system/browser/sealing/page.js");
          const {{ current }} = await import("/static/js/vault/keyring.js");
          const {{ openSegment, sealSegment }} = await import("/static/js/formats/vault.js");
          const vault = await current();
          const address = {{ domain: "contact", segment_id: "email", content_revision: 1 }};
          const sealed = await sealSegment({{ email: "a@b.example" }}, vault, address);
          const opened = await openSegment(sealed, vault, address);
          const stored = await ({STORED})();
          const read = (format) => failure(() => crypto.subtle.exportKey(format, stored.key));
          const unread = [(await read("raw"))[0], (await read("jwk"))[0]];
          return [opened, stored.key.extractable, Object.keys(stored).sort(), unread];
        }}"""
    )
    assert outcome == [
        {"email": "a@b.example"},
        False,
        ["activeAt", "hasNotes", "key", "keyId", "sessionTag", "userId"],
        ["InvalidAccessError", "InvalidAccessError"],
    ]


def test_readable_key_is_never_kept(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    failed = tab.run(
        """async () => {
          const { failure } = await import("/tests/system/browser/sealing/page.js");
          const { hold } = await import("/static/js/vault/keyring.js");
          const key = await crypto.subtle.generateKey({ name: "AES-KW", length: 256 }, true, ["wrapKey", "unwrapKey"]);
          return failure(() => hold({ keyId: "vk_a", key }));
        }"""
    )
    assert failed == ["TypeError", None]
    assert tab.run(IS_UNLOCKED) is False


def test_lock_in_one_tab_locks_all(sealing_tabs: Tabs) -> None:
    here, there = sealing_tabs(MINE), sealing_tabs(MINE)
    there.run(LISTEN)
    here.run(HOLD)
    assert there.run(USE) is None
    here.run(LOCK, "locked")
    there.until(HEARD, [["unlocked", None], ["locked", "locked"]])
    assert [tab.run(USE) for tab in (here, there)] == [["Locked", None]] * 2
    assert here.run(STORED) is None


@pytest.mark.parametrize(
    ("query", "reason"),
    [("?user=usr_b&session=s1", "other_session"), ("?user=usr_a&session=s2", "other_session"), ("", "signed_out")],
)
def test_page_of_someone_else_drops_the_key(
    sealing_tabs: Tabs, sealing_driver: Driver, query: str, reason: str
) -> None:
    tab = sealing_tabs(MINE)
    tab.run(HOLD)
    tab.go(f"{sealing_driver.server.origin}/page{query}")
    tab.run(LISTEN)
    assert tab.run(WATCH) is False
    assert tab.run(HEARD) == [["locked", reason]]
    assert tab.run(STORED) is None


def test_tab_left_open_from_an_earlier_session_neither_uses_nor_takes_the_key(sealing_tabs: Tabs) -> None:
    old = sealing_tabs("?user=usr_a&session=s0")
    old.run(WATCH)
    new = sealing_tabs(MINE)
    new.run(HOLD)
    assert old.run(USE) == ["Locked", None]
    assert old.run(IS_UNLOCKED) is False
    assert new.run(USE) is None


def test_fifteen_idle_minutes_lock_by_timer(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    stop_clock(tab)
    tab.run(HOLD)
    tab.run(LISTEN)
    pass_time(tab, 14 * MINUTES)
    assert tab.run(IS_UNLOCKED) is True
    pass_time(tab, 1 * MINUTES + 1000)
    tab.until(HEARD, [["locked", "idle"]])
    assert tab.run(STORED) is None


@pytest.mark.parametrize("minutes", [15, -5], ids=["idle", "set back"])
def test_the_clock_is_looked_at_at_use_even_without_a_timer(sealing_tabs: Tabs, minutes: int) -> None:
    tab = sealing_tabs(MINE)
    tab.run(HOLD)
    tab.run(f"() => {{ const now = Date.now() + {minutes * MINUTES}; Date.now = () => now; }}")
    assert tab.run(USE) == ["Locked", None]
    assert tab.run(STORED) is None


@pytest.mark.parametrize("sign", ["key", "pointer", "use"])
def test_activity_keeps_it_unlocked(sealing_tabs: Tabs, sign: str) -> None:
    tab = sealing_tabs(MINE)
    stop_clock(tab)
    tab.run(HOLD)
    pass_time(tab, 14 * MINUTES)
    if sign == "key":
        tab.with_page(lambda page: page.keyboard.press("a"))
    elif sign == "pointer":
        tab.with_page(lambda page: page.mouse.click(5, 5))
    else:
        tab.run(USE)
    # The mark is written a moment after the event.
    tab.until(f"async () => (await ({STORED})()).activeAt > Date.now() - {MINUTES}", True)
    pass_time(tab, 14 * MINUTES)
    assert tab.run(IS_UNLOCKED) is True
    pass_time(tab, 2 * MINUTES)
    assert tab.run(IS_UNLOCKED) is False


def test_looking_is_no_activity(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    stop_clock(tab)
    tab.run(HOLD)
    for _ in range(3):
        pass_time(tab, 5 * MINUTES)
        unlocked = tab.run(IS_UNLOCKED)
    assert unlocked is False


def test_activity_in_another_tab_does_not_undo_a_lock(sealing_tabs: Tabs) -> None:
    here, there = sealing_tabs(MINE), sealing_tabs(MINE)
    here.run(HOLD)
    there.run(WATCH)
    here.run(LOCK, "locked")
    there.with_page(lambda page: page.keyboard.press("a"))
    assert there.run(IS_UNLOCKED) is False
    assert here.run(STORED) is None


def test_lock_holds_though_its_page_is_gone_before_the_record_is(sealing_tabs: Tabs) -> None:
    here, there = sealing_tabs(MINE), sealing_tabs(MINE)
    here.run(HOLD)
    here.run("() => { indexedDB.open = () => ({}); }")  # a database that has not answered when the page goes
    here.run("""async () => { void (await import("/static/js/vault/keyring.js")).lock(); }""")
    here.go("about:blank")
    assert there.run(STORED) is not None

    assert there.run(USE) == ["Locked", None]
    assert there.run(STORED) is None
    there.run(HOLD)
    assert there.run(USE) is None


def test_without_indexeddb_the_key_lives_as_long_as_the_page(sealing_tabs: Tabs) -> None:
    tab = sealing_tabs(MINE)
    tab.run("() => { indexedDB.open = () => { throw new DOMException('no', 'SecurityError'); }; }")
    tab.run(HOLD)
    assert tab.run(USE) is None
    tab.go(tab.page.url)
    assert tab.run(USE) == ["Locked", None]
