"""`./run prove`: every promise with what was found, in one table. What each line said stays in var/prove/."""

import os
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import STDOUT, run
from xml.etree import ElementTree  # of a file that our own pytest has just written  # nosec B405

from deploy.local.place import PYTHON, ROOT, VAR, echo, fail, step
from deploy.local.promises import POSTGRESQL, PROMISES, Promise

_MARKS = {"proven": "✓", "red": "✗", "left out": "-", "not built": "○"}
_LIMIT = {False: 600, True: 6 * 3600}  # seconds that one line may take, in its short and in its long form
_NOTHING_TO_DO = 5  # the exit code of pytest where no test ran, and of a script of bench/ with nothing to measure yet
_TOGETHER, _LIMIT_TOGETHER = "all tests", 1800  # what the short forms of all tests are called, and may take


@dataclass(frozen=True)
class Found:
    """What became of one promise: proven, red, left out or not built."""

    promise: Promise
    state: str
    figure: str
    seconds: float = 0.0


def is_table(arguments: Sequence[str]) -> bool:
    """Whether the table is asked for, or the lines of it that a word names, and not tests by name."""
    rest = [argument for argument in arguments if argument not in ("--long", "--only")]
    are_words = all(argument.isalpha() and not (ROOT / argument).exists() for argument in rest)
    return are_words or arguments[0] == "--only" or list(arguments[:2]) == ["--long", "--only"]


def table(arguments: Sequence[str]) -> int:
    """Find out every line, or those whose name holds a word, and print the table; 1 where a line is red."""
    words = [argument for argument in arguments if argument not in ("--long", "--only")]
    chosen = [promise for promise in PROMISES if all(word in promise.name for word in words)]
    if not chosen:
        fail("Usage: ./run prove [--long] [WORD|--only WORD], or ./run prove [pytest's arguments]")
    is_long = "--long" in arguments
    tested = [] if is_long else [promise for promise in chosen if promise.tests and _is_here(promise)]
    found = {each.promise.name: each for each in (_tested_together(tested) if len(tested) > 1 else [])}
    for promise in chosen:
        if promise.name not in found:
            step(promise.name)
            found[promise.name] = _found(promise, is_long=is_long)
            _report(found[promise.name], output_path(promise.name))
    _print([found[promise.name] for promise in chosen], is_long=is_long)
    return 1 if any(each.state == "red" for each in found.values()) else 0


def database() -> str:
    """What the lines run on: as DATABASE_URL says."""
    return POSTGRESQL if os.environ.get("DATABASE_URL", "").startswith("postgres") else "SQLite"


def _is_here(promise: Promise) -> bool:
    """Whether the database is one that it can be found out on."""
    return promise.on != POSTGRESQL or database() == POSTGRESQL


def _report(found: Found, path: Path) -> None:
    echo(f"  {_MARKS[found.state]} {found.state}: {found.figure}")
    if found.state == "red":
        echo(f"    all that it said: {path}")


def _tested_together(promises: Sequence[Promise]) -> list[Found]:
    """What the tests of many lines found, run as `./run test` runs them, so that all of them make one database."""
    place = output_path(_TOGETHER)
    step(f"the tests of {len(promises)} lines together, which takes some minutes; they say so in {place}")
    # a line that takes its figure out of what is printed asks for -s when it runs alone; here the results hold that
    tests = dict.fromkeys(name for each in promises for name in each.tests if not name.startswith("-"))
    env = {name: value for each in promises for name, value in each.short.items()}
    options = ["-n3", "--dist", "loadfile", "--no-loadscope-reorder", "-o", "junit_logging=system-out"]
    code, output, results = _pytest(_TOGETHER, [*tests, *options], env, _LIMIT_TOGETHER)
    parts = [part_of(results, promise) if results else ("", "", 0.0) for promise in promises]
    if code == 1 and any("<failure" in part or "<error" in part for part, _, _ in parts):
        code = 0  # of the other lines: the results of those whose cases failed say so
    found = []
    for promise, (part, printed, seconds) in zip(promises, parts, strict=True):
        found.append(Found(promise, *judged(promise, code, printed or output, part), seconds))
        echo(f"  {promise.name}")
        _report(found[-1], place)
    return found


def part_of(results: str, promise: Promise) -> tuple[str, str, float]:
    """Of the results of many lines those of one, what its cases printed, and how many seconds they took together."""
    wanted = [name.partition("::") for name in promise.tests if not name.startswith("-")]
    modules = [(path.removesuffix(".py").replace("/", "."), function) for path, _, function in wanted]
    suite = ElementTree.Element("testsuite")
    for case in ElementTree.fromstring(results).iter("testcase"):  # noqa: S314  # as above  # nosec B314
        module, function = case.get("classname", ""), case.get("name", "").partition("[")[0]
        # a test in a class has the class behind its module
        if any(f"{module}.".startswith(f"{of}.") and named in ("", function) for of, named in modules):
            suite.append(case)
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.set("tests", str(len(suite)))
    for total, tag in counts.items():
        suite.set(total, str(sum(case.find(tag) is not None for case in suite)))
    around = ElementTree.Element("testsuites")
    around.append(suite)
    printed = "\n".join(text for case in suite for text in (out.text or "" for out in case.findall("system-out")))
    return ElementTree.tostring(around, "unicode"), printed, sum(float(case.get("time", "0")) for case in suite)


