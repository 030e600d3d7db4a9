"""Reads an export with a client made by openapi-python-client, which is imported as `made`."""

import importlib
import json
import os
import pkgutil

import made
from made.api.tag3_read import get_consent_export
from made.client import AuthenticatedClient
from made.models.consent_export import ConsentExport
from made.models.problem_details import ProblemDetails

modules = [found.name for found in pkgutil.walk_packages(made.__path__, "made.")]
for name in modules:
    importlib.import_module(name)

with AuthenticatedClient(base_url=os.environ["SERVICE"], token=os.environ["TOKEN"]) as client:
    read = get_consent_export.sync(client=client, request_id=os.environ["REQUEST_ID"])
    refused = get_consent_export.sync(client=client, request_id="req_nothing")
assert isinstance(read, ConsentExport), read
assert isinstance(refused, ProblemDetails), refused
results = {"jwe": read.jwe, "paths": read.approved_attributes, "code": refused.code, "modules": len(modules)}
print(json.dumps(results))  # noqa: T201  # for the test
