"""Pictures as developers send them."""

import io
import struct
import zlib

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (600, 300), **options: object) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", size, (10, 106, 86)).save(written, kind, **options)
    return written.getvalue()


def upload(data: bytes | None = None, name: str = "logo.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, picture() if data is None else data, content_type="image/png")


def bomb(side: int = 60_000) -> bytes:
    """A PNG of a few bytes whose head says that it unfolds to `side` by `side` pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\x00" * 1000)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
