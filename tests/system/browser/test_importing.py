"""Files from elsewhere in a real browser: what goes where is chosen, and what would change is seen first."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.factories import PersonFactory, Vault, give_vault
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, SignIn, unlock
from tests.system.browser.test_archive import HARD, plain

pytestmark = pytest.mark.browser
CARD = (
    "BEGIN:VCARD\r\nVERSION:{version}\r\nN:Łuk;Zoë;;Dr.;\r\nFN:Zoë \\\"Z\\\" Łuk\\, Dr.\r\n"
    "EMAIL;TYPE=home:zoe@a.example\r\nitem1.EMAIL:second@a.example\r\nTEL;VALUE=uri;TYPE=\"cell,voice\":tel:+49-151-1\r\n"
    "ADR;TYPE=home:;;1 Long\r\n  Street\\; back;Åbo;;20100;Finland\r\nBDAY:19850412\r\nGENDER:F\r\n"
    "PHOTO;ENCODING=b:" + "A" * 20_000 + "\r\nNOTE:two\\nlines 👩‍👧\r\nEND:VCARD\r\n"
)  # fmt: skip


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), {("contact", "email"): {"email": "old@a.example"}}, passphrase=PASSPHRASE)


@pytest.fixture
def transfer(page: Page, sign_in: SignIn, vault: Vault) -> Page:
    sign_in(page, vault.user, at="/vault/transfer/")
    unlock(page)
    return page


def values_of(vault: Vault) -> dict[str, Any]:
    return {".".join(place): json.loads(text) for place, text in plain(vault).items()}


def choose(page: Page, path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    page.locator("#import-file").set_input_files(path)


def row(page: Page, label: str) -> Locator:
    """One entry of the file, by its name."""
    return page.locator("[data-mapping] .field").filter(has=page.get_by_label(label, exact=True))


def take_all(page: Page) -> None:
    page.get_by_role("button", name="Import what is ticked").click()
    expect(page.locator("#import-plan")).to_be_hidden()


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_vcard_goes_where_the_person_says(transfer: Page, vault: Vault, tmp_path: Path, version: str) -> None:
    choose(transfer, tmp_path / "me.vcf", CARD.format(version=version))
    rows = transfer.locator("[data-mapping] .field")
    expect(rows).to_have_count(11)
    expect(row(transfer, "Full name")).to_contain_text('Zoë "Z" Łuk, Dr.')
    expect(row(transfer, "Note").locator("select")).to_have_value("")
    row(transfer, "Note").locator("select").select_option("interests.leisure.note")
    transfer.get_by_role("button", name="Show what would change").click()
    expect(transfer.locator("#import-plan")).to_contain_text("now: old@a.example")
    take_all(transfer)

    assert values_of(vault) == {
        "identity.basic": {"full_name": 'Zoë "Z" Łuk, Dr.', "birth_date": "1985-04-12", "gender": "female"},
        "contact.email": {"email": "zoe@a.example"},
        "contact.phone": {"phone": "+49-151-1"},
        "location.home": {
            "address": "1 Long Street; back", "city": "Åbo", "postal_code": "20100", "country": "Finland",
        },
        "interests.leisure": {"note": "two\nlines 👩‍👧"},
    }  # fmt: skip


def test_a_birthday_without_its_year_replaces_a_whole_one_only_where_it_is_ticked(
    page: Page, sign_in: SignIn, site: str, tmp_path: Path
) -> None:
    kept = {("identity", "basic"): {"birth_date": "1990-03-15"}}
    vault = give_vault(PersonFactory(), kept, passphrase=PASSPHRASE)
    sign_in(page, vault.user, at="/vault/transfer/")
    unlock(page)
    choose(page, tmp_path / "me.vcf", "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Zoë\r\nBDAY:--0315\r\nEND:VCARD\r\n")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.locator("#import-plan")).to_contain_text("now: ")
    take_all(page)

    assert values_of(vault) == {"identity.basic": {"full_name": "Zoë", "birth_date": "1990-03-15"}}


def test_two_entries_for_one_place_are_refused_in_words(transfer: Page, vault: Vault, tmp_path: Path) -> None:
    choose(transfer, tmp_path / "me.vcf", CARD.format(version="4.0"))
    second = transfer.locator("[data-mapping] .field").filter(has_text="second@a.example").locator("select")
    second.select_option("contact.email.email")
    transfer.get_by_role("button", name="Show what would change").click()
    expect(transfer.locator("#transfer-problem")).to_contain_text("Two entries go to the same place")
    assert values_of(vault) == {"contact.email": {"email": "old@a.example"}}


def test_csv_with_a_heading_offers_each_row(transfer: Page, vault: Vault, tmp_path: Path) -> None:
    text = '\ufeffName;E-mail;Age;"Shoe ""size"""\r\nAda;ada@a.example;36;"4;0"\r\n"Zoë\nŁuk";zoe@a.example;41;39\r\n'
    choose(transfer, tmp_path / "people.csv", text)
    transfer.get_by_label("Which of these is you?").select_option("1")
    rows = transfer.locator("[data-mapping] .field")
    expect(rows.nth(0)).to_contain_text("Łuk")
    rows.nth(3).locator("select").select_option("identity.basic.shoe_size")
    transfer.get_by_role("button", name="Show what would change").click()
    take_all(transfer)
    assert values_of(vault) == {
        "identity.basic": {"full_name": "Zoë\nŁuk", "age": 41, "shoe_size": "39"},
        "contact.email": {"email": "zoe@a.example"},
    }


