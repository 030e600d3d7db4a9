"""No key and no nonce is used twice; a random source that repeats itself is seen, whichever of the two it makes."""

from collections.abc import Callable

import pytest

from tests.system.browser.sealing import seals
from tests.system.browser.sealing.chromium import Tab

SHORT, LONG = 1_000, 1_000_000  # seals
FIXED = """(length) => {
  const real = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (octets) => (octets.length === length ? octets.fill(7) : real(octets));
}"""


def counted(tab: Tab) -> seals.Count:
    count = seals.Count()
    seals.by_browser(tab, count, batch=40, with_passphrase=True)
    seals.by_python(count, batch=40)
    return count


@pytest.mark.long("a million seals; in short one thousand")
def test_nothing_is_used_twice(sealing_page: Tab, request: pytest.FixtureRequest) -> None:
    wanted = LONG if request.config.getoption("--long") else SHORT
    count = seals.count_all(sealing_page, wanted)

    repeats = count.repeats()
    print(f"{count.seals()} seals opened, {sum(repeats.values())} repeated")  # noqa: T201  # the line of `./run prove`
    assert count.seals() == wanted
    assert repeats == {}


def test_everything_that_was_used_is_counted(sealing_page: Tab) -> None:
    count = counted(sealing_page)

    assert {sort: len(seen) for sort, seen in count.seen.items()} == {
        "content keys": 80, "nonces": 80, "ephemeral keys": 12, "salts": 9, "vault keys": 2, "roots": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    ("length", "sorts"), [(12, {"nonces"}), (32, {"content keys", "salts"}), (16, set())], ids=["nonce", "key", "other"]
)
def test_a_source_that_repeats_itself_is_seen(length: int, sorts: set[str], sealing_tabs: Callable[..., Tab]) -> None:
    tab = sealing_tabs()
    tab.run(FIXED, length)

    assert counted(tab).repeats().keys() == sorts
