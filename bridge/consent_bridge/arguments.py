"""What can be typed after `consent-bridge`: the commands, their options and their help."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from consent_bridge import (
    __version__,
    archive_commands,
    commands,
    epoch_commands,
    listening,
    login,
    owner_commands,
    sandbox_commands,
    serving,
    site_commands,
    verifying,
)
from consent_bridge.keys import CURVES
from consent_bridge.rules import TERM_RULES
from consent_bridge.wrappers import KINDS

_ABOUT = """\
The client's side of Consent Runtime: ask a person for one scope of their data, wait
for their decision, read the approved slice, and open sealed data on this machine.

scopes, request, wait, read and events take the service's address from CONSENT_BASE_URL (it
ends in /api/v1) and the developer token from CONSENT_DEVELOPER_TOKEN, else both from `login`. The connector
key is the file --key, else CONSENT_CONNECTOR_KEY, else connector-key.json in the
state directory (CONSENT_BRIDGE_STATE, else ~/.local/state/consent-bridge)."""

_EXITS = """\
exit codes: 0 done; 1 refused, or the service said no (the reason is on standard
error); 2 the command line is wrong."""

_SEALED = "file with the sealed text; standard input if left out"
_FORMAT = argparse.RawDescriptionHelpFormatter


def parser() -> argparse.ArgumentParser:
    """The parser; what it makes has `run`, the command's function."""
    parser = argparse.ArgumentParser(prog="consent-bridge", description=_ABOUT, epilog=_EXITS, formatter_class=_FORMAT)
    parser.add_argument("--version", action="version", version=f"consent-bridge {__version__}")
    groups = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in _COMMANDS:
        add(groups)
    return parser


Groups = Any  # argparse keeps the type of its subparsers to itself


def _command(
    groups: Groups, name: str, run: Callable[..., Any], text: str, more: str = "", *, aliases: Sequence[str] = ()
) -> argparse.ArgumentParser:
    about = f"{text[0].upper()}{text[1:]}. {more}".strip()
    parser: argparse.ArgumentParser = groups.add_parser(name, help=text, description=about, aliases=aliases)
    parser.set_defaults(run=run)
    return parser


def _service_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    parser.add_argument("--token", help="developer token (CONSENT_DEVELOPER_TOKEN, which other processes cannot see)")


def _key_option(parser: argparse.ArgumentParser, *names: str) -> None:
    parser.add_argument("--key", *names, type=Path, metavar="FILE", help="file with the connector's private JWK")


def _keygen(groups: Groups) -> None:
    parser = _command(
        groups,
        "keygen",
        commands.keygen,
        "make a connector key pair",
        "The private JWK is written to a file that only this user can read; "
        "the public half and its RFC 7638 thumbprint are printed.",
    )
    _key_option(parser, "--out")
    parser.add_argument("--curve", choices=CURVES, default=CURVES[0], help="default: %(default)s")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def _discover(groups: Groups) -> None:
    text = "show which scopes a person could approve"
    parser = _command(groups, "scopes", commands.discover, text, aliases=["discover"])
    parser.add_argument("user_id", nargs="?", metavar="USER_ID", help="left out: every scope of this deployment")
    parser.add_argument("--domain", metavar="NAME", help="only those of this domain, such as lifestyle")
    parser.add_argument("--query", metavar="TEXT", help="only those in which this text stands")
    _service_options(parser)


def _request(groups: Groups) -> None:
    parser = _command(
        groups,
        "request",
        commands.request,
        "ask a person for one scope",
        "Prints the frozen request with its approval_url, and keeps it for `read`.",
    )
    parser.add_argument("user_id", metavar="USER_ID")
    parser.add_argument("scope", metavar="SCOPE", help="exactly one, as `discover` shows it")
    parser.add_argument("--purpose", required=True, help="8 to 280 characters, shown to the person as your words")
    _key_option(parser)
    parser.add_argument("--key-id", metavar="ID", help="your name for the key; its thumbprint if left out")
    for name, rules in TERM_RULES.items():
        _term_option(parser, name, rules)
    parser.add_argument("--idempotency-key", metavar="TEXT", help="the same text repeats the first answer for a day")
    _service_options(parser)


