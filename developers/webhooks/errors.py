"""Refusals about webhook endpoints."""

from common.problems import Kind

# fmt: off
EndpointDisabled = Kind("endpoint_disabled", 409, "This endpoint is disabled",
    "The endpoint is disabled, so nothing is sent there; enable it first.")
# fmt: on
