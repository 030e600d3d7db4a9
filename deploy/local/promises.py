"""What `./run prove` shows, one line for each promise: what has to be true, and the test or script that finds out.

A promise without a command is not built yet; the table says so instead of leaving it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

POSTGRESQL, EITHER = "PostgreSQL", "either"


@dataclass(frozen=True)
class Promise:
    """One line. `tests` are arguments of pytest, or `bench` is a module of bench/ with its arguments.

    `figure` is a regular expression whose first group is shown of what was printed; without one it is how many cases
    passed, of which `at_least` must have. What `long` holds takes the place of the short form's.
    """

    name: str
    bound: str
    tests: tuple[str, ...] = ()
    bench: tuple[str, ...] = ()
    long_bench: tuple[str, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    long: Mapping[str, str] = field(default_factory=dict)
    figure: str = ""
    at_least: int = 1
    on: str = EITHER

    @property
    def is_built(self) -> bool:
        """Whether there is something to run."""
        return bool(self.tests or self.bench)


PROMISES = (
    Promise(
        "one decision wins", "8 clients race for each of 40 (long: 1,000) requests: one winner each",
        tests=("tests/consent/test_races.py::test_one_decision_wins",),
        long={"RACE_ROUNDS": "1000"}, on=POSTGRESQL,
    ),
    Promise(
        "nothing lost while everything breaks",
        "60 decisions (long: 10,000) under SIGKILL, stops of PostgreSQL, cut links, a full disk and clocks an hour "
        "off: 0 lost, 0 doubled, back within 5 s where the processes served on",
        bench=(
            "chaos", "--decisions", "60", "--kills", "2", "--stops", "1", "--cuts", "2", "--full-disk", "1", "--clocks",
            "2", "--people", "3",
        ),
        long_bench=(
            "chaos", "--decisions", "10000", "--kills", "100", "--stops", "10", "--cuts", "24", "--full-disk", "6",
            "--clocks", "16",
        ),
        figure=r"(killed: .+)", on=POSTGRESQL,
    ),
    Promise(
        "revoked means unreadable", "of 500 (long: 10,000) reads none sent after the acknowledgement succeeds",
        bench=("revocations", "--reads", "500"), long_bench=("revocations", "--reads", "10000"),
        figure=r"(\d+ were sent after it, \d+ of them succeeded)", on=POSTGRESQL,
    ),
    Promise(
        "how soon a revocation is acknowledged",
        "its p99 is 500 ms at most, of 200 (long: 2,000) revocations among six readers",
        bench=("revocations", "--revocations", "200"), long_bench=("revocations", "--revocations", "2000"),
        figure=r"acknowledged after (.+ of \d+) \(wanted", on=POSTGRESQL,
    ),
    Promise(
        "the lifecycle is the model's", "24 runs of 30 steps (long: 2,000 of 50) answer as the model does",
        tests=("tests/lifecycle/test_lifecycle.py", "-s"),
        long={"LIFECYCLE_RUNS": "2000", "LIFECYCLE_STEPS": "50"}, figure=r"(?s:.*)\b(\d+ runs, \d+ steps in \d+ s)",
    ),
    Promise(
        "the documented addresses answer as documented", "drawn cases of every documented address",
        tests=("tests/contract/test_schemathesis.py",), at_least=90,
    ),
    Promise(
        "odd calls of every address break nothing",
        "names, queries, bodies and headers that no address expects, no token of a form, the database away",
        tests=("tests/access/test_odd_calls.py",),
    ),
    Promise(
        "no call inside", "60 and more inner addresses are refused, at 57 spellings without a packet",
        tests=(
            "tests/common/test_outbound.py::test_no_packet_leaves_for_what_is_not_public",
            "tests/common/test_addresses.py",
        ),
        at_least=60,
    ),
    Promise(
        "sealed and signed as the vectors say", "what another implementation sealed opens, and is opened",
        tests=("tests/bridge/test_conformance.py", "tests/bridge/test_sealed_round_trips.py"),
    ),
    Promise(
        "no key or nonce twice", "1,000 (long: 1,000,000) seals without a repeated content key or nonce",
        tests=("tests/system/browser/sealing/test_seals.py", "-s"),
        figure=r"(\d+ seals opened, \d+ repeated)",
    ),
    Promise(
        "the database away", "what needs it says so while it is away, and all is back after it",
        tests=("tests/system/config/test_outage.py",),
    ),
    Promise(
        "the database away for 30 s under load",
        "once (long: 5 times) every address answers with the documented 503, all is back within 5 s, nothing is lost",
        bench=("away",), long_bench=("away", "--times", "5"),
        figure=r"(\d+ times away, back \d+\.\d s after the database at the latest)", on=POSTGRESQL,
    ),
    Promise(
        "processes are replaced under load", "2,000 (long: 10,000) requests, none lost while every group is replaced",
        bench=("rolling", "--requests", "2000"), long_bench=("rolling", "--requests", "10000"),
        figure=r"(failed: \d+ of \d+)", on=POSTGRESQL,
    ),
    Promise(
        "two releases on one database",
        "this release and the one tagged before side by side, 20 (long: 250) decisions in each part: no 5xx",
        bench=("releases",), long_bench=("releases", "--decisions", "250", "--people", "6"),
        figure=r"(\d+ decisions, \d+ acknowledged)", on=POSTGRESQL,
    ),
    Promise(
        "a dump is restored",
        "of what committed before a pg_dump under load no entry, receipt or grant is missing, and the log goes on",
        tests=(
            "tests/system/config/test_restored_dump.py", "tests/config/restored/test_verify_restore.py",
            "tests/config/restored/test_verify_restore_log.py",
        ),
        at_least=36, on=POSTGRESQL,
    ),
    Promise(
        "a base backup is restored",
        "with its WAL, under load of 20 (long: 250) decisions in each part, to the archive's end and to a moment: "
        "nothing lost that was acknowledged before",
        bench=("backups",), long_bench=("backups", "--decisions", "250", "--people", "6"),
        figure=r"(\d+ decisions in all, .+)", on=POSTGRESQL,
    ),
    Promise(
        "an idle service takes little", "server and worker 300 MB at most, with PostgreSQL 1 % of a processor",
        bench=("idle",), long_bench=("idle", "--seconds", "600"), figure=r"(idle: .+)", on=POSTGRESQL,
    ),
    Promise(
        "everybody is answered as the register of addresses says",
        "every address and every kind of caller, and every answer has its headers and holds nothing of anybody else",
        tests=("tests/access/test_addresses.py",),
    ),
    Promise(
        "no value is on the server", "canaries of values and tokens are in no table, log, file or memory",
        tests=("tests/system/canary/test_canary.py", "tests/system/canary/test_tokens.py"),
    ),
    Promise(
        "nothing of an erased person is left", "no canary of theirs is left",
        tests=("tests/system/canary/test_erased_person.py",),
    ),
    Promise(
        "tampering is found", "100 manipulations (long: 1,000) drawn, and each kind of the table",
        tests=("tests/lifecycle/test_tampering.py", "tests/consent/verification/test_tampering_table.py"),
        long={"TAMPER_ROUNDS": "1000"},
    ),
    Promise(
        "no audit, no access", "no read and no approval without its entry; protection takes effect all the same",
        tests=("tests/consent/test_audit_away.py",),
    ),
    Promise(
        "the server runs its release alone", "one altered byte, also in a compressed form: no start",
        tests=("tests/system/config/test_release.py",),
    ),
    Promise(
        "a site that runs other code is found", "each of ten alterations is found, and none where there is none",
        tests=("tests/system/bridge/test_verify_site.py",), at_least=16,
    ),
    Promise(
        "browsers run no altered script", "neither a script nor a module that another one imports",
        tests=("tests/system/browser/test_release.py",),
    ),
    Promise(
        "what is shipped is listed, and a vulnerable version of it found",
        "every pin of the lock with its hashes; pip-audit and a service of advisories that knows of one",
        tests=("tests/system/deploy/test_supply.py",),
    ),
    Promise(
        "agents: recorded replies", "each gives its profile, provenance, failures, repairs and count of fields",
        tests=("tests/agents_proxy/test_replies.py::test_recorded_replies_come_out_as_expected",), at_least=21,
    ),
    Promise(
        "agents: shapes that are read", "at least 90 shapes of an answer give exactly their fields",
        tests=("tests/agents_proxy/test_reply_shapes.py::test_what_an_answer_says_is_read",), at_least=90,
    ),
    Promise(
        "agents: nothing out of nothing", "tool calls, refusals, drafts, errors and empty forms give no field",
        tests=("tests/agents_proxy/test_reply_shapes.py::test_what_says_nothing_yields_nothing",), at_least=20,
    ),
    Promise(
        "agents: the origin's full answer", "it fills 43 of 43 fields, bare and wrapped",
        tests=("tests/agents_proxy/test_reply_shapes.py::test_the_origins_full_answer_fills_every_field",), at_least=2,
    ),
)  # fmt: skip