def test_json_from_elsewhere_is_mapped(transfer: Page, vault: Vault, tmp_path: Path) -> None:
    body = {
        "user": {"name": "Zoë", "address": {"city": "Åbo"}},
        "constructor": 1,
        "__proto__x": [1],
        "tags": ["a", "b"],
    }
    choose(transfer, tmp_path / "me.json", json.dumps(body))
    rows = transfer.locator("[data-mapping] .field")
    expect(rows).to_have_count(5)
    row(transfer, "Tags").locator("select").select_option("intents.now.needs")
    transfer.get_by_role("button", name="Show what would change").click()
    take_all(transfer)
    found = values_of(vault)
    assert found["identity.basic"] == {"full_name": "Zoë"}
    assert found["location.home"] == {"city": "Åbo"}
    assert found["intents.now"] == {"needs": ["a", "b"]}


@pytest.mark.parametrize(
    ("name", "encoding", "mark"),
    [("excel.txt", "utf-16-le", "\t"), ("big.csv", "utf-16-be", ","), ("excel.csv", "windows-1252", ";")],
)
def test_tables_are_read_as_spreadsheets_save_them(
    transfer: Page, vault: Vault, tmp_path: Path, name: str, encoding: str, mark: str
) -> None:
    bom = "\ufeff" if encoding.startswith("utf") else ""
    text = bom + "".join(mark.join(row) + "\r\n" for row in (("name", "city"), ("Zoë “Œ”", "Åbo")))
    choose(transfer, tmp_path / name, text.encode(encoding))
    transfer.get_by_role("button", name="Show what would change").click()
    if not bom:
        expect(transfer.locator("#toasts")).to_contain_text("look at the letters with accents")
    take_all(transfer)
    found = values_of(vault)
    assert (found["identity.basic"], found["location.home"]) == ({"full_name": "Zoë “Œ”"}, {"city": "Åbo"})


REFUSED = {
    "old.vcf": (CARD.format(version="1.0"), "vCard of an old kind"),
    "cut.vcf": ("BEGIN:VCARD\nVERSION:3.0\nFN:A\n", "ends too early"),
    "latin.json": ('{"name": "Zoë"}'.encode("latin-1"), "not UTF-8"),
    "half.csv": ("name,city\nZoë,Åbo\n".encode("utf-16")[:-1], "not UTF-8"),
    "heading.csv": ("name,city\n", "no row below its heading"),
    "twice.json": ('{"identity": {"basic": {"age": 1, "age": 2}}}', "one thing twice"),
    "deep.json": ("[" * 100_000 + "]" * 100_000, "nested too deep"),
    "sealed.json": ('{"format": "consent-archive/1", "segments": []}', "under “Import a sealed archive”"),
    "none.json": ("7", "does not hold what can be imported"),
    "words.json": ("hello", "not JSON"),
}


