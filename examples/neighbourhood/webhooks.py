"""What the aggregator tells the service by itself, signed as Plaid's webhooks are: a JWT over the hash of the body."""

import hashlib
import json
import sys
import threading
import time
from typing import Any

import urllib3
from joserfc import jws
from joserfc.jwk import ECKey

from examples.neighbourhood.store import Store

_KEY_ID = "neighbourhood-1"
_http = urllib3.PoolManager(maxsize=4)


class Webhooks:
    """Sends each message once, from a thread of its own; the key is kept, so that it stays known."""

    def __init__(self, store: Store) -> None:
        store.add("webhook key", _KEY_ID, ECKey.generate_key("P-256").as_dict(private=True))
        self._key = ECKey.import_key(store.get("webhook key", _KEY_ID) or {})

    def public(self, key_id: str) -> dict[str, Any] | None:
        """The JWK of this ID; None where there is no such key."""
        named = {"kid": _KEY_ID, "alg": "ES256", "use": "sig", "created_at": 1_700_000_000, "expired_at": None}
        return {**self._key.as_dict(private=False), **named} if key_id == _KEY_ID else None

    def send(self, item: dict[str, Any], kind: str, code: str, *, after: float = 0.0, **more: Any) -> None:
        """Tell it after so many seconds, where the link named an address to tell it to."""
        if item.get("webhook"):
            told = {"webhook_type": kind, "webhook_code": code, "item_id": item["item_id"], "environment": "sandbox"}
            body = json.dumps({**told, **more}).encode()
            threading.Thread(target=self._send, args=(item["webhook"], body, after), daemon=True).start()

    def _send(self, address: str, body: bytes, after: float) -> None:
        time.sleep(after)
        claims = {"iat": int(time.time()), "request_body_sha256": hashlib.sha256(body).hexdigest()}
        header = {"alg": "ES256", "kid": _KEY_ID, "typ": "JWT"}
        signature = jws.serialize_compact(header, json.dumps(claims), self._key, algorithms=["ES256"])
        headers = {"Content-Type": "application/json", "Plaid-Verification": signature}
        try:
            status = _http.request("POST", address, body=body, headers=headers, timeout=10, retries=False).status
        except urllib3.exceptions.HTTPError:
            status = 0
        if status != 200:
            sys.stderr.write(f"the server took no webhook: {status}\n")
