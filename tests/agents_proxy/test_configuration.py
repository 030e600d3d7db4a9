"""What a deployment may say about who signs delivery reports; anything else does not start."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env


@pytest.mark.parametrize("secret", ["abc!", "whsec_abc!", "whsec_", "whsec_ä"])
def test_a_secret_that_signs_nothing_raises(secret: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="AGENT_MESSAGING_REPORT_SECRET must be whsec_"):
        env.signing_secret("AGENT_MESSAGING_REPORT_SECRET", secret)
