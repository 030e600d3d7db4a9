"""Checks the assertion of consent that comes with every call (docs/agents.md): a call without one is not answered.

Requests to delete are signed by the same keys, and checked here, too.
"""

import base64
import hashlib
import json
import threading
import time
from typing import Any

import urllib3
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from examples.reference_agents.prompts import Call, identifiers_in

HEADER = "X-Processing-Consent"
PURPOSES = {
    "public": "enrichment", "second": "enrichment", "core-profile": "profile", "core-profile-update": "profile",
    "core": "profile", "brand": "brand_affinity",
}  # fmt: skip
_LEEWAY = 60  # seconds by which clocks may differ
_KEYS_AGAIN = 10  # seconds before keys are asked for again that were not there


class NotAgreed(Exception):
    """Why nobody agreed to this call."""


class Consent:
    """What one issuer's assertions say to the agents at one origin."""

    def __init__(self, issuer: str, origin: str) -> None:
        self._issuer, self._origin = issuer.rstrip("/"), origin
        self._keys, self._fetched = KeySet([]), 0.0
        self._taken: dict[str, float] = {}  # jti → until when it counts
        self._lock = threading.Lock()

    def call(self, agent: str, task: Any, text: str, assertion: str) -> Call:
        """`text` with whom it is about, as the assertion says; raises `NotAgreed`."""
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        claims = self._claims(assertion, "processing-consent+jwt", {"task": task, "text_sha256": digest})
        if PURPOSES[agent] not in claims.get("purposes", ()):
            raise NotAgreed("the consent is for other purposes")
        subject = [*claims["subject"]["emails"], *claims["subject"]["phone_numbers"]]
        named = {one.casefold() for one in identifiers_in(text)}
        if not named <= {one.casefold() for one in subject}:
            raise NotAgreed("the consent is another person's than whom this is about")
        lines = [f"{'Email' if '@' in one else 'Phone'}: {one}" for one in subject if one.casefold() not in named]
        return Call("\n".join([text, *lines]), str(claims["consent_id"]), float(claims["iat"]), str(claims["sub"]))

    def deletion(self, request: str) -> dict[str, Any]:
        """The claims of a request to delete, which counts once; raises `NotAgreed`."""
        return self._claims(request, "processing-deletion+jwt", {})

    def _claims(self, statement: str, kind: str, about: dict[str, Any]) -> dict[str, Any]:
        """What a signed statement of this kind says to this agent, about this, once and while it counts."""
        claims = self._signed(statement, kind)
        wanted = {"iss": self._issuer, "aud": self._origin, **about}
        if wrong := [name for name, value in wanted.items() if claims.get(name) != value]:
            raise NotAgreed(f"the statement is for something else ({', '.join(wrong)})")
        jti, until, now = str(claims["jti"]), claims["exp"] + _LEEWAY, time.time()
        with self._lock:
            self._taken = {one: over for one, over in self._taken.items() if over > now}
            if jti in self._taken or not claims["iat"] - _LEEWAY <= now < until:
                raise NotAgreed("the statement is over, or was used before")
            self._taken[jti] = until
        return claims

    def _signed(self, statement: str, kind: str) -> dict[str, Any]:
        for again in (False, True):
            try:
                found = jws.deserialize_compact(statement, self._known(again=again), algorithms=["EdDSA"])
                claims: dict[str, Any] = json.loads(found.payload)
            except (JoseError, ValueError):
                continue
            if found.headers().get("typ") == kind:
                return claims
        raise NotAgreed("no statement came that is signed by who issues them")

    def _known(self, *, again: bool) -> KeySet:
        with self._lock:
            if (again and time.monotonic() - self._fetched > _KEYS_AGAIN) or not self._keys.keys:
                self._fetched = time.monotonic()
                address = f"{self._issuer}/.well-known/consent-assertion-keys.json"
                answer = urllib3.request("GET", address, timeout=5, retries=False)
                self._keys = KeySet.import_key_set(answer.json())
            return self._keys
