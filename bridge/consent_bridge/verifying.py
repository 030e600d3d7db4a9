"""The commands that verify what the service signed. They need its public keys, from a file or from the service."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from consent_bridge import calls, logs, proofs
from consent_bridge.commands import Undone
from consent_bridge.encoding import parse_json, parse_object
from consent_bridge.entries import Entry, read_chain
from consent_bridge.errors import Refused
from consent_bridge.exports import origin_of
from consent_bridge.inputs import octets_of
from consent_bridge.logs import LogKeeper, Memory, NothingPublished, Trust
from consent_bridge.notes import VerifierKey
from consent_bridge.state import read_small_file, state_directory
from consent_bridge.transport import Transport, anonymous


def add_log_options(parser: ArgumentParser) -> None:
    """The options by which a command is told whom to believe about the log."""
    text = "the log's verifier key, as /log/key says, or a file that holds it; repeatable"
    parser.add_argument("--log-key", action="append", default=[], metavar="KEY", help=text)
    text = "the verifier key of a witness that must have cosigned, or a file that holds it; repeatable"
    parser.add_argument("--witness", action="append", default=[], metavar="KEY", help=text)
    parser.add_argument("--quorum", type=int, metavar="N", help="how many of them must; all if left out")


def verify_receipt_command(options: Namespace) -> dict[str, Any]:
    """The claims of a receipt; with --proof also where its event stands in the log."""
    if not options.proof:
        return _verified(options)
    body = parse_object(_given(options), "the file")
    claims = _checked(body.get("jws"), body.get("claims"), options)
    memory, keeper = log_of(options, from_service=options.online)
    if options.online:
        with service_transport(options) as call:
            event, memory = call(calls.prove_receipt(call(calls.follow_log(memory)), claims, body))
        keeper.keep(service_of(options), memory)
    else:
        event = logs.check_receipt(claims, body, memory)
        if memory.gap(event.proof.checkpoint) is None:  # else only the service could say how the two fit
            memory = memory.tie(event.proof.checkpoint, ())
            keeper.keep(service_of(options), memory)
    seen = event.proof.checkpoint
    entry = {"chain": event.entry.chain, "sequence": event.entry.sequence, "entry_hash": event.entry.entry_hash}
    log = logs.as_json(seen, memory.is_fresh(time.time()))
    return {"claims": claims, "entry": entry, "index": event.proof.index, "log": log}


def verify_history_command(options: Namespace) -> dict[str, Any]:
    """A person's own history: every entry computed again, the newest one in the log, the log as it was last seen."""
    entries = read_chain(_entries(parse_json(_given(options), "the file")))
    if not entries:
        raise Refused("there is no entry in this history")
    memory, keeper = log_of(options, from_service=True)
    result: dict[str, Any] = {"chain": entries[0].chain, "entries": len(entries), "in_log": 0, "log": None}
    with service_transport(options) as call:
        try:
            memory = call(calls.follow_log(memory))
        except NothingPublished as nothing:
            raise Undone(
                f"the history is as it was written, as far as it shows by itself: {nothing}", result
            ) from nothing
        sight = keeper.keep(service_of(options), memory)
        count = logs.newest_in_log(len(entries), lambda number: _is_in_log(entries[number - 1], call, memory))
    result |= {"in_log": count, "log": logs.as_json(sight.checkpoint, sight.fresh)}
    _require_published(entries, result)
    return result


def _is_in_log(entry: Entry, call: Callable[[Any], Any], memory: Memory) -> bool:
    """Whether the log has this entry, by a proof that fits what was seen; Refused where the proof does not hold."""
    text = call(calls.one(calls.log_proof(entry.entry_hash)))
    if text is None:
        return False
    proof = memory.read_proof(text, tied=True)
    memory.trust.require(proof.checkpoint)
    proof.check(entry.leaf)
    call(calls.tied(memory, proof.checkpoint))
    return True


def _require_published(entries: list[Entry], result: dict[str, Any]) -> None:
    """Undone where none of a history is in the log, or where an entry is not that is no longer new."""
    waiting = entries[result["in_log"] :]
    if not waiting:
        return
    chain = "the history is as it was written, as far as it shows by itself"
    if logs.is_late(waiting[0].at):
        finding = f"{chain}, but the log lacks what came after entry {result['in_log']}, since {waiting[0].at}"
        raise Undone(f"{finding}: come back, and ask the operator if it stays so", result)
    if result["in_log"] == 0:
        finding = f"{chain}; none of it is in the log yet, which takes new entries within seconds"
        raise Undone(f"{finding}: come back", result)


