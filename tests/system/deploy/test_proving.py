"""The table of `./run prove`: what proves nothing does not stand there as proven. And the measures begin at all."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.local import proving
from deploy.local.promises import POSTGRESQL, PROMISES, Promise

ROOT = Path(__file__).resolve().parents[3]
PASSED = '<testsuites><testsuite tests="3" failures="0" errors="0" skipped="0"/></testsuites>'
ONE = Promise("one", "a bound", tests=("tests/x.py",))


@pytest.mark.parametrize(
    ("code", "results", "promise", "state"),
    [
        (0, PASSED, ONE, "proven"),
        (1, PASSED.replace('failures="0"', 'failures="1"'), ONE, "red"),
        (1, PASSED.replace('errors="0"', 'errors="1"'), ONE, "red"),
        (2, PASSED, ONE, "red"),
        (0, PASSED.replace('skipped="0"', 'skipped="1"'), ONE, "left out"),
        (5, PASSED.replace('tests="3"', 'tests="0"'), ONE, "left out"),
        (1, "", ONE, "red"),
        (0, PASSED, Promise("many", "4 cases", tests=("tests/x.py",), at_least=4), "red"),
    ],
    ids=["passed", "failed", "broke", "interrupted", "skipped", "nothing ran", "no results", "too few"],
)
def test_what_a_run_proves(code: int, results: str, promise: Promise, state: str) -> None:
    assert proving.judged(promise, code, "said", results)[0] == state


@pytest.mark.parametrize(
    ("code", "output", "found"),
    [
        (0, "7 requests, 0 failed\n", ("proven", "0 failed")),
        (1, "7 requests, 2 failed\n", ("red", "2 failed")),
        (0, "nothing of the kind\n", ("red", "nothing of the kind")),
        (5, "no earlier release\n", ("left out", "no earlier release")),
    ],
    ids=["measured", "failed", "without its figure", "nothing to measure"],
)
def test_what_a_measurement_proves(
    code: int, output: str, found: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "_run", lambda *_: (code, output))
    line = Promise("line", "0 failed", bench=("trip",), figure=r"(\d+ failed)")

    assert proving._of_bench(line, False) == found


def test_a_line_is_as_its_test_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "test_good.py").write_text("def test_it() -> None:\n    print('7 runs in all')\n")
    (tmp_path / "test_bad.py").write_text("def test_it() -> None:\n    raise AssertionError\n")
    lines = (
        Promise("good", "it holds", tests=("test_good.py", "-s"), figure=r"(\d+ runs)"),
        Promise("bad", "it holds", tests=("test_bad.py",)),
        Promise("nothing", "20,000 cases"),
        Promise("elsewhere", "it holds", tests=("tests/x.py",), on=POSTGRESQL),
    )
    monkeypatch.setattr(proving, "PROMISES", lines)
    monkeypatch.setattr(proving, "database", lambda: "SQLite")
    monkeypatch.setattr(proving, "VAR", tmp_path)
    monkeypatch.setattr(proving, "ROOT", tmp_path)
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")  # of this project, which the tests there are not of

    assert proving.table([]) == 1
    output = capsys.readouterr().out
    for mark in ("✓ good", "✗ bad", "○ nothing", "- elsewhere"):
        assert f"\n{mark} " in output
    assert "  7 runs\n" in output
    assert "1 proven, 1 red, 1 left out, 1 not built." in output
    assert f"all that it said: {tmp_path / 'prove' / 'all-tests.txt'}" in output
    assert "./run test test_bad.py\n" in output
    assert "AssertionError" in (tmp_path / "prove" / "all-tests.txt").read_text()
    assert proving.table(["--only", "good"]) == 0
    assert "  7 runs\n" in capsys.readouterr().out
    assert proving.table(["--long", "--only", "nothing"]) == 0


def test_of_the_results_of_many_lines_each_gets_its_own() -> None:
    results = """<testsuites><testsuite tests="5">
        <testcase classname="tests.x" name="test_it[a-b]" time="1.5"><system-out>12 cases</system-out></testcase>
        <testcase classname="tests.x.TestAll" name="test_it" time="0.5"><skipped/></testcase>
        <testcase classname="tests.x" name="test_other" time="2"><failure>no</failure></testcase>
        <testcase classname="tests.xy" name="test_it" time="4"><error>no</error></testcase>
    </testsuite></testsuites>"""
    module = Promise("module", "", tests=("tests/x.py", "-s"))
    function = Promise("function", "", tests=("tests/x.py::test_it",))
    absent = Promise("absent", "", tests=("tests/y.py",))

    assert proving.judged(module, 0, "", proving.part_of(results, module)[0])[0] == "red"
    part, printed, seconds = proving.part_of(results, function)
    assert (printed, seconds) == ("12 cases", 2.0)
    assert proving.judged(function, 0, "", part) == ("left out", "1 cases were skipped, 1 passed")
    assert proving.judged(absent, 0, "", proving.part_of(results, absent)[0])[0] == "left out"


@pytest.mark.parametrize(
    ("arguments", "is_table"),
    [
        ([], True), (["--long"], True), (["--only", "races"], True), (["--long", "--only", "races"], True),
        (["agents"], True), (["tests"], False), (["tests/config"], False), (["--long", "tests/config"], False),
        (["-k", "x"], False),
    ],
)  # fmt: skip
def test_tests_by_name_are_run_as_ever(arguments: list[str], is_table: bool) -> None:
    assert proving.is_table(arguments) == is_table


@pytest.mark.parametrize("promise", [each for each in PROMISES if each.is_built], ids=lambda each: each.name)
def test_what_a_line_runs_is_there(promise: Promise) -> None:
    for name in promise.tests:
        path, _, function = name.partition("::")
        assert name.startswith("-") or f"def {function}" in (ROOT / path).read_text()
    for bench in (promise.bench, promise.long_bench):
        assert not bench or (ROOT / "bench" / f"{bench[0]}.py").exists()


@pytest.mark.parametrize(
    "measure", sorted(path.stem for path in (ROOT / "bench").glob("*.py") if "def main(" in path.read_text())
)
def test_a_measure_is_found_before_there_are_settings(measure: str) -> None:
    run = subprocess.run([sys.executable, "-c", f"import bench.{measure}"], cwd=ROOT, capture_output=True, check=False)

    assert run.returncode == 0, run.stderr.decode()
