"""How data becomes JSON where a view answers with data and not, as most do, with bytes of its own."""

from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer


class ORJSONRenderer(BaseRenderer):
    """orjson; only REST framework's own answers and the schema's tooling meet this."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return orjson.dumps(data)
