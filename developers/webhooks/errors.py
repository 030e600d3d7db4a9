"""Refusals about webhook endpoints."""

from common.problems import Problem


class EndpointDisabled(Problem):
    """The endpoint is disabled, so nothing is sent there; enable it first."""

    code = "endpoint_disabled"
    status = 409
    title = "This endpoint is disabled"