def entry_in_log(options: Namespace, entry: Entry, text: str) -> dict[str, Any]:
    """Where the log of the service at `base_url` has this entry, by its tlog-proof; Refused where it does not."""
    memory, keeper = log_of(options, from_service=True)
    with service_transport(options) as call:
        memory = call(calls.follow_log(memory))
        proof = memory.read_proof(text, tied=True)
        memory.trust.require(proof.checkpoint)
        proof.check(entry.leaf)
        memory = call(calls.tied(memory, proof.checkpoint))
    sight = keeper.keep(service_of(options), memory)
    return {"index": proof.index, **logs.as_json(sight.checkpoint, sight.fresh)}


def _entries(answer: Any) -> list[Any]:
    """The entries of one answer of `/consent/history/chain`, or of several in a list."""
    pages = answer if isinstance(answer, list) else [answer]
    if not all(isinstance(page, dict) and isinstance(page.get("entries"), list) for page in pages):
        raise Refused("the file is no history: save what /consent/history/chain answers")
    return [entry for page in pages for entry in page["entries"]]


def log_of(options: Namespace, *, from_service: bool = False) -> tuple[Memory, LogKeeper]:
    """What this reader remembers of the log, under the keys that the command line names where it does."""
    keys, witnesses = (tuple(map(_verifier_key, given)) for given in (options.log_key, options.witness))
    trust = Trust(keys, witnesses, options.quorum) if keys else None
    keeper = LogKeeper(state_directory() / "logs.json", trust)
    memory = keeper.find(service_of(options))
    if memory is None and from_service:
        with service_transport(options) as call:
            memory = Memory(Trust(call(calls.one(calls.log_keys())), witnesses, options.quorum))
    if memory is None:
        raise Refused("give --log-key, or look at the log once with verify-history, so that its key is known")
    return memory, keeper


def _verifier_key(text: str) -> VerifierKey:
    path = Path(text)
    return VerifierKey.parse(read_small_file(path, "the key").decode().strip() if path.is_file() else text)


def service_of(options: Namespace) -> str:
    """The origin that the command line or the environment names, or nothing."""
    base_url = options.base_url or os.environ.get("CONSENT_BASE_URL")
    return origin_of(base_url) if base_url else ""


@contextmanager
def service_transport(options: Namespace) -> Iterator[Callable[[Any], Any]]:
    """Sends what a `calls.LogCall` asks for."""
    service = service_of(options)
    if not service:
        raise Refused("set CONSENT_BASE_URL, or give --base-url: the log is asked")
    with requests.Session() as session:
        session.auth = anonymous
        transport = Transport(service, session)

        def do(call: calls.Call[Any]) -> Any:
            return call.read(transport.send(call.method, call.path, params=call.params, repeatable=True))

        yield lambda call: calls.carried_out(call, do)


def _verified(options: Namespace) -> dict[str, Any]:
    given, beside = _given(options), None
    if given.startswith(b"{"):
        body = parse_object(given, "the file")
        given, beside = str(body.get("jws", "")).encode("ascii", "replace"), body.get("claims")
    try:
        jws = given.decode("ascii")
    except UnicodeDecodeError as error:
        raise Refused("the signed text is no compact JWS: it holds bytes that are not ASCII") from error
    return _checked(jws, beside, options)


def _given(options: Namespace) -> bytes:
    return octets_of(options.signed).strip()


def _checked(jws: object, beside: object, options: Namespace) -> dict[str, Any]:
    if not isinstance(jws, str):
        raise Refused("the file has no jws")
    claims = proofs.verify_as_text(jws, _keys(options), options.expect)
    if beside is not None and beside != claims:
        raise Refused("the claims beside the signature are not those that were signed", member="claims")
    return claims


def _keys(options: Namespace) -> dict[str, bytes]:
    if options.jwks is not None:
        path: Path = options.jwks
        return proofs.read_keys(parse_object(read_small_file(path, "the key set"), f"the key set {path}"))
    base_url = options.base_url or os.environ.get("CONSENT_BASE_URL")
    if not base_url:
        raise Refused("give --jwks FILE, or set CONSENT_BASE_URL to fetch the keys from the service")
    with requests.Session() as session:
        session.auth = anonymous
        call = calls.keys()
        return call.read(Transport(origin_of(base_url), session).send(call.method, call.path, repeatable=True))
