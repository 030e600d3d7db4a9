"""Files that come with a form: kept in memory, and no more of each than any form takes."""

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

KEPT = 1024 * 1024  # bytes of each file


class BoundedUpload(FileUploadHandler):
    """The beginning of each file, with its whole size, so that a form can refuse what is too large and lose nothing."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.kept = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start < KEPT:
            self.kept.write(raw_data[: KEPT - start])

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        self.kept.seek(0)
        return InMemoryUploadedFile(
            self.kept, self.field_name, self.file_name or "", self.content_type, file_size, self.charset,
            self.content_type_extra,
        )  # fmt: skip
