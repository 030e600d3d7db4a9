"""The count of keys and nonces: it sees a random source that repeats itself, whichever of the two it makes."""

from collections.abc import Callable

import pytest

from bench import seals
from tests.system.browser.sealing.chromium import Tab

FIXED = """(length) => {
  const real = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (octets) => (octets.length === length ? octets.fill(7) : real(octets));
}"""


def counted(tab: Tab) -> seals.Count:
    count = seals.Count()
    seals.by_browser(tab, count, batch=40, with_passphrase=True)
    seals.by_python(count, batch=40)
    return count


def test_nothing_is_used_twice(sealing_page: Tab) -> None:
    count = counted(sealing_page)

    assert count.repeats() == {}
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
