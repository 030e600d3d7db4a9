"""A push service on loopback, and the browser that it stands for: what is sent to it can be opened with its keys."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from common.jose import base64url
from tests.fakes.serving import Answering, serving


class PushService(ThreadingHTTPServer):
    """Keeps what arrives, by path; answers with the statuses in `answers`, the last one again and again."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived: list[tuple[str, dict[str, str], bytes]] = []
        self.answers = [201]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(Answering):
    server: PushService

    def post(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.arrived.append((self.path, headers, self.body()))
        self.answer(self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0])


@dataclass
class FakeBrowser:
    """The keys of a subscription, as a browser makes them."""

    endpoint: str
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def subscription(self) -> dict[str, str]:
        """The body of `PUT /account/push`."""
        return {"endpoint": self.endpoint, "public_key": base64url(point(self.private)), "auth": base64url(self.auth)}

    def opened(self, body: bytes) -> dict[str, Any]:
        """What was said, by RFC 8291's receiving side."""
        salt, length = body[:16], body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        shared = self.private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = _derived(shared, self.auth, b"WebPush: info\0" + point(self.private) + sender, 32)
        key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
        payload: dict[str, Any] = json.loads(
            AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0").removesuffix(b"\x02")
        )
        return payload


def point(private: ec.EllipticCurvePrivateKey) -> bytes:
    return private.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


@contextmanager
def push_service(settings: Any) -> Iterator[PushService]:
    """One that `settings` let messages go to, until the block ends."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    server = PushService()
    with serving(server):
        yield server
