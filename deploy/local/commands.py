"""The commands of `./run`."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from deploy.local import catalogues, checking, contract, counting, neighbours, node, proving, releasing, supply
from deploy.local.neighbours import Neighbours
from deploy.local.place import PYTHON, ROOT, VAR, Stop, call, echo, fail, step
from deploy.local.serving import Interrupted, alone, free_port, is_free, service, watch
from deploy.local.setting_up import (
    DEVELOPMENT,
    RUNTIME,
    log_settings,
    make_environment,
    make_ready,
    make_secrets,
    read_settings,
)

DEFAULT_PORT = 8000
SYSTEM_TESTS = "tests/system"
# one process more than there are processors: tests wait for browsers, servers and the ends of time-outs
_SIDE_BY_SIDE = ("-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile")
_QUICK = (*_SIDE_BY_SIDE, "--ignore", SYSTEM_TESTS)
_SYSTEM = (*_SIDE_BY_SIDE, SYSTEM_TESTS)


class Command(NamedTuple):
    """What it is called with, what it is for, and what does it."""

    usage: str
    purpose: str
    run: Callable[[Sequence[str]], int]


def start(arguments: Sequence[str]) -> int:
    """The whole service, until Ctrl-C."""
    port = _port()
    if not is_free(port):
        other = port + 10 if port + 10 < 65530 else port - 10
        fail(f"Port {port} is taken, perhaps by another ./run. End that, or choose another: PORT={other} ./run")
    env, beside = _prepare(port)
    with alone() as is_alone, service(port, env, beside) as children:
        if _consent_trip(env):
            fail("The consent trip failed; the messages above say where.")
        if _profile_trip(env, beside, is_alone):
            echo("The trip of profiles ended early, as said above; everything runs all the same.")
        address = env["BASE_URL"]
        echo("")
        step(f"Ready: {address}   (Ctrl-C ends it)")
        echo(f"  consent app   {address}/consent/      API docs  {address}/api/docs/      staff  {address}/admin/")
        if beside.addresses:
            echo(f"  everything that runs here, and whether it answers: {beside.addresses['overview']}")
        echo(f"  who to sign in as, and the developer token: {VAR / 'sample.json'}")
        echo(f"  logs: {children[0].log.parent}")
        watch(children)


def trip(arguments: Sequence[str]) -> int:
    """One whole consent trip on a server of its own, also beside a running ./run."""
    chosen = "PORT" in os.environ
    port = _port() if chosen or is_free(_port()) else free_port()
    if not is_free(port):
        fail(f"Port {port} is taken.")
    env, beside = _prepare(port, passing=True)
    with alone() as is_alone, service(port, env, beside):
        return _consent_trip(env) or _profile_trip(env, beside, is_alone)


def test(arguments: Sequence[str]) -> int:
    """The quick tier; with --system the one that starts browsers and servers, with --all both. The rest is pytest's."""
    make_environment(DEVELOPMENT)
    rest = [argument for argument in arguments if argument not in ("--system", "--all")]
    if any(not argument.startswith("-") and (ROOT / argument.partition("::")[0]).exists() for argument in rest):
        return _pytest(["-n0"], rest)  # files or folders by name, of either tier
    codes = []
    if "--system" not in arguments:
        codes.append(_pytest(_QUICK, rest))
    if len(rest) < len(arguments):
        codes.append(_pytest(_SYSTEM, rest))
    return next((code for code in codes if code), 0)


def _pytest(options: Sequence[str], arguments: Sequence[str]) -> int:
    return call([PYTHON, "-m", "pytest", *options, *arguments])


def prove(arguments: Sequence[str]) -> int:
    """The table of promises; with pytest's arguments the tests that have a long form, in it."""
    if proving.is_table(arguments):
        make_environment(DEVELOPMENT)
        make_secrets()
        return proving.table(arguments)
    make_environment(DEVELOPMENT)
    return _pytest(["-n0"], ["--long", "-m", "long", *arguments])


def check(arguments: Sequence[str]) -> int:
    """Everything that is checked without running the service; with --all, a check that cannot be made has failed."""
    if list(arguments) not in ([], ["--all"]):
        fail("Usage: ./run check [--all]")
    make_environment(DEVELOPMENT)
    return checking.check(everything=bool(arguments))


def bench(arguments: Sequence[str]) -> int:
    """One benchmark by name, `trip` by default."""
    make_environment(DEVELOPMENT)
    make_secrets()
    name, *rest = arguments or ["trip"]
    if not name.isidentifier():
        fail("Usage: ./run bench [name of a module in bench/]")
    # what most of them start makes no release first
    return call([PYTHON, "-m", "bench", name, *rest], env={"RELEASE_CHECK": os.environ.get("RELEASE_CHECK", "warn")})


def shots(arguments: Sequence[str]) -> int:
    """Pictures of every page under var/shots/."""
    return bench(["shots", *arguments])


def count(arguments: Sequence[str]) -> int:
    """The lines of code and tests, by kind."""
    return counting.count()


def lock(arguments: Sequence[str]) -> int:
    """The lock files anew, from what requirements*.in allow."""
    return supply.lock()


def sbom(arguments: Sequence[str]) -> int:
    """The bills of materials of what is shipped, into the folder named or var/sbom/."""
    make_environment(DEVELOPMENT)
    return supply.sbom(Path(arguments[0]).absolute() if arguments else VAR / "sbom")


