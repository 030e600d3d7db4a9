"""The vault as pages use it, against the owner's addresses: make, unlock, add ways in, read and write."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.patience import eventually
from tests.system.browser.sealing import opener
from tests.system.browser.sealing.chromium import Driver, Tab
from tests.system.browser.sealing.owner_api import OwnerApi

pytestmark = pytest.mark.browser
Tabs = Callable[..., Tab]

PASSPHRASE = "a quiet river in november"
MINE = "?user=usr_a&session=s1"
VAULT = 'const vault = await import("/static/js/vault/vault.js");'
PAGE = 'const { failure, refusal } = await import("/tests/system/browser/sealing/page.js");'
CREATE = f"""async (passphrase) => {{ {VAULT}
  const made = await vault.createVault({{ passphrase }});
  await made.confirm();
  return [made.keyId, made.recoveryCode];
}}"""
WRITE = f"""async ([domain, segment, changes, seen]) => {{ {VAULT}
  try {{
    return await vault.writeAttributes(domain, segment, changes, seen);
  }} catch (error) {{
    if (!(error instanceof vault.Conflict)) throw error;
    return error.attributes;
  }}
}}"""
OPEN = f"async (which) => {{ {VAULT} return vault.openAll(which); }}"


@pytest.fixture
def api(sealing_driver: Driver) -> OwnerApi:
    sealing_driver.server.api = OwnerApi("usr_a")
    return sealing_driver.server.api


@pytest.fixture
def tab(sealing_tabs: Tabs, api: OwnerApi) -> Tab:
    """A page of a person whose vault was just made and is unlocked."""
    tab = sealing_tabs(MINE)
    tab.run(CREATE, PASSPHRASE)
    return tab


def raw_key(api: OwnerApi) -> bytes:
    return opener.from_passphrase(api.wrappers[0]["jwe"], PASSPHRASE)


def unlock(tab: Tab, kind: str, secret: str | None) -> Any:
    return tab.run(
        f"""async ([kind, secret]) => {{ {VAULT} {PAGE}
          await vault.lock();
          const failed = await failure(() => vault.unlock({{ kind, secret }}));
          return failed ?? (await vault.isUnlocked());
        }}""",
        [kind, secret],
    )


def test_vault_is_made_only_when_the_person_confirms(sealing_tabs: Tabs, api: OwnerApi) -> None:
    tab = sealing_tabs(MINE)
    begun = tab.run(
        f"""async (passphrase) => {{ {VAULT}
          globalThis.made = await vault.createVault({{ passphrase }});
          return [globalThis.made.recoveryCode, await vault.isUnlocked()];
        }}""",
        PASSPHRASE,
    )
    before = list(api.seen)
    tab.run("async () => globalThis.made.confirm()")
    assert (before, begun[1]) == ([], False)
    assert api.seen == [("POST", "/vault/keys")]
    assert [wrapper["kind"] for wrapper in api.wrappers] == ["passphrase", "recovery"]
    assert tab.run(f"async () => {{ {VAULT} return vault.isUnlocked(); }}") is True
    secret = opener.recovery_octets(begun[0])
    assert opener.from_secret(api.wrappers[1]["jwe"], secret, b"consent-vault-recovery") == raw_key(api)


def test_every_change_carries_the_csrf_token_of_the_page(tab: Tab, api: OwnerApi) -> None:
    assert api.tokens == {"the-csrf-token"}


def test_nothing_that_is_sent_holds_a_secret(sealing_tabs: Tabs, sealing_driver: Driver) -> None:
    api = OwnerApi("usr_a")
    bodies: list[bytes] = []

    def listening(method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        bodies.append(path.encode() + body)
        return api(method, path, headers, body)

    sealing_driver.server.api = listening
    tab = sealing_tabs(MINE)
    _, code = tab.run(CREATE, PASSPHRASE)
    tab.run(WRITE, ["contact", "email", {"email": "canary@example.org"}])
    sent = b"".join(bodies)
    secrets = [PASSPHRASE.encode(), code.encode(), b"canary", raw_key(api), opener.b64(raw_key(api)).encode()]
    assert [secret for secret in secrets if secret in sent] == []


def test_short_passphrase_makes_no_vault(sealing_tabs: Tabs, api: OwnerApi) -> None:
    failed = sealing_tabs(MINE).run(
        f"async () => {{ {VAULT} {PAGE} return failure(() => vault.createVault({{ passphrase: 'eleven char' }})); }}"
    )
    assert failed == ["BadSecret", "too_short"]
    assert api.seen == []


def test_vault_unlocks_with_passphrase_and_recovery_code(sealing_tabs: Tabs, api: OwnerApi) -> None:
    tab = sealing_tabs(MINE)
    _, code = tab.run(CREATE, PASSPHRASE)
    assert unlock(tab, "passphrase", PASSPHRASE) is True
    assert unlock(tab, "recovery", code.lower().replace("-", " ")) is True
    eventually(lambda: len(api.unlocked) == 2, "the word of both")
    assert api.unlocked == ["wrp_0", "wrp_1"]


@pytest.mark.parametrize(
    ("kind", "secret", "failed"),
    [
        ("passphrase", "a quiet river in december", ["CannotUnlock", "wrong_secret"]),
        ("passphrase", "", ["CannotUnlock", "wrong_secret"]),
        ("recovery", "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA", ["CannotUnlock", "wrong_secret"]),
        ("recovery", "AAAA-AAAA", ["BadSecret", "not_a_recovery_code"]),
        ("passkey", None, ["CannotUnlock", "no_such_wrapper"]),
    ],
)
def test_vault_stays_locked_with_anything_else(tab: Tab, kind: str, secret: str | None, failed: list[str]) -> None:
    assert unlock(tab, kind, secret) == failed
    assert tab.run(f"async () => {{ {VAULT} return vault.isUnlocked(); }}") is False


def test_wrapper_that_breaks_the_rules_is_refused_even_with_the_right_secret(tab: Tab, api: OwnerApi) -> None:
    header = {**opener.header_of(api.wrappers[0]["jwe"]), "p2c": 1000}
    api.wrappers[0]["jwe"] = opener.seal(header, bytes(32), bytes(32))
    assert unlock(tab, "passphrase", PASSPHRASE) == ["Refused", "iterations"]


def test_spoilt_wrapper_does_not_keep_the_person_out(tab: Tab, api: OwnerApi) -> None:
    header = {**opener.header_of(api.wrappers[0]["jwe"]), "zip": "DEF"}
    api.wrappers.insert(0, {**api.wrappers[0], "wrapper_id": "wrp_x", "jwe": opener.seal(header, bytes(32), bytes(32))})
    assert unlock(tab, "passphrase", PASSPHRASE) is True


def test_key_of_someone_who_signed_in_meanwhile_is_not_taken(tab: Tab, api: OwnerApi) -> None:
    api.user_id = "usr_b"
    refused = tab.run(
        f"""async (secret) => {{ {VAULT} {PAGE}
          await vault.lock();
          return refusal(() => vault.unlock({{ kind: "passphrase", secret }}));
        }}""",
        PASSPHRASE,
    )
    assert refused == {"reason": "mismatch", "member": "user_id"}


def add_wrapper(tab: Tab, existing: dict[str, Any], added: dict[str, Any]) -> Any:
    return tab.run(
        f"""async ([existing, added]) => {{ {VAULT} {PAGE}
          let ways;
          const failed = await failure(async () => {{
            ways = await vault.prepareWays(existing, [added]);
            await ways.confirm();
          }});
          return failed ?? ways.recoveryCode;
        }}""",
        [existing, added],
    )


def test_adding_a_way_in_needs_an_existing_secret_even_while_unlocked(tab: Tab, api: OwnerApi) -> None:
    wrong = {"kind": "passphrase", "secret": "not the passphrase"}
    failed = add_wrapper(tab, wrong, {"kind": "recovery", "label": "New code"})
    assert failed == ["CannotUnlock", "wrong_secret"]
    assert len(api.wrappers) == 2


def test_new_passphrase_that_does_not_read_back_takes_nothing_away(tab: Tab, api: OwnerApi) -> None:
    keep = api.add
    api.add = lambda wrapper: keep({**wrapper, "jwe": api.wrappers[0]["jwe"]})  # type: ignore[method-assign]  # a bad server
    failed = tab.run(
        f"""async (secret) => {{ {VAULT} {PAGE}
          const added = {{ kind: "passphrase", label: "New", secret: "another long passphrase" }};
          const ways = await vault.prepareWays({{ kind: "passphrase", secret }}, [added]);
          return failure(() => ways.confirm(["wrp_0"]));
        }}""",
        PASSPHRASE,
    )
    assert failed == ["CannotOpen", "cannot_open"]
    assert [path for method, path in api.seen if method == "DELETE"] == []


def test_written_segment_is_read_back_and_opens_in_python(tab: Tab, api: OwnerApi) -> None:
    written = tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai", "diet_preference": "vegan"}])
    opened = tab.run(OPEN, {"scope": "attr.lifestyle.food.*"})
    stored = api.segments["lifestyle", "food"]
    values = {"favorite_cuisine": "Thai", "diet_preference": "vegan"}
    assert (written["content_revision"], written["values"]) == (1, values)
    assert [(segment["segment_id"], segment["content_revision"], segment["values"]) for segment in opened] == [
        ("food", 1, values)
    ]
    assert stored["attributes"] == ["diet_preference", "favorite_cuisine"]
    assert opener.open_segment(stored["jwe"], raw_key(api)) == values


def test_all_segments_are_opened_at_once(tab: Tab) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai"}])
    tab.run(WRITE, ["contact", "email", {"email": "a@example.org"}])
    opened = tab.run(OPEN, {})
    assert [(segment["domain"], segment["values"]) for segment in opened] == [
        ("contact", {"email": "a@example.org"}),
        ("lifestyle", {"favorite_cuisine": "Thai"}),
    ]


def test_older_segment_put_back_by_the_server_is_refused(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai"}])
    older = api.segments["lifestyle", "food"]["jwe"]
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Greek"}])
    api.segments["lifestyle", "food"]["jwe"] = older
    refused = tab.run(
        f"async () => {{ {VAULT} {PAGE} return refusal(() => vault.openAll({{ domain: 'lifestyle' }})); }}"
    )
    assert refused == {"reason": "mismatch", "member": "content_revision"}


def test_locked_vault_reads_and_writes_nothing(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai"}])
    failures = tab.run(
        f"""async () => {{ {VAULT} {PAGE}
          await vault.lock();
          return [
            await failure(() => vault.openAll({{ domain: "lifestyle" }})),
            await failure(() => vault.writeAttributes("lifestyle", "food", {{ coffee_or_tea: "tea" }})),
          ];
        }}"""
    )
    assert failures == [["Locked", None]] * 2
    assert api.counts["lifestyle", "food"] == 1


def seen(tab: Tab) -> Any:
    return tab.run(OPEN, {"domain": "lifestyle"})[0]


def test_change_of_other_attributes_somewhere_else_is_kept(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai", "coffee_or_tea": "tea"}])
    shown = seen(tab)
    tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": "coffee"}])
    written = tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Greek"}, shown])
    assert written["values"] == {"favorite_cuisine": "Greek", "coffee_or_tea": "coffee"}
    assert opener.open_segment(api.segments["lifestyle", "food"]["jwe"], raw_key(api)) == written["values"]
    assert api.counts["lifestyle", "food"] == 3


def test_change_of_the_same_attribute_somewhere_else_is_a_conflict(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai", "coffee_or_tea": "tea"}])
    shown = seen(tab)
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Greek"}])
    conflict = tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Peruvian", "coffee_or_tea": "coffee"}, shown])
    assert conflict == [{"attribute": "favorite_cuisine", "mine": "Peruvian", "theirs": "Greek"}]
    assert api.counts["lifestyle", "food"] == 2


def test_same_change_made_twice_is_no_conflict(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": {"first": ["Thai"], "second": 1}}])
    shown = seen(tab)
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": {"second": 2, "first": []}}])
    written = tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": {"first": [], "second": 2}}, shown])
    assert written["content_revision"] == 3


def test_removing_what_someone_else_changed_is_a_conflict(tab: Tab) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai", "coffee_or_tea": "tea"}])
    shown = seen(tab)
    tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": "coffee"}])
    conflict = tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": None}, shown])
    assert conflict == [{"attribute": "coffee_or_tea", "theirs": "coffee", "mine": None}]


def test_first_writing_of_a_segment_meets_another_first_writing(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": "tea"}, None])
    written = tab.run(WRITE, ["lifestyle", "food", {"favorite_cuisine": "Thai"}, None])
    assert written["values"] == {"coffee_or_tea": "tea", "favorite_cuisine": "Thai"}


def test_segment_without_attributes_is_deleted_and_counting_goes_on(tab: Tab, api: OwnerApi) -> None:
    tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": "tea"}])
    emptied = tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": None}])
    gone = dict(api.segments)
    written = tab.run(WRITE, ["lifestyle", "food", {"coffee_or_tea": "coffee"}])
    assert (emptied["values"], gone, written["content_revision"]) == ({}, {}, 3)


@pytest.mark.parametrize("name", ["Upper", "with-dash", "1st", "", "a" * 65, "__proto__"])
def test_attribute_with_a_bad_name_is_not_written(tab: Tab, api: OwnerApi, name: str) -> None:
    failed = tab.run(
        f"""async (name) => {{ {VAULT} {PAGE}
          const changes = JSON.parse(JSON.stringify([[name, 1]]));
          return failure(() => vault.writeAttributes("lifestyle", "food", Object.fromEntries(changes)));
        }}""",
        name,
    )
    assert failed == ["TypeError", None]
    assert api.segments == {}


@pytest.mark.parametrize(
    ("status", "kind", "body", "code"),
    [
        (409, "application/problem+json", {"code": "stale_revision", "detail": "x"}, "stale_revision"),
        (502, "text/html", "<h1>Bad gateway</h1>", "unexpected_answer"),
        (200, "text/html", "<h1>Hello</h1>", "unexpected_answer"),
        (200, "application/json", "{", "unexpected_answer"),
    ],
)
def test_errors_of_the_server_are_told_apart(
    sealing_tabs: Tabs, sealing_driver: Driver, status: int, kind: str, body: Any, code: str
) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    sealing_driver.server.api = lambda *_: (status, {"Content-Type": kind}, text.encode())
    failed = sealing_tabs(MINE).run(f"async () => {{ {VAULT} {PAGE} return failure(vault.getKeys); }}")
    assert failed == ["ApiError", code]


def test_sign_in_redirect_means_signed_out(sealing_tabs: Tabs, sealing_driver: Driver) -> None:
    sealing_driver.server.api = lambda *_: (302, {"Location": "/accounts/login/"}, b"")
    failed = sealing_tabs(MINE).run(f"async () => {{ {VAULT} {PAGE} return failure(vault.getKeys); }}")
    assert failed == ["ApiError", "signed_out"]


def test_strength_comes_from_the_estimator(sealing_tabs: Tabs) -> None:
    scores = sealing_tabs(MINE).run(
        f"""async () => {{ {VAULT}
          const found = [];
          for (const text of ["password1234", "short", "correct horse battery staple", "zoe@example.org"]) {{
            const {{ score, longEnough }} = await vault.strength(text, ["zoe@example.org"]);
            found.push([score, longEnough]);
          }}
          return found;
        }}"""
    )
    assert [score < 2 for score, _ in scores] == [True, True, False, True]
    assert [long for _, long in scores] == [True, False, True, True]
