"""REST framework's request, with a bounded body that may also come in chunks, and the query as it was sent."""

import time
from functools import cached_property
from io import BytesIO
from typing import IO, Any
from urllib.parse import parse_qsl

from django.http import HttpRequest
from rest_framework.request import Request

from common.problems import InvalidRequest, PayloadTooLarge

SOON = 1.0  # seconds in which a body comes whose sender is still who was let in


class JSONRequest(Request):
    """A request to a `JSONView`. `data` is the body as strict JSON."""

    def __init__(self, request: HttpRequest, **parts: Any) -> None:
        super().__init__(request, **parts)
        # REST framework finds these anew by a failed look-up each time, and every check asks for one of them
        self.META = request.META
        self.method = request.method

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes without its length."""
        return "chunked" in self.META.get("HTTP_TRANSFER_ENCODING", "").lower()

    @property
    def has_content(self) -> bool:
        return self.is_chunked or self._declared_length() > 0

    @property
    def needs_body(self) -> bool:
        """Whether the view refuses this call without a body; what is deleted is named by the address alone."""
        return bool(self.parser_context["view"].body_required) and self.method != "DELETE"

    @cached_property
    def query_pairs(self) -> list[tuple[str, str]]:
        """The members of the query in order, repeated ones too. Bytes that are no UTF-8 become lone surrogates."""
        query = self.META.get("QUERY_STRING", "")
        return parse_qsl(query, keep_blank_values=True, errors="surrogateescape") if query else []

    def check_size(self, limit: int) -> None:
        """Refuse a body over `limit` bytes. Only one that comes in chunks has to be read for it."""
        if (len(self.content) if self.is_chunked else self._declared_length()) > limit:
            raise PayloadTooLarge(f"This address takes at most {limit} bytes.")

    @property
    def content(self) -> bytes:
        """The body as it came, read once; of one over the view's limit no more than shows that it is."""
        if isinstance(self._read_once, InvalidRequest):
            raise self._read_once
        return self._read_once

    @property
    def stream(self) -> IO[bytes] | None:
        """What a parser reads; None for a body that may be absent, and is: REST framework takes it for `{}`."""
        if self.has_content or self.needs_body:
            return BytesIO(self.content)
        return None

    @cached_property
    def _read_once(self) -> bytes | InvalidRequest:
        view, began = self.parser_context["view"], time.monotonic()
        limit: int = view.body_limit
        # Django reads as much as Content-Length says, which of chunks is nothing; the server ends that stream itself
        source = self.META["wsgi.input"] if self.is_chunked else self._request
        try:
            content: bytes = source.read(limit + 1)
        except OSError:  # Django's UnreadablePostError is one
            return InvalidRequest("The body ended early.")
        if time.monotonic() - began >= SOON:
            view.let_in_again(self)
        return content

    def _declared_length(self) -> int:
        length = self.META.get("CONTENT_LENGTH") or "0"
        return int(length[:20]) if length.isdecimal() else 0
