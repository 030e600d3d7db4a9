"""Checks the assertion of consent that comes with every call (docs/agents.md): a call without one is not answered.

Requests to delete are signed by the same keys, and checked here, too.
"""

import base64
import hashlib
import json
import threading
import time
from dataclasses import dataclass
from typing import Any

import urllib3
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from examples.reference_agents.prompts import identifiers_in

HEADER = "X-Processing-Consent"
PURPOSES = {
    "public": "enrichment", "second": "enrichment", "core-profile": "profile", "core-profile-update": "profile",
    "core": "profile", "brand": "brand_affinity",
}  # fmt: skip
_TYPE = "processing-consent+jwt"
_DELETION = "processing-deletion+jwt"
_LEEWAY = 60  # seconds by which clocks may differ
_KEYS_AGAIN = 10  # seconds before keys are asked for again that were not there


class NotAgreed(Exception):
    """Why nobody agreed to this call."""


@dataclass(frozen=True)
class Asked:
    """A call that somebody agreed to: its text with whom it is about, which consent since when, and whose `sub`."""

    text: str
    consent: str = ""
    at: float = 0.0
    person: str = ""


class Consent:
    """What one issuer's assertions say to the agents at one origin."""

    def __init__(self, issuer: str, origin: str) -> None:
        self._issuer, self._origin = issuer.rstrip("/"), origin
        self._http = urllib3.PoolManager()
        self._keys, self._asked_at = KeySet([]), 0.0
        self._taken: dict[str, float] = {}  # jti → until when it counts
        self._lock = threading.Lock()

    @property
    def extension(self) -> str:
        """By what A2A calls it."""
        return f"{self._issuer}/extensions/consent/v1"

    def asked_of(self, agent: str, task: Any, text: str, assertion: Any) -> Asked:
        """`text` with whom it is about, as the assertion says; raises `NotAgreed`."""
        claims = self._claims(assertion, _TYPE)
        wanted = {"iss": self._issuer, "aud": self._origin, "task": task, "text_sha256": _digest(text)}
        wrong = [name for name, value in wanted.items() if claims.get(name) != value]
        if wrong or PURPOSES[agent] not in claims.get("purposes", ()):
            raise NotAgreed(f"the assertion of consent is for another call ({', '.join(wrong) or 'purposes'})")
        self._take(claims)
        subject = [*claims["subject"]["emails"], *claims["subject"]["phone_numbers"]]
        named = {one.casefold() for one in identifiers_in(text)}
        if not named <= {one.casefold() for one in subject}:
            raise NotAgreed("the consent is another person's than whom this is about")
        lines = [f"{'Email' if '@' in one else 'Phone'}: {one}" for one in subject if one.casefold() not in named]
        return Asked("\n".join([text, *lines]), str(claims["consent_id"]), float(claims["iat"]), str(claims["sub"]))

    def deletion(self, request: str) -> dict[str, Any]:
        """The claims of a request to delete, which counts once; raises `NotAgreed`."""
        claims = self._claims(request, _DELETION)
        if (claims.get("iss"), claims.get("aud")) != (self._issuer, self._origin):
            raise NotAgreed("the request to delete is for another agent")
        self._take(claims)
        return claims

    def _claims(self, assertion: Any, kind: str) -> dict[str, Any]:
        if not isinstance(assertion, str) or not assertion:
            raise NotAgreed("no assertion of consent came with the call")
        for again in (False, True):
            try:
                found = jws.deserialize_compact(assertion, self._known(again=again), algorithms=["EdDSA"])
                claims: dict[str, Any] = json.loads(found.payload)
            except (JoseError, ValueError):
                continue
            if found.headers().get("typ") == kind:
                return claims
        raise NotAgreed("this is not signed by who issues such statements")

    def _known(self, *, again: bool) -> KeySet:
        with self._lock:
            if (again and time.monotonic() - self._asked_at > _KEYS_AGAIN) or not self._keys.keys:
                where = f"{self._issuer}/.well-known/consent-assertion-keys.json"
                self._asked_at = time.monotonic()
                answer = self._http.request("GET", where, timeout=5, retries=False)
                self._keys = KeySet.import_key_set(json.loads(answer.data))
            return self._keys

    def _take(self, claims: dict[str, Any]) -> None:
        """Once, and not after its time."""
        jti, until, now = str(claims["jti"]), claims["exp"] + _LEEWAY, time.time()
        if not claims["iat"] - _LEEWAY <= now < until:
            raise NotAgreed("the statement is over")
        with self._lock:
            self._taken = {one: over for one, over in self._taken.items() if over > now}
            if jti in self._taken:
                raise NotAgreed("this statement was used before")
            self._taken[jti] = until


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
