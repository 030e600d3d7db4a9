"""A passkey as a way in, with Chromium's own emulated authenticator (CTAP2 with the PRF extension)."""

from collections.abc import Callable

import pytest

from tests.system.browser.people import emulate_authenticator
from tests.system.browser.sealing.chromium import Driver, Tab
from tests.system.browser.sealing.owner_api import OwnerApi

pytestmark = pytest.mark.browser
Tabs = Callable[..., Tab]

VAULT = 'const vault = await import("/static/js/vault/vault.js");'
PAGE = 'const { failure } = await import("/tests/system/browser/sealing/page.js");'
PASSPHRASE = "a quiet river in november"
ADD = f"""async (secret) => {{ {VAULT} {PAGE}
  const person = {{ name: "a@example.org", displayName: "A" }};
  const added = {{ kind: "passkey", label: "This laptop", person }};
  return failure(async () => (await vault.prepareWays({{ kind: "passphrase", secret }}, [added])).confirm());
}}"""
UNLOCK = f"""async () => {{ {VAULT} {PAGE}
  await vault.lock();
  return (await failure(() => vault.unlock({{ kind: "passkey" }}))) ?? (await vault.isUnlocked());
}}"""


@pytest.fixture
def api(sealing_driver: Driver) -> OwnerApi:
    sealing_driver.server.api = OwnerApi("usr_a")
    return sealing_driver.server.api


def authenticator(tab: Tab, *, prf: bool = True, verifies: bool = True) -> None:
    tab.with_page(lambda page: emulate_authenticator(page, prf=prf, verifies=verifies))


@pytest.fixture
def tab(sealing_tabs: Tabs, api: OwnerApi) -> Tab:
    tab = sealing_tabs("?user=usr_a&session=s1")
    tab.run(
        f"async (passphrase) => {{ {VAULT} await (await vault.createVault({{ passphrase }})).confirm(); }}", PASSPHRASE
    )
    return tab


def test_each_of_two_passkeys_opens_its_own_wrapper(tab: Tab, api: OwnerApi) -> None:
    authenticator(tab)
    assert [tab.run(ADD, PASSPHRASE), tab.run(ADD, PASSPHRASE)] == [None, None]
    both = list(api.wrappers)
    assert len({wrapper["credential_id"] for wrapper in both[2:]}) == 2
    for wrapper in both[2:]:
        api.wrappers[:] = [*both[:2], wrapper]
        assert tab.run(UNLOCK) is True


TELLS = """([type, length]) => {
  const proto = PublicKeyCredential.prototype;
  const original = proto.getClientExtensionResults;
  proto.getClientExtensionResults = function () {
    const first = new ArrayBuffer(length);
    const found = original.call(this);
    return this.response instanceof globalThis[type] ? { ...found, prf: { enabled: true, results: { first } } } : found;
  };
}"""


@pytest.mark.parametrize("length", [0, 31, 64])
def test_an_output_of_another_length_is_none(tab: Tab, api: OwnerApi, length: int) -> None:
    """Given as the passkey is made, it is asked for at use; given then, the passkey cannot unlock."""
    authenticator(tab)
    tab.run(TELLS, ["AuthenticatorAttestationResponse", length])
    assert tab.run(ADD, PASSPHRASE) is None
    assert tab.run(UNLOCK) is True

    tab.run(TELLS, ["AuthenticatorAssertionResponse", length])
    assert tab.run(UNLOCK) == ["PasskeyError", "no_prf"]
    assert tab.run(ADD, PASSPHRASE) == ["PasskeyError", "no_prf"]


def test_person_who_is_not_verified_makes_none(tab: Tab, api: OwnerApi) -> None:
    authenticator(tab, verifies=False)
    assert tab.run(ADD, PASSPHRASE) == ["PasskeyError", "cancelled"]
    assert len(api.wrappers) == 2


def test_browser_without_passkeys_says_so(tab: Tab, api: OwnerApi) -> None:
    tab.run("() => { delete globalThis.PublicKeyCredential; }")
    assert tab.run(ADD, PASSPHRASE) == ["PasskeyError", "unsupported"]
    assert len(api.wrappers) == 2
