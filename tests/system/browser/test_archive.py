"""Sealed archives in a real browser: to a new account and back byte for byte, and hostile files that change nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from consent_bridge import sealed
from consent_bridge.archives import open_archive, read_archive
from pkm.segments.models import Blob
from tests.bridge.handmade import with_header
from tests.factories import PersonFactory, Vault, give_vault
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, eventually_on, unlock

pytestmark = pytest.mark.browser
THEIRS = "another lantern, twice 9"


def spoilt(jwe: str) -> str:
    """With another tag, which is as canonical."""
    return jwe[:-4] + ("AAAA" if jwe[-4:] != "AAAA" else "BBBA")


def nested(depth: int) -> Any:
    value: Any = "the end"
    for _ in range(depth):
        value = {"in": [value]}
    return value


HARD: dict[tuple[str, str], dict[str, Any]] = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai", "nothing": None, "constructor": "toString", "zero": -0.0},
    ("identity", "basic"): {"full_name": "👩‍👩‍👧‍👦 שלום مرحبا Zoë\u200f\u2028", "deep": nested(150)},
    ("financial", "signals"): {"large": 2**60, "tiny": 1e-300},
    ("intents", "now"): {"needs": ["a" * 1_000_000, "", None, False, 0], "wants": {"b": 1, "a": {"": []}}},
    ("contact", "email"): {"email": 'quote " backslash \\ tab \t'},
}  # fmt: skip


def plain(vault: Vault) -> dict[tuple[str, str], bytes]:
    """What is kept now, opened: the octets under the seal."""
    from consent_bridge import jwe

    key = jwe.symmetric(vault.key.secret)
    blobs = Blob.objects.filter(user=vault.user, is_current=True, ciphertext__isnull=False)
    return {(blob.domain, blob.segment_id): jwe.open_sealed(blob.ciphertext, key, "segment") for blob in blobs}


def unlocked(page: Page, sign_in: SignIn, vault: Vault) -> Page:
    sign_in(page, vault.user, at="/vault/transfer/")
    unlock(page, str(vault.passphrase))
    return page


def saved(page: Page, path: Path) -> Path:
    with page.expect_download() as started:
        page.get_by_role("button", name="Save the sealed archive").click()
    started.value.save_as(path)
    return path


def open_file(page: Page, path: Path, secret: str) -> None:
    page.locator("#archive-file").set_input_files(path)
    page.locator("#archive-secret").fill(secret)
    page.get_by_role("button", name="Open the archive").click()


@pytest.fixture
def mine(site: str) -> Vault:
    return give_vault(PersonFactory(), HARD, passphrase=PASSPHRASE)


@pytest.fixture
def theirs(site: str) -> Vault:
    return give_vault(PersonFactory(), {}, passphrase=THEIRS)


def test_to_a_new_account_and_back_every_byte_is_the_same(
    new_profile: NewProfile, sign_in: SignIn, mine: Vault, theirs: Vault, tmp_path: Path
) -> None:
    before = plain(mine)
    first = saved(unlocked(new_profile().new_page(), sign_in, mine), tmp_path / "mine.json")
    other = unlocked(new_profile().new_page(), sign_in, theirs)
    open_file(other, first, PASSPHRASE)
    expect(other.locator("#archive-plan [data-state=new] input:checked")).to_have_count(len(HARD))
    other.get_by_role("button", name="Seal and keep what is ticked").click()
    expect(other.locator("#archive-done")).to_contain_text("5 parts were sealed")
    assert plain(theirs) == before

    second = saved(other, tmp_path / "theirs.json")
    for place in HARD:
        mine.write(*place, {"overwritten": True}, base=1)
    back = unlocked(new_profile().new_page(), sign_in, mine)
    open_file(back, second, theirs.recovery_code)
    boxes = back.locator("#archive-plan [data-state=differs] input")
    expect(boxes).to_have_count(len(HARD))
    expect(back.locator("#archive-plan input:checked")).to_have_count(0)
    for box in boxes.all():
        box.check()
    back.get_by_role("button", name="Seal and keep what is ticked").click()
    expect(back.locator("#archive-done")).to_contain_text("5 parts were sealed")

    assert plain(mine) == before
    opened = open_archive(read_archive(second.read_bytes()), THEIRS)
    assert opened["data"] == {place[0]: {place[1]: values} for place, values in HARD.items()}
    open_file(back, second, THEIRS)
    expect(back.locator("#archive-plan [data-skipped]")).to_contain_text("5 parts are the same here")
    expect(back.locator("#archive-start")).to_be_hidden()


def test_what_is_here_stays_unless_it_was_ticked_as_it_is_now(
    page: Page, sign_in: SignIn, mine: Vault, theirs: Vault, tmp_path: Path, complaints: Complaints
) -> None:
    theirs.write("lifestyle", "food", {"favorite_cuisine": "Finnish"})
    theirs.write("contact", "email", {"email": "a@b.example"})
    path = saved(unlocked(page, sign_in, theirs), tmp_path / "theirs.json")
    archive = json.loads(path.read_text())
    assert sorted(archive) == ["format", "segments", "user_id", "wrappers"]

    theirs.write("lifestyle", "food", {"favorite_cuisine": "Korean"}, base=1)
    open_file(page, path, THEIRS)
    box = page.locator("[data-place='lifestyle.food'] input")
    expect(page.locator("[data-place='lifestyle.food']")).to_contain_text("Finnish (here: Korean)")
    box.check()
    theirs.write("lifestyle", "food", {"favorite_cuisine": "Greek"}, base=2)  # another device, after the look
    with complaints.expecting(409):
        page.get_by_role("button", name="Seal and keep what is ticked").click()
        expect(page.locator("#archive-problem")).to_contain_text("changed somewhere else")
    expect(page.locator("[data-place='lifestyle.food']")).to_contain_text("Finnish (here: Greek)")
    expect(box).not_to_be_checked()
    assert json.loads(plain(theirs)["lifestyle", "food"]) == {"favorite_cuisine": "Greek"}

    box.check()
    page.get_by_role("button", name="Seal and keep what is ticked").click()
    expect(page.locator("#archive-done")).to_be_visible()
    assert json.loads(plain(theirs)["lifestyle", "food"]) == {"favorite_cuisine": "Finnish"}


def test_it_is_stopped_and_goes_on_where_it_was(
    page: Page, sign_in: SignIn, mine: Vault, theirs: Vault, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(archive_of(mine)))
    unlocked(page, sign_in, theirs)
    open_file(page, path, mine.recovery_code)
    routes: list[Any] = []
    page.route("**/vault/segments/**", lambda route: route.continue_() if routes else routes.append(route))
    page.get_by_role("button", name="Seal and keep what is ticked").click()
    expect(page.locator("#archive-plan [data-count]")).to_have_text("1 of 5")
    eventually_on(page, lambda: routes, "the first segment")
    page.get_by_role("button", name="Cancel").click()
    routes[0].continue_()
    expect(page.locator("#toasts")).to_contain_text("Stopped")
    assert len(plain(theirs)) == 1

    page.reload()
    open_file(page, path, mine.recovery_code)
    expect(page.locator("#archive-plan [data-state=new]")).to_have_count(4)
    page.get_by_role("button", name="Seal and keep what is ticked").click()
    expect(page.locator("#archive-done")).to_contain_text("4 parts")
    assert plain(theirs) == plain(mine)


def test_a_part_that_was_deleted_here_comes_back(
    page: Page, sign_in: SignIn, theirs: Vault, tmp_path: Path, complaints: Complaints
) -> None:
    from pkm.segments.actions import delete_segment

    theirs.write("lifestyle", "food", {"favorite_cuisine": "Finnish"})
    path = saved(unlocked(page, sign_in, theirs), tmp_path / "theirs.json")
    delete_segment(by=theirs.user, domain="lifestyle", segment_id="food", base_content_revision=1)
    open_file(page, path, THEIRS)
    with complaints.expecting(409):
        page.get_by_role("button", name="Seal and keep what is ticked").click()
        expect(page.locator("#archive-done")).to_be_visible()
    assert json.loads(plain(theirs)["lifestyle", "food"]) == {"favorite_cuisine": "Finnish"}


def archive_of(vault: Vault) -> dict[str, Any]:
    """What the browser would save."""
    from pkm.segments.queries import sealed_segments
    from pkm.vault.queries import vault_keys

    segments = [
        {
            name: segment[name]
            for name in ("domain", "segment_id", "content_revision", "attributes", "jwe", "updated_at")
        }
        for segment in sealed_segments(vault.user)
    ]
    wrappers = [
        {name: wrapper[name] for name in ("kind", "label", "credential_id", "jwe", "created_at")}
        for wrapper in vault_keys(vault.user)["wrappers"]
    ]
    return {"format": "consent-archive/1", "user_id": vault.user.public_id, "wrappers": wrappers, "segments": segments}


def _hostile(archive: dict[str, Any], vault: Vault) -> dict[str, tuple[str, str]]:
    """What was done to it → the file, and a word of the refusal."""
    first, second, *rest = archive["segments"]
    wrapper, *others = sorted(archive["wrappers"], key=lambda one: str(one["kind"]))  # the passphrase first

    def segment(values: dict[str, Any], **header: Any) -> dict[str, Any]:
        place = {"domain": first["domain"], "segment_id": first["segment_id"], "content_revision": 1}
        members = sealed.SegmentHeader(**{"kid": vault.key.key_id, "sub": vault.user.public_id, **place, **header})
        return {**first, "attributes": list(values), "jwe": sealed.seal_segment(values, vault.key.secret, members)}

    def file(**members: Any) -> str:
        return json.dumps({**archive, **members})

    def count(p2c: object) -> str:
        return file(wrappers=[{**wrapper, "jwe": with_header(wrapper["jwe"], lambda h: h.update(p2c=p2c))}, *others])

    return {
        "a huge count": (count(2**31), "amount of work"),
        "a tiny count": (count(1000), "amount of work"),
        "another person": (file(user_id="usr_other"), "another place, person or key"),
        "another key": (file(segments=[segment({"a": 1}, kid="vk_" + "a" * 26), second, *rest]), "another place"),
        "another's segment": (file(segments=[segment({"a": 1}, sub="usr_other"), second, *rest]), "another place"),
        "swapped": (file(segments=[{**first, "jwe": second["jwe"]}, second, *rest]), "another place"),
        "twice": (file(segments=[first, first]), "twice"),
        "prototype": (file(segments=[{**first, "domain": "__proto__"}]), "not as it has to be"),
        "prototype member": (json.dumps(archive).replace("{", '{"__proto__": {"polluted": true},', 1), "not as it has"),
        "prototype inside": (file(segments=[segment({"__proto__": {"polluted": True}})]), "something else"),
        "repeated": (json.dumps(archive).replace("{", '{"format": "consent-archive/1",', 1), "one thing twice"),
        "too deep": ('{"format":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
        "words": ("this is no archive", "no sealed archive"),
        "other JSON": ("[1, 2]", "no sealed archive"),
        "too many": (file(wrappers=archive["wrappers"] * 30), "too large"),
        "no wrapper": (file(wrappers=[]), "more than one vault"),
        "changed": (file(segments=[{**first, "jwe": spoilt(first["jwe"])}, second, *rest]), "was changed"),
    }  # fmt: skip


def test_hostile_archives_are_refused_in_words_and_nothing_is_lost(
    page: Page, sign_in: SignIn, theirs: Vault, tmp_path: Path
) -> None:
    hostile = give_vault(PersonFactory(), {**HARD, ("intents", "now"): {"needs": ["x"]}}, passphrase=PASSPHRASE)
    theirs.write("lifestyle", "food", {"favorite_cuisine": "Finnish"})
    before = plain(theirs)
    unlocked(page, sign_in, theirs)
    for what, (text, reason) in _hostile(archive_of(hostile), hostile).items():
        (tmp_path / "hostile.json").write_text(text)
        page.locator("#archive-file").set_input_files(tmp_path / "hostile.json")
        form = page.locator("#archive-unlock")
        expect(form.or_(page.locator("#archive-problem")).locator("visible=true")).to_be_visible()
        if form.is_visible():
            page.locator("#archive-secret").fill(PASSPHRASE)
            page.get_by_role("button", name="Open the archive").click()
        expect(page.locator("#archive-problem"), what).to_contain_text(reason)
        expect(page.locator("#archive-problem")).to_contain_text("Nothing was changed")
        expect(page.locator("#archive-plan")).to_be_hidden()
        page.reload()

    assert page.evaluate("() => ({}).polluted") is None
    assert plain(theirs) == before


def test_another_secret_opens_nothing_and_can_be_tried_again(
    page: Page, sign_in: SignIn, mine: Vault, theirs: Vault, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(archive_of(mine)))
    unlocked(page, sign_in, theirs)
    open_file(page, path, "not the passphrase")
    expect(page.locator("#archive-problem")).to_contain_text("That does not open this file")
    page.locator("#archive-secret").fill(PASSPHRASE)
    page.locator("#archive-secret").press("Enter")
    expect(page.locator("#archive-plan .value-group")).to_have_count(len(HARD))
    expect(page.locator("#archive-plan")).to_contain_text("👩‍👩‍👧‍👦 שלום")

    page.locator("#vault-lock").click()
    expect(page.locator("#archive-plan .value-group")).to_have_count(0)


def test_a_sealed_archive_is_saved_without_unlocking_and_sends_nothing(
    page: Page, sign_in: SignIn, mine: Vault, tmp_path: Path
) -> None:
    sign_in(page, mine.user, at="/vault/transfer/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    path = saved(page, tmp_path / "mine.json")
    assert set(sent) <= {"GET"}
    assert json.loads(path.read_text()) == json.loads(json.dumps(archive_of(mine)))
