"""Known vulnerabilities are found in what the locks name: by version, by ecosystem, and where nothing was compared."""

import json
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deploy.local import advisories, osv, place
from deploy.local.advisories import Component

TODAY = date(2026, 11, 25)
# two that their projects published: SQL by a key of JSON in Django, and a decompression bomb in jose
DJANGO = {
    "id": "CVE-2024-42005", "aliases": ["PYSEC-2024-70"], "modified": "2024-08-07T17:22:10Z", "summary": "left out",
    "affected": [{
        "package": {"ecosystem": "PyPI", "name": "Django", "purl": "pkg:pypi/django"},
        "ranges": [{"type": "ECOSYSTEM", "events": [
            {"introduced": "5.0"}, {"fixed": "5.0.8"}, {"introduced": "4.2"}, {"fixed": "4.2.15"},
        ]}],
    }],
}  # fmt: skip
JOSE = {
    "id": "CVE-2024-28176", "aliases": [], "modified": "2024-03-09T00:00:00Z",
    "affected": [{
        "package": {"ecosystem": "npm", "name": "jose"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": "3.0.0"}, {"fixed": "4.15.5"}]}],
    }],
}  # fmt: skip


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export of both ecosystems, as somebody downloads it."""
    elsewhere = {**DJANGO, "id": "CVE-2000-1", "affected": [{"package": {"ecosystem": "PyPI", "name": "not-shipped"}}]}
    withdrawn = {**DJANGO, "id": "CVE-2000-2", "withdrawn": "2024-09-01T00:00:00Z"}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for each in (DJANGO, JOSE, elsewhere, withdrawn):
            archive.writestr(f"{each['id']}.json", json.dumps(each))
    return tmp_path / "all.zip"


@pytest.fixture
def pinned(export: Path, tmp_path: Path) -> dict[str, Any]:
    return advisories.renew([export], tmp_path / "osv.json")


def locked(monkeypatch: pytest.MonkeyPatch, *named: Component) -> None:
    monkeypatch.setattr(advisories, "components", lambda: list(named))


@pytest.mark.parametrize(
    ("part", "version", "is_about"),
    [
        (DJANGO["affected"][0], "5.0.7", True), (DJANGO["affected"][0], "5.0.8", False),
        (DJANGO["affected"][0], "5.0", True), (DJANGO["affected"][0], "4.2.14", True),
        (DJANGO["affected"][0], "4.2.15", False), (DJANGO["affected"][0], "5.0rc1", False),
        (DJANGO["affected"][0], "5.2.19", False), (DJANGO["affected"][0], "4.1.9", False),
        (JOSE["affected"][0], "4.15.4", True), (JOSE["affected"][0], "4.9.0", True),
        (JOSE["affected"][0], "4.15.5", False), (JOSE["affected"][0], "4.15.5-rc.1", True),
        (JOSE["affected"][0], "2.9.9", False), (JOSE["affected"][0], "not a version", True),
        ({"package": {"ecosystem": "PyPI"}, "versions": ["1.0"]}, "1.0", True),
        ({"package": {"ecosystem": "PyPI"}, "versions": ["1.0"]}, "1.1", False),
        ({"package": {"ecosystem": "npm"}}, "1.0.0", True),
        ({"package": {"ecosystem": "PyPI"}, "ranges": [{"events": [{"introduced": "0"}]}]}, "1", True),
        ({"package": {"ecosystem": "PyPI"},
          "ranges": [{"events": [{"introduced": "0"}, {"last_affected": "2.0"}]}]}, "2.0", True),
        ({"package": {"ecosystem": "PyPI"},
          "ranges": [{"events": [{"introduced": "0"}, {"last_affected": "2.0"}]}]}, "2.0.1", False),
    ],
)  # fmt: skip
def test_which_versions_an_advisory_is_about(part: dict[str, Any], version: str, is_about: bool) -> None:
    assert osv.is_affected(part, version) is is_about


@pytest.mark.parametrize(
    ("lower", "higher"),
    [("1.0.0-rc.1", "1.0.0"), ("1.0.0-alpha", "1.0.0-alpha.1"), ("1.0.0-2", "1.0.0-10"), ("1.0.0-9", "1.0.0-a"),
     ("1.9.0", "1.10.0")],
)  # fmt: skip
def test_versions_of_npm_are_in_the_order_of_their_standard(lower: str, higher: str) -> None:
    below = {"package": {"ecosystem": "npm"}, "ranges": [{"events": [{"introduced": "0"}, {"fixed": higher}]}]}

    assert osv.is_affected(below, lower)
    assert not osv.is_affected(below, higher)


def test_a_step_back_to_a_vulnerable_version_is_found(pinned: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    locked(
        monkeypatch,
        Component("PyPI", "django", "5.0.7", "requirements.lock"),
        Component("npm", "jose", "4.15.4", "static/vendor/package-lock.json"),
    )

    assert [str(each) for each in advisories.findings(pinned, [], TODAY)] == [
        "jose 4.15.4 (static/vendor/package-lock.json): CVE-2024-28176, fixed in 4.15.5",
        "django 5.0.7 (requirements.lock): CVE-2024-42005 PYSEC-2024-70, fixed in 5.0.8, 4.2.15",
    ]


def test_what_the_locks_name_now_is_about_neither(pinned: dict[str, Any]) -> None:
    named = advisories.components()

    assert {"django", "jose", "esbuild", "pytest", "granian"} <= {each.name for each in named}
    assert advisories.findings(pinned, [], TODAY) == []


def test_a_package_that_the_file_does_not_know_is_not_passed(
    pinned: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(monkeypatch, Component("PyPI", "brand-new", "1.0", "requirements.lock"))

    assert [each.advisory for each in advisories.findings(pinned, [], TODAY)] == ["not in the file"]


def test_an_ecosystem_without_an_export_is_not_passed(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "one.json").write_text(json.dumps(DJANGO))

    made = advisories.renew([tmp_path / "python"], tmp_path / "osv.json")

    unknown = {each.component.ecosystem for each in advisories.findings(made, [], TODAY)}
    assert unknown == {"npm"}


def test_the_file_holds_no_text_of_others_and_nothing_about_other_packages(pinned: dict[str, Any]) -> None:
    assert [each["id"] for each in pinned["advisories"]] == ["CVE-2024-28176", "CVE-2024-42005"]
    assert sorted(pinned["advisories"][1]) == ["affected", "aliases", "id", "modified"]
    assert pinned["newest"] == {"PyPI": DJANGO["modified"], "npm": JOSE["modified"]}


def test_what_is_accepted_is_so_for_one_version_until_its_day(
    pinned: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(monkeypatch, Component("PyPI", "django", "5.0.7", "requirements.lock"))
    accepted = {
        "id": "PYSEC-2024-70",
        "package": "django",
        "version": "5.0.7",
        "until": "2026-11-25",
        "reason": "unused",
    }

    assert advisories.findings(pinned, [accepted], TODAY) == []
    assert len(advisories.findings(pinned, [accepted], date(2026, 11, 26))) == 1
    assert len(advisories.findings(pinned, [{**accepted, "version": "5.0.6"}], TODAY)) == 1


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command, with its files elsewhere."""
    monkeypatch.setattr(advisories, "ADVISORIES", tmp_path / "made" / "osv.json")
    monkeypatch.setattr(advisories, "ACCEPTED", tmp_path / "made" / "accepted.json")
    return tmp_path / "made"


def test_the_command_says_what_it_compared_and_how_old_that_is(
    export: Path, in_a_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert advisories.main([]) == 2  # there is nothing to compare with
    assert advisories.main(["--renew", str(export)]) == 0
    counted = (
        f"{len(advisories.components())} components, 2 advisories, newest PyPI 2024-08-07, npm 2024-03-09: 0 found"
    )
    said = capsys.readouterr().out
    assert counted in said
    assert "days old" in said

    assert advisories.main(["--days", "100000"]) == 0
    assert "days old" not in capsys.readouterr().out

    locked(monkeypatch, Component("npm", "jose", "4.15.4", "bridge-js/package-lock.json"))
    assert advisories.main([]) == 1
    assert "jose 4.15.4 (bridge-js/package-lock.json): CVE-2024-28176, fixed in 4.15.5" in capsys.readouterr().out


def test_an_acceptance_without_a_reason_ends_it(export: Path, in_a_folder: Path) -> None:
    advisories.main(["--renew", str(export)])
    (in_a_folder / "accepted.json").write_text('[{"id": "CVE-2000-1", "reason": " "}]')

    with pytest.raises(place.Stop, match="CVE-2000-1"):
        advisories.main([])