# an option gives one path, so that it has the name of one
_SHORT_NAMES = {"required_attributes": "required", "optional_attributes": "optional"}


def _term_option(parser: argparse.ArgumentParser, name: str, rules: Mapping[str, Any]) -> None:
    option = f"--{_SHORT_NAMES.get(name, name).replace('_', '-')}"
    text = rules["description"].replace("`", "").replace("%", "%%")
    if rules["type"] == "array":
        parser.add_argument(option, dest=name, action="append", metavar="PATH", help=f"{text} Repeatable.")
    elif rules["type"] == "integer":
        parser.add_argument(option, dest=name, type=int, metavar="N", help=text)
    elif rules["type"] == "object":
        parser.add_argument(option, dest=name, type=json.loads, metavar="JSON", help=text)
    elif "enum" in rules:
        parser.add_argument(option, dest=name, choices=rules["enum"], help=text)
    else:
        parser.add_argument(option, dest=name, metavar="TEXT", help=text)


def _waiting_time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:  # so that nan, which no comparison is true of, is refused too
        raise argparse.ArgumentTypeError(f"{text!r} is no time to wait: give seconds, 0 or more, or inf")
    return seconds


def _status(groups: Groups) -> None:
    parser = _command(groups, "status", commands.status, "show where a request stands")
    parser.add_argument("request_id", metavar="REQUEST_ID")
    _service_options(parser)


def _end(groups: Groups) -> None:
    text = "take a waiting request back, or give an approval up"
    parser = _command(groups, "end", commands.end, text, "It cannot be undone.")
    parser.add_argument("request_id", metavar="REQUEST_ID")
    _service_options(parser)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no count: give a whole number, 1 or more")
    return int(text)


def _events(groups: Groups) -> None:
    parser = _command(groups, "events", listening.events_command, *listening.EVENTS_ABOUT)
    listening.add_options(parser, _count)
    _service_options(parser)


def _listen(groups: Groups) -> None:
    parser = _command(groups, "listen", listening.listen_command, *listening.LISTEN_ABOUT)
    listening.add_forwarding(parser)
    listening.add_options(parser, _count)
    _service_options(parser)


def _login(groups: Groups) -> None:
    parser = _command(groups, "login", commands.login_command, *login.ABOUT)
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    text = "only print the page's address, which is opened in a browser of this machine"
    parser.add_argument("--no-browser", dest="browser", action="store_false", help=text)
    _key_option(parser)


def _logout(groups: Groups) -> None:
    text = "give up what `login` was allowed, here and at the service"
    _command(groups, "logout", login.logout_command, text)


def _wait(groups: Groups) -> None:
    parser = _command(
        groups,
        "wait",
        commands.wait,
        "wait until a person decides",
        "Prints the status; exit 0 only if the request was approved.",
    )
    parser.add_argument("request_id", metavar="REQUEST_ID")
    parser.add_argument(
        "--timeout",
        type=_waiting_time,
        default=300.0,
        metavar="SECONDS",
        help="inf waits for ever; default: %(default)g",
    )
    _service_options(parser)


def _read(groups: Groups) -> None:
    parser = _command(
        groups,
        "read",
        commands.read,
        "read the approved slice and open it",
        "Every member of the export's header is compared with the request as it was made here. "
        "Each read is counted and shown to the person.",
    )
    parser.add_argument("request_id", nargs="?", metavar="REQUEST_ID", help="a request made on this machine")
    parser.add_argument("--request", type=Path, metavar="FILE", help="what `request` printed, if it was made elsewhere")
    parser.add_argument(
        "--accept-owner-key",
        metavar="X",
        help="take this as the person's new key, once they told you that it is theirs; seven days after it was met",
    )
    _key_option(parser)
    _service_options(parser)


_EXPECTED_IN_HEADER = "refuse unless this member of the protected header is this value, as text; repeatable"