def test_files_that_cannot_be_read_are_refused_in_words(transfer: Page, vault: Vault, tmp_path: Path) -> None:
    for name, (content, words) in REFUSED.items():
        choose(transfer, tmp_path / name, content)
        expect(transfer.locator("#transfer-problem"), name).to_contain_text(words)
        expect(transfer.locator("#import-mapping")).to_be_hidden()
    assert values_of(vault) == {"contact.email": {"email": "old@a.example"}}


def test_our_own_json_comes_back_with_null_depth_and_a_megabyte(
    transfer: Page, vault: Vault, site: str, sign_in: SignIn, tmp_path: Path
) -> None:
    hard = {place: values for place, values in HARD.items() if place != ("financial", "signals")}
    data: dict[str, Any] = {}
    for (domain, segment), values in hard.items():
        data.setdefault(domain, {})[segment] = values
    mine = {"saved_at": "2026-11-20T10:00:00Z", "data": {**data, "nowhere": {"to": {"be": "found"}}}}
    choose(transfer, tmp_path / "mine.json", json.dumps(mine))
    expect(transfer.locator("#import-plan .value")).to_have_count(sum(map(len, hard.values())))
    expect(transfer.locator("#import-plan [data-skipped]")).to_contain_text("nowhere.to.be")
    take_all(transfer)
    assert values_of(vault) == {".".join(place): values for place, values in hard.items()}
    with transfer.expect_download() as started:
        transfer.get_by_role("button", name="Save everything as a file").click()
    assert json.loads(started.value.path().read_text())["data"] == data


def test_what_changed_since_the_look_is_not_overwritten(
    transfer: Page, vault: Vault, tmp_path: Path, complaints: Complaints
) -> None:
    choose(transfer, tmp_path / "mine.json", '{"contact": {"email": {"email": "new@a.example"}}}')
    expect(transfer.locator("#import-plan .value")).to_have_count(1)
    vault.write("contact", "email", {"email": "elsewhere@a.example"}, base=1)
    with complaints.expecting(409):
        transfer.get_by_role("button", name="Import what is ticked").click()
        expect(transfer.locator("#transfer-problem")).to_contain_text("changed somewhere else")
    assert values_of(vault) == {"contact.email": {"email": "elsewhere@a.example"}}


def test_an_import_that_was_cut_off_goes_on_where_it_stopped(
    transfer: Page, vault: Vault, tmp_path: Path, complaints: Complaints
) -> None:
    mine = {"contact": {"email": {"email": "new@a.example"}}, "identity": {"basic": {"full_name": "Zoë"}}}
    choose(transfer, tmp_path / "mine.json", json.dumps(mine))
    start = transfer.get_by_role("button", name="Import what is ticked")
    transfer.route("**/vault/segments/identity/basic", lambda route: route.abort())
    start.click()
    expect(transfer.locator("#transfer-problem")).to_contain_text("could not be reached")
    complaints.lines.clear()
    expect(transfer.locator("#import-plan [data-progress]")).to_be_hidden()
    expect(transfer.locator("#import-plan .value")).to_have_count(1)
    transfer.unroute("**/vault/segments/identity/basic")
    take_all(transfer)

    assert values_of(vault) == {"contact.email": {"email": "new@a.example"}, "identity.basic": {"full_name": "Zoë"}}


def test_nothing_ticked_is_not_called_imported(transfer: Page, tmp_path: Path) -> None:
    choose(transfer, tmp_path / "mine.json", '{"identity": {"basic": {"full_name": "Zoë"}}}')
    transfer.locator("#import-plan input").uncheck()
    transfer.get_by_role("button", name="Import what is ticked").click()
    expect(transfer.locator("#transfer-problem")).to_contain_text("Tick at least one thing")
    expect(transfer.locator("#import-plan")).to_be_visible()