def _found(promise: Promise, *, is_long: bool) -> Found:
    if not promise.is_built:
        return Found(promise, "not built", promise.bound)
    if not _is_here(promise):
        return Found(promise, "left out", "set DATABASE_URL: this runs on PostgreSQL alone")
    began = time.monotonic()
    state, figure = (_of_bench if promise.bench else _of_tests)(promise, is_long)
    return Found(promise, state, figure, time.monotonic() - began)


def _of_bench(promise: Promise, is_long: bool) -> tuple[str, str]:
    name, *arguments = _of_form(promise, is_long)
    command = [str(PYTHON), "-m", "bench", name, *arguments]
    code, output = _run(promise.name, command, {"RELEASE_CHECK": "warn"}, _LIMIT[is_long])
    if code == _NOTHING_TO_DO:
        return "left out", _last(output)
    figure = _figure(promise, output)
    return ("proven", figure) if code == 0 and figure else ("red", figure or _last(output))


def _of_tests(promise: Promise, is_long: bool) -> tuple[str, str]:
    options = ["-n0", *(["--long"] if is_long else [])]
    env = dict(promise.long if is_long else promise.short)
    return judged(promise, *_pytest(promise.name, [*promise.tests, *options], env, _LIMIT[is_long]))


def _pytest(name: str, arguments: Sequence[str], env: dict[str, str], limit: int) -> tuple[int, str, str]:
    """The exit code, what was said, and the results as JUnit's XML; empty where there are none."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        code, output = _run(name, [str(PYTHON), "-m", "pytest", *arguments, f"--junitxml={results}"], env, limit)
        return code, output, results.read_text() if results.exists() else ""


def judged(promise: Promise, code: int, output: str, results: str) -> tuple[str, str]:
    """The state and the figure of a run of pytest; a skipped case proves nothing, and neither do too few."""
    if not results:
        return "red", _last(output)
    suite = ElementTree.fromstring(results).find("testsuite")  # noqa: S314  # our own pytest wrote it  # nosec B314
    if suite is None:
        return "red", _last(output)
    every, *bad, skipped = (int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped"))
    passed = every - sum(bad) - skipped
    if sum(bad) or code not in (0, _NOTHING_TO_DO):
        return "red", f"{sum(bad)} of {every} cases failed; {_last(output)}"
    if skipped or passed == 0:
        return "left out", f"{skipped} cases were skipped, {passed} passed"
    if passed < promise.at_least:
        return "red", f"{passed} cases, wanted {promise.at_least}"
    return "proven", _figure(promise, output) or f"{passed} cases"


def _figure(promise: Promise, output: str) -> str:
    match = re.search(promise.figure, output) if promise.figure else None
    return match[1].strip() if match else ""


def _run(name: str, command: list[str], env: dict[str, str], limit: int) -> tuple[int, str]:
    """The exit code, and all that was said, which is kept as well; -1 where it took too long."""
    there = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'bridge'}", **env}
    bounded = ["timeout", "--kill-after=30", str(limit), *command]
    kept = output_path(name)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("wb") as output:
        done = run(bounded, cwd=ROOT, env=there, stdout=output, stderr=STDOUT, check=False)
    return done.returncode, kept.read_text(errors="replace")


def output_path(name: str) -> Path:
    """The file of what the line of this name said when it was last found out."""
    return VAR / "prove" / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.txt"


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "nothing was said"


def _print(found: list[Found], *, is_long: bool) -> None:
    echo(f"\nOn {database()}, the {'long' if is_long else 'short'} form:\n")
    width = max(len(each.promise.name) for each in found)
    for each in found:
        echo(f"{_MARKS[each.state]} {each.promise.name:{width}}  {each.seconds:6.1f} s  {each.figure}")
        echo(f"  {'':{width}}            wanted: {each.promise.bound}")
        if command := _command(each.promise, is_long=is_long):
            echo(f"  {'':{width}}            {command}")
    counted = {state: sum(each.state == state for each in found) for state in _MARKS}
    echo("\n" + ", ".join(f"{count} {state}" for state, count in counted.items()) + ".")
    if counted["not built"] or counted["left out"]:
        echo("What is left out or not built is not proven.")


def _command(promise: Promise, *, is_long: bool) -> str:
    if promise.bench:
        return f"./run bench {' '.join(_of_form(promise, is_long))}"
    own = [f"{name}={value}" for name, value in (promise.long if is_long else promise.short).items()]
    tests = [*promise.tests, *(["--long"] if is_long else [])]
    return " ".join([*own, "./run test", *tests]) if promise.tests else ""


def _of_form(promise: Promise, is_long: bool) -> tuple[str, ...]:
    """The script of bench/ with its arguments."""
    return promise.long_bench if is_long and promise.long_bench else promise.bench
