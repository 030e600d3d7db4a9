"""Which bodies are taken, and how they are read: application/json in UTF-8, parsed strictly."""

from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from common.json_bodies import strict_json


class StrictJSONParser(BaseParser):
    """`common.json_bodies.strict_json`. `JSONRequest` has seen to it that the stream is within the view's limit."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return strict_json(stream.read())


class JSONNegotiation(BaseContentNegotiation):
    """A body has to be JSON in UTF-8, not compressed; answers are not negotiated.

    An address answers in its own form, and the few that have a second one look at `Accept` themselves.
    """

    def select_parser(self, request: Any, parsers: Any) -> Any:
        meta = request.META
        sent = request._request  # REST framework's `content_type` still holds the parameters
        encoding = meta.get("HTTP_CONTENT_ENCODING", "identity").lower()
        charset = (sent.content_params or {}).get("charset", "utf-8").strip('"').lower()
        if charset not in ("utf-8", "utf8") or encoding != "identity":
            return None
        return next((parser for parser in parsers if sent.content_type == parser.media_type), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class ORJSONRenderer(BaseRenderer):
    """orjson; only REST framework's own answers and the schema's tooling meet this."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return orjson.dumps(data)
