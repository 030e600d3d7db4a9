"""What is random in an answer, replaced by names in the order of first appearance; everything else stays as it is.

Every rule fixes the form of what it replaces: prefix, alphabet and length. What has another form is left standing, and
so differs from the recording.
"""

import base64
import binascii
import json
import re
from collections import Counter
from typing import Any

_BASE64URL = "A-Za-z0-9_-"
_ALONE, _END = f"(?<![{_BASE64URL}])", f"(?![{_BASE64URL}])"
_IDENTIFIERS = "usr|mem|app|chn|req|grt|exp|rct|wrp|pcn|ana|act|des|msg|itm|lnk|vk"
_MEASURED = [rf'(?<="{name}":{space})' for name in ("durationMs", "response_time_ms") for space in ("", " ")]
_RULES = {
    # three parts are signed (JWS), five are sealed (JWE); each begins with its header, which is an object in base64url
    "compact": rf"{_ALONE}eyJ[{_BASE64URL}]{{20,}}(?:\.[{_BASE64URL}]*){{2,4}}(?![.{_BASE64URL}])",
    "identifier": rf"(?:(?<![A-Za-z0-9_])|(?<=%3D))(?:{_IDENTIFIERS})_[a-z2-7]{{26}}(?![A-Za-z0-9_])"
    r"|(?<=msg_)app_[a-z2-7]{26}(?=_[0-9])",
    "invitation": rf"{_ALONE}inv_[{_BASE64URL}]{{43}}{_END}",
    "token": rf"{_ALONE}cr_(?:live|test|mgmt)_[A-Za-z0-9]{{8}}_[{_BASE64URL}]{{43}}{_END}",
    "prefix": r"(?:(?<=\"prefix\":\")|(?<=tokens/))[A-Za-z0-9]{8}(?=[\"/])",
    "secret": r"(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])",
    "task": rf"{_ALONE}task-(?:code-)?[{_BASE64URL}]{{32}}{_END}",
    "session": rf"{_ALONE}session-[0-9]{{20}}{_END}",
    "link": rf"{_ALONE}link-sandbox-[0-9a-f]{{16}}{_END}",  # of the stand-in for the aggregator
    "standin": r"http://127\.0\.0\.1:[0-9]{4,5}(?![0-9])",
    "salt": rf"(?<=\"p2s\":\")[{_BASE64URL}]{{22}}(?=\")",  # of a passphrase, in the header of what it seals
    "nonce": rf"(?<=\"nonce\":\")[{_BASE64URL}]{{32}}(?=\")",  # which a resumption has to name
    # of the public log: the name and octets of its key, and its signature under a checkpoint
    "logkey": r"(?<=/log\+)[0-9a-f]{8}\+[A-Za-z0-9+/]{44}(?![A-Za-z0-9+/=])",
    "logsignature": r"(?<=/log )[A-Za-z0-9+/]{91}=(?![A-Za-z0-9+/=])",
    "sha256": rf"{_ALONE}[0-9a-f]{{64}}{_END}",
    # 32 bytes: a digest, a key, a thumbprint, a state; the upper case tells it from a long word
    "bytes32": rf"{_ALONE}(?=[{_BASE64URL}]*[A-Z])[{_BASE64URL}]{{43}}{_END}",
    # what the migrations filled in is as old as the database, which was made before the clock was stopped in 2040
    "migrated": r"(?:(?<=\"updated_at\":\")|(?<=\\\"updated_at\\\":\\\"))"
    r"202[0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9](?::[0-5][0-9]){2}Z",
    # measured by a clock that is not stopped
    "milliseconds": rf"(?:{'|'.join(_MEASURED)})[0-9]{{1,5}}(?=[,}}])",
    "code": r"(?<=\"code\":\")[0-9]{6}(?=\")",  # that proves a phone number
    "endpoint": r"(?<=\"endpoint_id\":\")[0-9]{1,9}(?=\")",  # a primary key, which is told
    # where a page of a list ended, which is a primary key
    "cursor": rf"(?:(?<=[?&]cursor=)|(?<=\"next_cursor\":\"))cj[{_BASE64URL}]{{1,10}}{_END}",
    "state": rf"(?<=\"requestState\":\")v1\.[{_BASE64URL}]{{200,3000}}(?=\")",  # which a host of tools carries for us
    "cookie": r"(?<=sessionid=)[a-z0-9]{32}(?=;)|(?<=csrftoken=)[A-Za-z0-9]{32}(?=;)",
}
_PATTERN = re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in _RULES.items()))
_TRACE = re.compile(r"[0-9a-f]{32}\Z")


class Placeholders:
    """The names that one area has given so far."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._described: dict[str, Any] = {}

    def put(self, text: str, *, trace: str = "") -> str:
        """`text` with names in place of what is random. `trace` is the identifier of this one answer."""
        if _TRACE.match(trace):
            text = text.replace(trace, "<trace>")
        return _PATTERN.sub(self._name, text)

    def take_descriptions(self) -> dict[str, Any]:
        """What the tokens say that were named since the last call, by their names."""
        taken, self._described = self._described, {}
        return taken

    def _name(self, found: re.Match[str]) -> str:
        value, rule = found[0], str(found.lastgroup)
        if value in self._names:
            return self._names[value]
        if rule == "migrated":
            return "<migrated>"
        if rule == "milliseconds":
            return "0"  # a number stays one
        parts = value.split(".")
        parts = value.split(".")
        if rule == "compact":
            if len(parts) == 4 or _decoded(parts[0]) is None:
                return value  # neither signed nor sealed
            rule = "jws" if len(parts) == 3 else "jwe"
        elif rule == "identifier":
            rule = value.partition("_")[0]
        self._counts[rule] += 1
        length = f" of {len(value)} characters" if rule == "state" else ""
        name = self._names[value] = f"<{rule}_{self._counts[rule]}{length}>"
        if rule in ("jws", "jwe"):
            self._described[name] = {}  # first among those that its own claims may hold
            self._described[name].update(self._description(parts))
        return name

    def _description(self, parts: list[str]) -> dict[str, Any]:
        """The parts that anybody can read, and how long each part is."""
        description: dict[str, Any] = {"header": self._read(parts[0])}
        if len(parts) == 3:
            description["claims"] = self._read(parts[1])
        # a key or a signature may be anything, so its length is all that there is to tell of it
        return {**description, "lengths": [len(part) for part in parts]}

    def _read(self, part: str) -> Any:
        text = _decoded(part)
        return None if text is None else json.loads(self.put(text))


def _decoded(part: str) -> str | None:
    """The JSON in a part of a token; None where there is none."""
    try:
        text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
        json.loads(text)
    except (binascii.Error, ValueError):
        return None
    return text