def _expect_option(parser: argparse.ArgumentParser, text: str = _EXPECTED_IN_HEADER) -> None:
    parser.add_argument("--expect", action="append", default=[], type=_expectation, metavar="MEMBER=VALUE", help=text)


def _expectation(text: str) -> tuple[str, str]:
    member, separator, value = text.partition("=")
    if not separator or not member:
        raise argparse.ArgumentTypeError("give MEMBER=VALUE")
    return member, value


def _open_export(groups: Groups) -> None:
    parser = _command(
        groups,
        "open-export",
        commands.open_export_command,
        "open a sealed export with the connector's private key",
        "Prints the content. Without --expect it may be any export to this key; an app compares aud, sub, request_id, "
        "scope, revision and request_digest with its own request, as `read` does.",
    )
    parser.add_argument("sealed", nargs="?", type=Path, metavar="SEALED", help=_SEALED)
    _key_option(parser)
    _expect_option(parser)


def _open_segment(groups: Groups) -> None:
    parser = _command(groups, "open-segment", commands.open_segment_command, "open a sealed segment with the vault key")
    parser.add_argument("sealed", nargs="?", type=Path, metavar="SEALED", help=_SEALED)
    parser.add_argument("--vault-key-hex", required=True, metavar="HEX", help="the 32 bytes of the vault key")
    _expect_option(parser)


def _unwrap(groups: Groups) -> None:
    parser = _command(
        groups,
        "unwrap",
        commands.unwrap_command,
        "open a wrapper of the vault key",
        "The first line of standard input is the secret: the passphrase, the recovery code, or the passkey's PRF "
        "output in hexadecimal. The rest is the sealed text, unless a file is named.",
    )
    parser.add_argument("sealed", nargs="?", type=Path, metavar="SEALED", help="file with the sealed text")
    parser.add_argument("--kind", required=True, choices=KINDS)


def _open_archive(groups: Groups) -> None:
    parser = _command(
        groups,
        "open-archive",
        archive_commands.open_archive_command,
        "open a sealed archive of a vault",
        "Works without a network. Asks for the passphrase or the recovery code without showing it; where nobody sits "
        "at a terminal, it is the first line of standard input. One part that does not fit refuses the whole archive.",
    )
    parser.add_argument("archive", type=Path, metavar="ARCHIVE", help="the file, or - for standard input")
    text = "file whose first line is the passphrase or the recovery code; - for standard input"
    parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help=text)
    text = "write the values to this file, readable by this user alone, in place of printing them"
    parser.add_argument("--out", type=Path, metavar="FILE", help=text)
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def _verify_receipt(groups: Groups) -> None:
    parser = _command(
        groups,
        "verify-receipt",
        verifying.verify_receipt_command,
        "verify a receipt and print what it proves",
        "Works without a network where --jwks names the service's keys. --expect compares a member of the claims, "
        "dotted where it is nested: --expect event.type=approved. --proof asks more: FILE is what the service answers "
        "with ?proof=1, and the event's entry has to be in its log. The log's key is --log-key, else the one that "
        "an earlier look pinned; offline all the same. With --online a proof of an earlier key holds, too.",
    )
    _proof_options(parser)
    parser.add_argument("--proof", action="store_true", help="refuse unless the event is proved to be in the log")
    parser.add_argument("--online", action="store_true", help="with --proof: ask the log how the proof fits it")
    verifying.add_log_options(parser)


def _verify_history(groups: Groups) -> None:
    parser = _command(
        groups,
        "verify-history",
        verifying.verify_history_command,
        "verify a person's own history against the public log",
        "Computes every entry again, finds the newest in the log, and refuses a log that was rewritten or rolled back "
        "since this machine looked at it last.",
    )
    text = "file with what /consent/history/chain answers, or a list of its pages; standard input if left out"
    parser.add_argument("signed", nargs="?", type=Path, metavar="FILE", help=text)
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    verifying.add_log_options(parser)


def _proof_options(parser: argparse.ArgumentParser) -> None:
    text = "file with the JWS, or with the JSON that holds it; standard input if left out"
    parser.add_argument("signed", nargs="?", type=Path, metavar="FILE", help=text)
    text = "file with the service's keys; without it they come from the service at CONSENT_BASE_URL"
    parser.add_argument("--jwks", type=Path, metavar="FILE", help=text)
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    text = "refuse unless this member of the claims is this value, as text; repeatable"
    _expect_option(parser, text)