def advisories(arguments: Sequence[str]) -> int:
    """What is known about the versions that the locks name."""
    make_environment(DEVELOPMENT)
    return supply.advisories(arguments)


def release(arguments: Sequence[str]) -> int:
    """What would be published, into var/release/."""
    if list(arguments) != ["--dry-run"]:
        fail("Usage: ./run release --dry-run: it publishes nothing, and says what would")
    make_environment(DEVELOPMENT)
    return releasing.rehearse(VAR / "release")


def types(arguments: Sequence[str]) -> int:
    """The types of both clients, as the service's own shapes have them now."""
    make_environment(DEVELOPMENT)
    make_secrets()
    if not node.is_there():
        fail("This makes the types of the client for Node too, and needs Node 20 or newer with npm on the path.")
    try:
        contract.renew(os.environ)
    except contract.Failed as refused:
        fail(str(refused))
    return 0


def messages(arguments: Sequence[str]) -> int:
    """The catalogues of the languages, as the source and their translators have them now."""
    make_environment(RUNTIME)
    make_secrets()
    try:
        catalogues.renew(os.environ)
    except catalogues.Failed as refused:
        fail(str(refused))
    return 0


def django(arguments: Sequence[str]) -> int:
    """Django's own command line, with this project's environment."""
    make_environment(RUNTIME)
    make_secrets()
    read_settings()
    return call([PYTHON, "manage.py", *arguments], env=log_settings())


COMMANDS = {
    "": Command("./run", "set everything up, make one consent trip, serve until Ctrl-C (PORT, HOST)", start),
    "trip": Command("./run trip", "make one whole consent trip and end", trip),
    "test": Command(
        "./run test [--system|--all]",
        "the quick tier of the tests; --system: browsers, servers, killed processes; --all: both",
        test,
    ),
    "prove": Command(
        "./run prove [--long] [WORD|--only WORD]",
        "find out every promise, in one table; with pytest's arguments: the long forms of those tests",
        prove,
    ),
    "check": Command(
        "./run check [--all]",
        "format, lint, types, contract, imports, templates, security, migrations, translations; --all: with Node",
        check,
    ),
    "bench": Command("./run bench [name]", "measure; `trip` compares the hot addresses with a bare view", bench),
    "shots": Command("./run shots [words]", "photograph every page into var/shots/", shots),
    "count": Command("./run count", "count the lines of code, templates, migrations, tests and benches", count),
    "lock": Command("./run lock", "remake the lock files from requirements*.in", lock),
    "sbom": Command("./run sbom [folder]", "list what is shipped, with versions and hashes (CycloneDX)", sbom),
    "advisories": Command(
        "./run advisories [pip-audit's options]",
        "ask what is known about the versions that the locks name (over the network)",
        advisories,
    ),
    "release": Command(
        "./run release --dry-run", "make and check what is published: clients, image, chart; publish nothing", release
    ),
    "types": Command("./run types", "make the clients' types anew from the OpenAPI document (needs Node)", types),
    "messages": Command("./run messages", "take new strings into locale/ and compile it (needs gettext)", messages),
    "manage": Command("./run manage <command>", "Django's management commands", django),
}


def dispatch(arguments: Sequence[str]) -> int:
    """The exit code of the command that `arguments` names."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("help", "-h", "--help") or name not in COMMANDS:
        echo("\n".join(f"{command.usage:34} {command.purpose}" for command in COMMANDS.values()))
        return 0 if name.strip("-") in ("help", "h") else 2
    # the packages come without bytecode, and each of what may be a hundred processes would compile what it imports
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        return COMMANDS[name].run(rest)
    except Stop as reason:
        echo(f"✗ {reason}")
        return 1
    except Interrupted:
        echo("\nEnded.")
        return 0
    except KeyboardInterrupt:
        return 130


def _port() -> int:
    text = os.environ.get("PORT") or str(DEFAULT_PORT)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        fail(f"PORT must be a number from 1 to 65535, not {text!r}.")
    return int(text)


def _prepare(port: int, *, passing: bool = False) -> tuple[dict[str, str], Neighbours]:
    """Everything that must be there before the server starts; the environment to start it with, and what is beside it.

    A server that only passes by has an address of its own, and the sample data goes on naming the one that stays.
    """
    make_environment(RUNTIME)
    make_secrets()
    read_settings()
    given = None if passing else os.environ.get("BASE_URL")
    env = {"BASE_URL": given or f"http://localhost:{port}", "CONSENT_VAR": str(VAR)}
    env |= log_settings(env["BASE_URL"])
    beside = neighbours.find(port, env["BASE_URL"])
    make_ready({**env, **beside.env}, beside.addresses, keep_address=passing)
    return env, beside


def _consent_trip(env: dict[str, str]) -> int:
    step("One consent trip, from discovery to the decrypted slice")
    return call([PYTHON, "-m", "deploy.local.trip"], env=env)


def _profile_trip(env: dict[str, str], beside: Neighbours, is_alone: bool) -> int:
    if not beside.shows_profiles:
        return 0
    if not is_alone:
        echo("Profiles are left out: another server works on the same queue and data, and might take these tasks.")
        return 0
    step("Profiles: agents, purchases and messages, with the sample person")
    environment = {**env, **beside.env, "NEIGHBOURS": json.dumps(beside.addresses)}
    return call([PYTHON, "-m", "deploy.local.profiles"], env=environment)
