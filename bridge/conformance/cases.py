"""The cases: what a client is given, and what it has to make of it. They come from `vectors/` and from nowhere else.

A file there has an operation, an input, and cases, each with a change of that input as a merge patch (RFC 7396).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent / "vectors"
_OWN_FORMS = {"sealed", "derived"}  # files of a form of their own
_SECRETS = {"passphrase": "passphrase", "recovery": "code", "passkey": "prf_output_hex"}
_NOT_EXPECTED = {"alg", "enc", "typ", "cty"}  # of an export's header


@dataclass(frozen=True)
class Case:
    """One call of a client. `expected` is {"answer": JSON} or {"refused": a kind or true, "member": a name or null}.

    Where `expected` has no "member", which one is named does not matter.
    """

    name: str
    operation: str
    given: dict[str, Any]
    expected: dict[str, Any]


def all_cases() -> Iterator[Case]:
    """Every case, in an order that stays."""
    yield from _sealed(_vectors("sealed"))
    for name in sorted({path.stem for path in VECTORS.glob("*.json")} - _OWN_FORMS):
        vectors = _vectors(name)
        for case in vectors["cases"]:
            given = merged(vectors["input"], case.get("change", {}))
            yield Case(f"{name}: {case['case']}", vectors["operation"], given, _expected(case))
    for vector in _vectors("derived"):
        given = {name: vector[name] for name in ("rule", "value", "at") if name in vector}
        rule = json.dumps(vector["rule"])
        yield Case(f"derived: {rule}: {vector['does']}", "derive", given, _expected(vector))


def merged(value: Any, change: Any) -> Any:
    """`value` with a merge patch (RFC 7396): objects are merged, null takes a member away, all else takes its place."""
    if not isinstance(change, dict):
        return change
    found = dict(value) if isinstance(value, dict) else {}
    for name, new in change.items():
        if new is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), new)
    return found


def _vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"))


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("answer", "refused", "member") if name in case}


def _sealed(vectors: dict[str, Any]) -> Iterator[Case]:
    for index, export in enumerate(vectors["exports"]):
        yield from _export(f"sealed: export {index}", export)
    for segment in vectors["segments"]:
        name = f"sealed: segment {segment['domain']}.{segment['segment_id']}"
        yield Case(name, "open_segment", _segment(vectors, segment), {"answer": segment["plaintext"]})
    for kind in _SECRETS:
        name = f"sealed: wrapper for a {kind}"
        yield Case(name, "unwrap", _wrapper(vectors, kind), {"answer": vectors["vault"]["vault_key_hex"]})
    given = {
        "export": ("open_export", _opening(vectors["exports"][0])),
        "segment": ("open_segment", _segment(vectors, vectors["segments"][0])),
        "wrapper": ("unwrap", _wrapper(vectors, "passphrase")),
    }
    for reject in vectors["rejects"]:
        operation, base = given[reject["kind"]]
        change: dict[str, Any] = {"jwe": reject["jwe"]}
        if "expected_revision" in reject:
            change["expected"] = {"content_revision": reject["expected_revision"]}
        yield Case(f"sealed: {reject['why']}", operation, merged(base, change), _expected(reject))
    for bad in vectors["bad_connector_keys"]:
        yield Case(f"sealed: key: {bad['why']}", "check_connector_key", {"key": bad["jwk"]}, _expected(bad))


def _export(name: str, export: dict[str, Any]) -> Iterator[Case]:
    opening = _opening(export)
    yield Case(f"{name} opens", "open_export", opening, {"answer": export["plaintext"]})
    for member in opening["expected"]:
        other = merged(opening, {"expected": {member: 7 if member == "revision" else "other"}})
        yield Case(f"{name}: another {member}", "open_export", other, {"refused": "refused", "member": member})
    request, private, public = (export[name] for name in ("request", "connector_private_key", "connector_public_key"))
    yield Case(f"{name}: request_digest", "request_digest", {"request": request}, {"answer": export["request_digest"]})
    yield Case(f"{name}: thumbprint", "thumbprint", {"key": private}, {"answer": export["thumbprint"]})
    yield Case(f"{name}: public half", "public_half", {"key": private}, {"answer": public})
    yield Case(f"{name}: connector key", "check_connector_key", {"key": public}, {"answer": public})


def _opening(export: dict[str, Any]) -> dict[str, Any]:
    expected = {name: value for name, value in export["header"].items() if name not in _NOT_EXPECTED}
    return {"jwe": export["jwe"], "key": export["connector_private_key"], "expected": expected}


def _segment(vectors: dict[str, Any], segment: dict[str, Any]) -> dict[str, Any]:
    place = {name: segment[name] for name in ("domain", "segment_id", "content_revision")}
    expected = {"kid": vectors["vault"]["key_id"], "sub": vectors["user_id"], **place}
    return {"jwe": segment["jwe"], "vault_key": vectors["vault"]["vault_key_hex"], "expected": expected}


def _wrapper(vectors: dict[str, Any], kind: str) -> dict[str, Any]:
    wrapper, names = vectors["wrappers"][kind], {"user_id": vectors["user_id"], "key_id": vectors["vault"]["key_id"]}
    return {"kind": kind, "jwe": wrapper["jwe"], "secret": wrapper[_SECRETS[kind]], **names}
