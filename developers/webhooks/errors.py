"""Refusals about webhook endpoints."""

from common.problems import Problem


class EndpointDisabled(Problem):
    """The endpoint is disabled, so nothing is sent there; enable it first."""

    code, status, title = "endpoint_disabled", 409, "This endpoint is disabled"
