"""Messages to other servers, signed as Standard Webhooks say."""

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime

from standardwebhooks.webhooks import Webhook


def new_secret() -> str:
    """As Standard Webhooks write them: 32 random octets in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def signed_headers(message_id: str, body: bytes, signing_secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """The headers of one attempt, signed `now`; two secrets sign while one takes the other's place.

    `now` is by the database's clock, as everything: receivers refuse what is five minutes early or late.
    """
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(
            Webhook(secret).sign(message_id, now, body.decode()) for secret in signing_secrets
        ),
    }
