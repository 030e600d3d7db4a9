"""Static files as they are served: under hashed names, style sheets in one, and without their comments."""

import re
from collections.abc import Iterator
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

_OWN = ("css/", "js/")
_IMPORT = re.compile(r'^@import url\("([\w-]+\.css)"\);\n', re.MULTILINE)
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s*([{};,\n])\s*")
# a comment alone on its lines, after code, and a type within it; tests/system/architecture/test_types_js.py compares
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.DOTALL | re.MULTILINE)
_AFTER_CODE = re.compile(r"(?<=[;,{}()\]]) +// [^\n\"'`]*$", re.MULTILINE)
_TYPE = re.compile(r"/\*\* @[^*]*\*/ ?")


class ModuleStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
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
    """A script or style sheet without comments; a style sheet with those that it imports in their places."""
    if name.endswith(".js"):
        return _TYPE.sub("", _AFTER_CODE.sub("", _COMMENT.sub("", text)))
    return _SPACE.sub(r"\1", _CSS_COMMENT.sub("", _IMPORT.sub(lambda found: sources[f"css/{found[1]}"], text)))
