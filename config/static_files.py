"""Static files as they are served: under hashed names, style sheets in one, and without their comments."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.checks import CheckMessage
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from rcssmin import cssmin
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

_OWN = ("css/", "js/")
_IMPORT = re.compile(r'^@import url\("([\w-]+\.css)"\);\n', re.MULTILINE)


class SiteLogo(BaseFinder):
    """The operator's logo, wherever it lies: that one file as `site/<its name>`."""

    def check(self, **_: Any) -> list[CheckMessage]:
        """Whether the file is there, config/env.py looks."""
        return []

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        """Its place, where `path` is its name among the static files."""
        found = [str(settings.SITE_LOGO)] if settings.SITE_LOGO and path == f"site/{settings.SITE_LOGO.name}" else []
        return found if find_all else (found or [""])[0]

    def list(self, ignore_patterns: Any) -> Iterator[Any]:
        """Its name, and the storage that holds it."""
        if settings.SITE_LOGO:
            storage = FileSystemStorage(location=settings.SITE_LOGO.parent)
            storage.prefix = "site"  # type: ignore[attr-defined]  # as Django's own finders mark theirs
            yield settings.SITE_LOGO.name, storage


class AddressesOnce(StaticFilesStorage):
    """The address of a file is made once in a process: a page names its icons some fifty times."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.url = cache(self.url)  # type: ignore[method-assign]  # the same, remembered


class ModuleStaticFiles(AddressesOnce, CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Static files under hashed names, `import` statements of ES modules included; ours without their comments."""

    support_js_module_import_aggregation = True
    max_post_process_passes = 12  # a chain of imports may need a pass a link
    manifest_strict = True

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Shortens what was gathered, before it is hashed."""
        if not dry_run:
            sources = {name: self._source(*paths[name]) for name in paths if name.startswith(_OWN)}
            for name, text in sources.items():
                self.delete(name)
                self._save(name, ContentFile(shortened(name, text, sources).encode()))
            paths = {**paths, **{name: (self, name) for name in sources}}
        yield from super().post_process(paths, dry_run, **options)

    @staticmethod
    def _source(storage: Any, path: str) -> str:
        with storage.open(path) as file:
            return str(file.read().decode())


def shortened(name: str, text: str, sources: dict[str, str]) -> str:
    """A script or style sheet without comments and blanks; a style sheet with those that it imports in their places."""
    if name.endswith(".js"):
        return str(jsmin(text))
    return str(cssmin(_IMPORT.sub(lambda found: sources[f"css/{found[1]}"], text)))
