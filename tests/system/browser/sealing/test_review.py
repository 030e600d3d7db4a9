"""A decision in the browser: what is shown is checked, what was checked is sealed, and exactly that leaves."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any
from unittest.mock import ANY

import pytest

from consent_bridge.sealed import request_digest
from consent_bridge.signatures import check_public_key, sha256, thumbprint, verified
from consent_bridge.signing import ApprovalRoot
from tests.bridge.remembered import entry
from tests.system.browser.sealing import opener
from tests.system.browser.sealing.chromium import Driver, Tab
from tests.system.browser.sealing.owner_api import OwnerApi

pytestmark = pytest.mark.browser
Tabs = Callable[..., Tab]


class NoChain:
    """Of an app that did nothing before."""

    chain: tuple[()] = ()


VAULT = 'const vault = await import("/static/js/vault/vault.js");'
PAGE = 'const { failure, refusal } = await import("/tests/system/browser/sealing/page.js");'
FOOD = {"favorite_cuisine": "Thai", "diet_preference": "vegetarian", "coffee_or_tea": "tea"}
CUISINE, DIET, DRINK = (f"lifestyle.food.{name}" for name in FOOD)


@pytest.fixture
def export(vectors: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = deepcopy(vectors["exports"][0])
    return chosen


@pytest.fixture
def api(sealing_driver: Driver, export: dict[str, Any]) -> OwnerApi:
    request = export["request"]
    api = OwnerApi("usr_whom_no_app_knows")  # the app knows them by the ID of the request
    api.request_data = {
        "request": request,
        "request_digest": export["request_digest"],
        "status": "pending",
        "connector_public_key": export["connector_public_key"],
        "connector_key_id": "connector-1",
        "app": {"app_id": request["app_id"], "name": request["app_name"]},
        "scope_entry": {"sensitivity_tier": "standard"},
        "issuer": "http://localhost:8000",
        "export_revision": 1,
        "known_connector_key": False,
        "vouching": {"by": "nobody", "domain": None, "since": None},
    }
    sealing_driver.server.api = api
    return api


@pytest.fixture
def tab(sealing_tabs: Tabs, api: OwnerApi) -> Tab:
    """A review page of a person with an unlocked vault that holds two segments of the domain."""
    tab = sealing_tabs(f"?user={api.user_id}&session=s1")
    tab.run(
        f"""async (food) => {{ {VAULT}
          await (await vault.createVault({{ passphrase: "a quiet river in november" }})).confirm();
          await vault.writeAttributes("lifestyle", "food", food);
          await vault.writeAttributes("lifestyle", "habits", {{ transport: "bicycle" }});
        }}""",
        FOOD,
    )
    return tab


def approve(tab: Tab, api: OwnerApi, attributes: list[str], duration: int | None = None, **more: bool) -> Any:
    return tab.run(
        f"""async ([id, attributes, accessDuration, more]) => {{ {VAULT} {PAGE}
          let answer;
          const deciding = async () => (answer = await vault.approve(id, {{ attributes, accessDuration, ...more }}));
          const failed = await failure(deciding);
          return failed ?? answer;
        }}""",
        [api.request_data["request"]["request_id"], attributes, duration, more],
    )


def load(tab: Tab, request_id: str) -> Any:
    return tab.run(f"async (id) => {{ {VAULT} {PAGE} return refusal(() => vault.loadRequest(id)); }}", request_id)


def test_approval_seals_exactly_the_approved_attributes(tab: Tab, api: OwnerApi, export: dict[str, Any]) -> None:
    answer = approve(tab, api, [CUISINE], 3600)
    (decision,) = api.decisions
    sealed = decision.pop("jwe")
    slice_ = opener.open_export(sealed, export["connector_private_key"])
    source = {"domain": "lifestyle", "segment_id": "food", "content_revision": 1}
    header = opener.header_of(sealed)
    assert answer == {"status": "approved"}
    key, root = decision.pop("approval_key"), api.root["signing_public_key"]
    claims = verified(decision.pop("approval"), "consent-approval+jwt", check_public_key(key), "the approval")
    certificate = decision.pop("approval_key_certificate")
    names = {"iss": export["header"]["iss"], "sub": export["header"]["sub"], "aud": export["header"]["aud"]}
    assert verified(certificate, "approval-key+jwt", check_public_key(root), "it") == {
        **names, "jwk": key, "iat": claims["iat"]
    }  # fmt: skip
    assert claims == {
        **names,
        "iat": claims["iat"],
        "ends_at": claims["iat"] + 3600,
        "request_id": export["header"]["request_id"],
        "request_digest": export["request_digest"],
        "revision": 1,
        "access_duration": 3600,
        "approved_attributes": [CUISINE],
        "export_sha256": sha256(sealed),
    }
    assert decision.pop("notes") == {"jwe": api.notes["jwe"], "base_revision": api.notes["revision"] - 1}
    assert decision == {
        "decision": "approve",
        "request_digest": export["request_digest"],
        "access_duration": 3600,
        "approved_attributes": [CUISINE],
        "sources": [source],
    }
    assert not slice_.pop("pad").strip(" ")
    assert slice_ == {
        "scope": "attr.lifestyle.food.*",
        "approved_attributes": [CUISINE],
        "data": {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}},
        "sources": [{"domain": "lifestyle", "segment_id": "food"}],
        "sealed_at": slice_["sealed_at"],
    }
    assert len(slice_["sealed_at"]) == len("2026-11-20T10:00:00Z")
    assert header == {**export["header"], "epk": header["epk"]}


def test_the_notes_that_go_with_a_decision_remember_it(tab: Tab, api: OwnerApi, export: dict[str, Any]) -> None:
    approve(tab, api, [CUISINE], 3600)

    (decision,) = api.decisions
    read = """async () => { const { readNotes } = await import("/static/js/vault/notes.js");
      return (await readNotes()).notes; }"""
    request, approval = export["request"], decision["approval"]
    claims = verified(approval, "consent-approval+jwt", check_public_key(decision["approval_key"]), "the approval")
    paths = [*(request["required_attributes"] or []), *(request["optional_attributes"] or [])] or request["attributes"]
    record = [[paths.index(CUISINE)], claims["ends_at"], 1, sha256(approval)]
    key = request["connector_thumbprint"]
    assert tab.run(read) == {
        "root": thumbprint(api.root["signing_public_key"]),
        "generation": ANY,
        "connectors": {request["app_id"]: [key]},
        "segments": {"lifestyle.food": 1, "lifestyle.habits": 1},
        "approvals": {
            request["app_id"]: {"sub": request["user_id"], "keys": {key: {export["request_digest"]: record}}}
        },
    }


def test_a_decision_is_sent_again_with_the_notes_of_a_device_that_was_faster(tab: Tab, api: OwnerApi) -> None:
    tab.run(
        """async () => {
          const { changeNotes } = await import("/static/js/vault/notes.js");
          let raced = false;
          const real = window.fetch;
          window.fetch = async (address, options) => {
            if (String(address).endsWith("/decision") && !raced) {
              raced = true;
              await changeNotes((notes) => ({ ...notes, log: { size: 4 } }));
            }
            return real(address, options);
          };
        }"""
    )

    assert approve(tab, api, [CUISINE]) == {"status": "approved"}

    bases = [decision["notes"]["base_revision"] for decision in api.decisions]
    assert (bases[1] - bases[0], len({decision["approval"] for decision in api.decisions})) == (1, 1)
    read = """async () => { const { readNotes } = await import("/static/js/vault/notes.js");
      return Object.keys((await readNotes()).notes).sort(); }"""
    assert tab.run(read) == ["approvals", "connectors", "generation", "log", "root", "segments"]


@pytest.mark.parametrize("gone", ["notes", "root"])
def test_a_vault_that_was_made_with_notes_approves_nothing_without_them(
    tab: Tab, api: OwnerApi, sealing_tabs: Tabs, gone: str
) -> None:
    """On a device that remembers nothing: the way in says so under the vault key itself."""
    assert [opener.header_of(wrapper["jwe"])["notes"] for wrapper in api.wrappers] == [1, 1]
    if gone == "notes":
        api.notes = {"revision": 0, "jwe": None}
    else:
        api.root = {"signing_public_key": None, "signing_jwe": None}
    fresh = sealing_tabs(f"?user={api.user_id}&session=s2")
    fresh.run(
        f"""async (user) => {{ {VAULT}
          const {{ forgetVault }} = await import("/static/js/vault/device.js");
          await forgetVault(user);
          await vault.unlock({{ kind: "passphrase", secret: "a quiet river in november" }});
        }}""",
        api.user_id,
    )

    assert approve(fresh, api, [CUISINE]) == ["Refused", "rolled_back" if gone == "notes" else "signing_key"]

    assert (api.decisions, ("PUT", "/vault/signing-key") in api.seen) == ([], False)


def test_approved_attribute_that_does_not_exist_leaves_nothing(tab: Tab, api: OwnerApi, export: dict[str, Any]) -> None:
    tab.run(f"async () => {{ {VAULT} await vault.writeAttributes('lifestyle', 'food', {{ diet_preference: null }}); }}")
    approve(tab, api, [CUISINE, DIET])
    slice_ = opener.open_export(api.decisions[0]["jwe"], export["connector_private_key"])
    assert slice_["approved_attributes"] == [CUISINE, DIET]
    assert slice_["data"] == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert api.decisions[0]["access_duration"] == 86400


def test_preview_shows_what_was_asked_and_is_there(tab: Tab, api: OwnerApi) -> None:
    shown = tab.run(f"async (id) => {{ {VAULT} return vault.preview(id); }}", api.request_data["request"]["request_id"])
    assert [(attribute["path"], attribute["value"]) for attribute in shown] == [(CUISINE, "Thai"), (DIET, "vegetarian")]


@pytest.mark.parametrize("path", [DRINK, "lifestyle.habits.transport", "contact.email.email"])
def test_attribute_that_was_not_asked_for_is_never_sealed(tab: Tab, api: OwnerApi, path: str) -> None:
    assert approve(tab, api, [CUISINE, path]) == ["Refused", "request_changed"]
    assert api.decisions == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("purpose", "Something harmless"),
        ("app_name", "Another app"),
        ("access_duration", 60),
        ("max_reads", 1),
        ("attributes", []),
        ("expires_at", "2027-11-21T10:00:00Z"),
    ],
)
def test_request_that_differs_from_its_digest_is_not_shown_and_not_approved(
    tab: Tab, api: OwnerApi, member: str, value: Any
) -> None:
    api.request_data["request"][member] = value
    refused = load(tab, api.request_data["request"]["request_id"])
    assert refused == {"reason": "request_changed", "member": "request_digest"}
    assert approve(tab, api, [CUISINE]) == ["Refused", "request_changed"]
    assert api.decisions == []


def test_connector_key_that_was_swapped_is_refused(tab: Tab, api: OwnerApi, vectors: dict[str, Any]) -> None:
    api.request_data["connector_public_key"] = vectors["exports"][1]["connector_public_key"]
    refused = load(tab, api.request_data["request"]["request_id"])
    assert refused == {"reason": "request_changed", "member": "connector_thumbprint"}


def test_connector_key_of_low_order_is_refused(tab: Tab, api: OwnerApi, vectors: dict[str, Any]) -> None:
    api.request_data["connector_public_key"] = vectors["bad_connector_keys"][1]["jwk"]
    refused = load(tab, api.request_data["request"]["request_id"])
    assert refused == {"reason": "connector_key", "member": "x"}


def test_request_of_another_app_or_id_is_refused(tab: Tab, api: OwnerApi) -> None:
    request_id = api.request_data["request"]["request_id"]
    assert load(tab, "req_other") == {"reason": "request_changed", "member": "request_id"}
    api.request_data["app"]["app_id"] = "app_other"
    assert load(tab, request_id) == {"reason": "request_changed", "member": "app_id"}


def test_request_that_names_the_person_by_their_own_id_is_refused(sealing_tabs: Tabs, api: OwnerApi) -> None:
    request = api.request_data["request"]
    tab = sealing_tabs(f"?user={request['user_id']}&session=s1")
    assert load(tab, request["request_id"]) == {"reason": "request_changed", "member": "user_id"}


@pytest.mark.parametrize("vouching", [None, {}, {"by": "friends", "domain": None}, {"by": "registered", "domain": 4}])
def test_who_vouches_is_told_or_nothing_is_remembered_of_the_app(tab: Tab, api: OwnerApi, vouching: Any) -> None:
    """The page shows no values then, and enables nothing."""
    api.request_data["vouching"] = vouching
    remembered = tab.run(
        f"async (id) => {{ {VAULT} {PAGE} return failure(() => vault.memoryOf(id)); }}",
        api.request_data["request"]["request_id"],
    )
    assert remembered == ["Refused", "request_changed"]
    assert approve(tab, api, [CUISINE]) == ["Refused", "request_changed"]
    assert api.decisions == []


@pytest.mark.parametrize(
    "changed", [None, {}, {"entry_hash": "A" * 43}, {"facts": {"app_id": "app_thief"}}, {"kind": "denied"}]
)
def test_a_registration_that_the_log_does_not_prove_seals_nothing(tab: Tab, api: OwnerApi, changed: Any) -> None:
    """What the service says of it is no proof; here it says all that it can, and the log is empty."""
    request = api.request_data["request"]
    facts = {"app_id": request["app_id"], "thumbprint": request["connector_thumbprint"]}
    registered = entry(NoChain, "connector_key_registered", facts) | (changed or {})
    vouching = {
        "by": "registered",
        "domain": None,
        "since": registered["at"],
        "entry": None if changed is None else registered,
    }
    api.request_data["vouching"] = vouching
    assert approve(tab, api, [CUISINE]) == ["Refused", "request_changed"]
    assert api.decisions == []


@pytest.mark.parametrize("tier", ["restricted", "confidential", None, "of another release"])
def test_what_nobody_vouches_for_is_not_sealed_beyond_the_standard(tab: Tab, api: OwnerApi, tier: str | None) -> None:
    api.request_data["scope_entry"] = {"sensitivity_tier": tier}
    assert approve(tab, api, [CUISINE]) == ["Refused", "request_changed"]
    assert api.decisions == []
    ticked = approve(tab, api, [CUISINE], unvouched=True)
    assert ticked == ({"status": "approved"} if tier == "confidential" else ["Refused", "request_changed"])


@pytest.mark.parametrize("changed", ["vouching", "tier"])
def test_what_vouches_for_the_key_is_asked_once_more_before_a_decision(tab: Tab, api: OwnerApi, changed: str) -> None:
    """The page was open for a day: what it shows holds no more."""
    api.request_data["vouching"] = {"by": "published", "domain": "lunch.example", "since": None}
    assert load(tab, api.request_data["request"]["request_id"])["opened"]
    if changed == "vouching":
        api.request_data["vouching"] = {"by": "nobody", "domain": "lunch.example", "since": None}
    else:
        api.request_data["scope_entry"] = {"sensitivity_tier": "restricted"}
    assert approve(tab, api, [CUISINE]) == ["Refused", "request_changed"]
    assert api.decisions == []


def test_source_that_changed_after_the_preview_stops_the_approval(tab: Tab, api: OwnerApi, sealing_tabs: Tabs) -> None:
    request_id = api.request_data["request"]["request_id"]
    preview = f"async (id) => {{ {VAULT} return (await vault.preview(id))[0].value; }}"
    shown = tab.run(preview, request_id)
    elsewhere = sealing_tabs(f"?user={api.user_id}&session=s1")
    elsewhere.run(
        f"async () => {{ {VAULT} await vault.writeAttributes('lifestyle', 'food', {{ favorite_cuisine: 'Greek' }}); }}"
    )
    assert approve(tab, api, [CUISINE]) == ["ApiError", "stale_revision"]
    assert (shown, tab.run(preview, request_id)) == ("Thai", "Greek")
    assert approve(tab, api, [CUISINE]) == {"status": "approved"}


def test_locking_forgets_the_preview(tab: Tab, api: OwnerApi) -> None:
    request_id = api.request_data["request"]["request_id"]
    tab.run(f"async (id) => {{ {VAULT} await vault.preview(id); await vault.lock(); }}", request_id)
    assert approve(tab, api, [CUISINE]) == ["Locked", None]
    assert api.decisions == []


@pytest.mark.parametrize(
    ("scope", "path", "expected"),
    [
        ("attr.lifestyle.*", "lifestyle.food.own_attribute", True),
        ("attr.lifestyle.food.*", "lifestyle.food.own_attribute", True),
        ("attr.lifestyle.food.*", "lifestyle.fooding.own_attribute", False),
        ("attr.lifestyle.food.coffee_or_tea", "lifestyle.food.coffee_or_tea", True),
        ("attr.lifestyle.food.coffee_or_tea", "lifestyle.food.coffee_or_tea_time", False),
        ("pkm.read", "contact.email.email", True),
        ("attr.*", "contact.email.email", False),
        ("other.lifestyle.*", "lifestyle.food.own_attribute", False),
    ],
)
def test_scope_covers_what_it_names(sealing_page: Tab, scope: str, path: str, expected: bool) -> None:
    request = {"scope": scope, "required_attributes": None, "optional_attributes": None}
    found = sealing_page.run(
        f"async ([request, path]) => {{ {VAULT} return vault.isRequested(request, path); }}", [request, path]
    )
    assert found is expected


def test_the_vault_and_the_bridge_derive_the_same_keys(tab: Tab, api: OwnerApi, export: dict[str, Any]) -> None:
    root = ApprovalRoot(bytes(range(32)))
    found = tab.run(
        """async () => {
          const { appKey, rootKey } = await import("/static/js/formats/signing.js");
          const root = Uint8Array.from({ length: 32 }, (_, index) => index);
          return [(await rootKey(root)).jwk, (await appKey(root, "https://consent.example", "app_a")).jwk];
        }"""
    )
    assert found == [root.key.public, root.app_key("https://consent.example", "app_a").public]


def test_a_sharing_id_that_the_vault_does_not_know_is_asked_about(tab: Tab, api: OwnerApi) -> None:
    """The service took the invitation of somebody else for this person's."""
    invite(api, "sh_alices")

    assert approve(tab, api, [CUISINE]) == ["Refused", "unknown_invitation"]
    tab.run(f"async () => {{ {VAULT} await vault.rememberInvitation('sh_bobs'); }}")
    assert (approve(tab, api, [CUISINE]), api.decisions) == (["Refused", "unknown_invitation"], [])

    assert approve(tab, api, [CUISINE], invited=True) == {"status": "approved"}


def test_one_that_it_knows_is_its_persons(tab: Tab, api: OwnerApi) -> None:
    invite(api, "sh_bobs")

    tab.run(f"async () => {{ {VAULT} await vault.rememberInvitation('sh_bobs'); }}")

    assert approve(tab, api, [CUISINE]) == {"status": "approved"}
    read = """async () => { const { readNotes } = await import("/static/js/vault/notes.js");
      return (await readNotes()).notes.invitations; }"""
    assert tab.run(read) == [sha256("sh_bobs")]


def invite(api: OwnerApi, sharing_id: str) -> None:
    request = {**api.request_data["request"], "invitation_sha256": sha256(sharing_id)}
    api.request_data = {**api.request_data, "request": request, "request_digest": request_digest(request)}
