"""What the bridge's tools take for an integer: what JSON's schemas do."""

import pytest
from pydantic import ValidationError

from consent_bridge.tool_arguments import Wait


def test_a_whole_number_may_have_a_point():
    assert Wait.model_validate({"request_id": "req_a", "wait_seconds": 5.0}).wait_seconds == 5


@pytest.mark.parametrize("given", [5.5, "5", True, 31.0, float("inf"), float("nan")])
def test_another_is_refused(given):
    with pytest.raises(ValidationError):
        Wait.model_validate({"request_id": "req_a", "wait_seconds": given})
