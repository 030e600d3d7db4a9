"""Pictures that people send: taken in as any common kind, kept as nothing but a few pixels."""

import io
import struct
from typing import Any, Literal

from django.core.files.uploadedfile import InMemoryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.utils.translation import gettext

from common.problems import InvalidRequest

LARGEST = 512 * 1024  # bytes of what is sent
_KINDS = ("PNG", "JPEG", "WEBP")
_ORIENTATION = 0x0112  # EXIF: how the camera was held
_TURNED = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip  # of Image.Transpose
_OPTIONS: dict[str, dict[str, Any]] = {"PNG": {"optimize": True}, "WEBP": {"quality": 85}}
_MOST_PIXELS = 2048 * 2048  # a file of few bytes may unfold to many, of which each takes four
KEPT = 1024 * 1024  # bytes of each file


def small_picture(data: bytes, *, side: int, kind: Literal["PNG", "WEBP"]) -> bytes:
    """The picture, at most `side` pixels wide and high. Raises `InvalidRequest`.

    Only the pixels: what else the file held, such as where a photo was taken, stays behind.
    """
    from PIL import Image, UnidentifiedImageError  # few requests bring a picture

    if len(data) > LARGEST:
        raise InvalidRequest(gettext("A picture has at most 512 KiB."))
    try:
        with Image.open(io.BytesIO(data), formats=_KINDS) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise InvalidRequest(gettext("A picture has at most 2048 by 2048 pixels."))
            turned = _TURNED.get(picture.getexif().get(_ORIENTATION, 1))
            small = picture.convert("RGBA")
    except Image.DecompressionBombError:
        raise InvalidRequest(gettext("A picture has at most 2048 by 2048 pixels.")) from None
    except (UnidentifiedImageError, OSError, ValueError, TypeError, SyntaxError, EOFError, struct.error):
        raise InvalidRequest(gettext("Send a PNG, JPEG or WebP picture.")) from None
    if turned is not None:
        small = small.transpose(Image.Transpose[turned])
    small.thumbnail((side, side))
    pixels = Image.new("RGBA", small.size)
    pixels.paste(small)
    written = io.BytesIO()
    pixels.save(written, kind, **_OPTIONS[kind])
    return written.getvalue()


class BoundedUpload(FileUploadHandler):
    """The beginning of each file, with its whole size, so that a form can refuse what is too large and lose nothing."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.kept = io.BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start < KEPT:
            self.kept.write(raw_data[: KEPT - start])

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        self.kept.seek(0)
        return InMemoryUploadedFile(
            self.kept, self.field_name, self.file_name or "", self.content_type, file_size, self.charset,
            self.content_type_extra,
        )  # fmt: skip
