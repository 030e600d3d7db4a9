"""Messages to browsers: encrypted for one of them (RFC 8291 over RFC 8188), sent in this service's name (RFC 8292).

The key that names this service is made of the oldest of DATA_ENCRYPTION_KEYS, so that it needs no secret of its own and
lasts as long as what is sealed under that. Once it is another one, a browser subscribes anew on the page of alerts.
"""

import base64
import os
import time
from functools import lru_cache
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from joserfc import jwt
from joserfc.jwk import ECKey

from common.jose import base64url

_CURVE = ec.SECP256R1()
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of its group (SEC 2, 2.4.2)
_RECORD = 4096  # octets, which every push service takes
LONGEST = _RECORD - 86 - 16 - 1  # octets of a message: the header, the tag and the delimiter are in the record, too
_NAMES_FOR = 12 * 3600  # seconds; RFC 8292 allows a day


def octets_of(text: str) -> bytes:
    """Base64url as browsers and push services write it; raises `ValueError` for anything else."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def point_of(public_key: str) -> ec.EllipticCurvePublicKey:
    """A browser's public key, `p256dh`: an uncompressed point of P-256; raises `ValueError` for anything else."""
    octets = octets_of(public_key)
    if len(octets) != 65:
        raise ValueError("not an uncompressed point")
    return ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, octets)


def encrypted(
    message: bytes,
    *,
    public_key: str,
    auth: str,
    own: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """The body for the browser with this `p256dh` and `auth`. `own` and `salt` are made anew but for test vectors."""
    if len(message) > LONGEST:
        raise ValueError("the message does not fit a record")
    theirs, own, salt = point_of(public_key), own or ec.generate_private_key(_CURVE), salt or os.urandom(16)
    mine = _point(own.public_key())
    shared = own.exchange(ec.ECDH(), theirs)
    secret = _derived(shared, octets_of(auth), b"WebPush: info\0" + _point(theirs) + mine, 32)
    key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + _RECORD.to_bytes(4, "big") + bytes([len(mine)]) + mine
    return header + AESGCM(key).encrypt(nonce, message + b"\x02", None)


def public_name() -> str:
    """The public half of the key that names this service: a browser's `applicationServerKey`."""
    return base64url(_point(_own_key(settings.DATA_ENCRYPTION_KEYS[-1]).public_key()))


def authorization(endpoint: str) -> str:
    """The header that shows this endpoint's push service who sends, and whom to write to about it."""
    parts = urlsplit(endpoint)
    private = _own_key(settings.DATA_ENCRYPTION_KEYS[-1])
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(time.time()) + _NAMES_FOR,
        "sub": f"mailto:{settings.DEFAULT_FROM_EMAIL}",
    }
    token = jwt.encode({"alg": "ES256", "typ": "JWT"}, claims, ECKey.import_key(pem))
    return f"vapid t={token}, k={public_name()}"


@lru_cache(maxsize=4)
def _own_key(server_key: str) -> ec.EllipticCurvePrivateKey:
    """More octets than the group has, so that no key is likelier than another (FIPS 186-5, A.2.1)."""
    octets = _derived(base64.urlsafe_b64decode(server_key), None, b"web push: the key of this service", 48)
    return ec.derive_private_key(int.from_bytes(octets, "big") % (_ORDER - 1) + 1, _CURVE)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _derived(secret: bytes, salt: bytes | None, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)
