"""What a deployment may say about where brand affinities go and who signs; anything else does not start."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("url", "secret", "read"),
    [
        ("", "", ("", "")),
        (" https://crm.example/in ", SECRET, ("https://crm.example/in", SECRET)),
        ("http://localhost:9000/in", SECRET, ("http://localhost:9000/in", SECRET)),
        ("http://127.0.0.1/in", SECRET, ("http://127.0.0.1/in", SECRET)),
    ],
)
def test_activation_is_read(url: str, secret: str, read: tuple[str, str]) -> None:
    assert env.activation(url, secret) == read


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("crm.example/x", SECRET),
        ("http://crm.example/x", SECRET),
        ("http://localhost.crm.example/x", SECRET),
        ("ftp://crm.example/x", SECRET),
        ("https://", SECRET),
        ("https://[crm", SECRET),
        ("https://crm.example/x", ""),
        ("", SECRET),
        ("https://crm.example/x", "abc!"),
        ("https://crm.example/x", SECRET.removeprefix("whsec_")),
        ("https://crm.example/x", "whsec_abc!"),
        ("https://crm.example/x", "whsec_"),
    ],
)
def test_activation_that_cannot_work_raises(url: str, secret: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="ACTIVATION_"):
        env.activation(url, secret)


@pytest.mark.parametrize("secret", ["abc!", "whsec_abc!", "whsec_", "whsec_ä"])
def test_a_secret_that_signs_nothing_raises(secret: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="AGENT_MESSAGING_REPORT_SECRET must be whsec_"):
        env.signing_secret("AGENT_MESSAGING_REPORT_SECRET", secret)