def _serve(groups: Groups) -> None:
    parser = _command(
        groups,
        "serve",
        serving.serve_command,
        "serve the tools to an AI host over standard input and output",
        "Speaks the Model Context Protocol. Makes the connector key at the first start, keeps it on this machine, and "
        "opens what was approved here.",
    )
    _key_option(parser)
    _service_options(parser)


def _config(groups: Groups) -> None:
    parser = _command(
        groups,
        "config",
        serving.config_command,
        "print what a host's configuration needs to start `serve`",
        "The token is left for you to fill in, unless --with-token prints it.",
    )
    parser.add_argument("--base-url", help="the service's address, ending in /api/v1 (CONSENT_BASE_URL)")
    parser.add_argument("--with-token", action="store_true", help="with the token of CONSENT_DEVELOPER_TOKEN in it")
    parser.add_argument(
        "--pipx", type=Path, metavar="FOLDER", help="for a host that starts it with pipx from its folder, not installed"
    )


def _rotate_key(groups: Groups) -> None:
    parser = _command(
        groups,
        "rotate-key",
        serving.rotate_key_command,
        "make a new connector key for the requests to come",
        "The earlier key is kept in the state directory, so that what was asked with it stays readable.",
    )
    _key_option(parser)
    parser.add_argument("--curve", choices=CURVES, default=CURVES[0], help="default: %(default)s")


def _sandbox(groups: Groups) -> None:
    text = "play a person whom your test app asks"
    about = "Play a person whom your test app asks. Their vault keys lie in the state directory."
    sandbox = groups.add_parser("sandbox", help=text, description=about).add_subparsers(
        title="commands", metavar="COMMAND", required=True
    )
    new = _command(sandbox, "new", sandbox_commands.new, "make a person with a synthetic profile")
    new.add_argument("--label", default="", metavar="TEXT", help="your own name for this person")
    new.add_argument("--empty", action="store_true", help="leave the vault empty")
    approve = _command(sandbox, "approve", sandbox_commands.approve, "approve a request for them")
    text = "approve this path alone; repeatable; left out: all that is asked for and there"
    approve.add_argument("--attribute", action="append", metavar="PATH", help=text)
    approve.add_argument("--access-duration", type=int, metavar="SECONDS", help="left out: as long as was asked")
    deny = _command(sandbox, "deny", sandbox_commands.deny, "deny a request for them")
    deny.add_argument("--reason", metavar="TEXT", help="their own note, which your app is not told")
    revoke = _command(sandbox, "revoke", sandbox_commands.revoke, "stop for them what was approved")
    for parser in (approve, deny, revoke):
        parser.add_argument("request_id", metavar="REQUEST_ID")
    for parser in (new, approve, deny, revoke):
        _service_options(parser)


def _verify_site(groups: Groups) -> None:
    parser = _command(groups, "verify-site", site_commands.verify_site_command, *site_commands.ABOUT)
    site_commands.add_options(parser)
    verifying.add_log_options(parser)


def _approve(groups: Groups) -> None:
    owner_commands.add_options(_command(groups, "approve", owner_commands.approve_command, *owner_commands.ABOUT))


def _accept_epoch(groups: Groups) -> None:
    run = epoch_commands.accept_epoch_command
    epoch_commands.add_options(_command(groups, "accept-epoch", run, *epoch_commands.ABOUT))


_COMMANDS: tuple[Callable[[Groups], None], ...] = (
    _login,
    _logout,
    _keygen,
    _discover,
    _request,
    _status,
    _wait,
    _read,
    _end,
    _events,
    _listen,
    _open_export,
    _open_segment,
    _unwrap,
    _open_archive,
    _verify_receipt,
    _verify_history,
    _verify_site,
    _approve,
    _accept_epoch,
    _serve,
    _config,
    _rotate_key,
    _sandbox,
)
