"""The person's own history as a file to keep: JSON for programs, CSV for spreadsheets. Streamed, however long it is."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any, cast

import orjson
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import get_language, gettext, override
from django.views.decorators.http import require_GET

from accounts.models import User
from accounts.zones import browser_zone
from common.clock import rfc3339
from common.text import harmless_cell
from consent.web import history
from consent.web.forms import HistoryFilter

COLUMNS = ("at", "kind", "what", "detail", "app_id", "request_id", "receipt_id")


@login_required
@require_GET
def history_file(request: HttpRequest) -> HttpResponseBase:
    """`?format=json` or `csv`, with the filters of the page."""
    user = cast("User", request.user)
    chosen = HistoryFilter(request.GET).chosen(browser_zone(request))
    lines = history.happened(user, chosen)
    rows = (_row(line) for line in lines)
    wanted = request.GET.get("format")
    if wanted == "json":
        return _download(_json(user.public_id, rows), "application/json", "json")
    if wanted == "csv":
        return _download(_csv(rows), "text/csv; charset=utf-8", "csv")
    return HttpResponseBadRequest(gettext("Choose JSON or CSV."), content_type="text/plain; charset=utf-8")


def _download(pieces: Iterator[bytes], media_type: str, extension: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="history.{extension}"'}
    translated = _in_language(get_language() or settings.LANGUAGE_CODE, pieces)
    return StreamingHttpResponse(translated, content_type=media_type, headers=headers)


def _in_language(language: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Sentences are made while the file is sent: after the request's language was taken back, and on any thread."""
    while True:
        with override(language):
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


def _row(line: history.Happened) -> dict[str, Any]:
    detail = line.detail or ", ".join(line.names)
    cells = (rfc3339(line.at), line.kind, line.title, detail, line.app_id, line.request_id, line.receipt_id)
    return dict(zip(COLUMNS, cells, strict=True))


def _json(user_id: str, rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """{"user_id", "history": [COLUMNS]}, an entry a line."""
    yield b'{"user_id":%b,"history":[' % orjson.dumps(user_id)
    comma = b"\n"
    for row in rows:
        yield comma + orjson.dumps(row)
        comma = b",\n"
    yield b"\n]}\n"


class _Line:
    """A file of one line, which the writer hands over at once."""

    def write(self, text: str) -> bytes:
        return text.encode()


def _csv(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """RFC 4180; the mark in front tells spreadsheets that it is UTF-8. Apps choose their words: none is a formula."""
    writer = csv.writer(_Line())
    yield "\ufeff".encode() + writer.writerow(COLUMNS)
    for row in rows:
        yield writer.writerow([harmless_cell(row[name] or "") for name in COLUMNS])
