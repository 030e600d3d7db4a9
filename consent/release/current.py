"""The release that this process serves, and whether what lies here is that release."""

from functools import cache
from pathlib import Path

from django.conf import settings

from consent.release import manifest
from consent.release.manifest import Release

_MOST = 5  # files that a refusal names


@cache
def release() -> Release | None:
    """The release that the settings name, as it was when this process began; None where there is none to be read."""
    try:
        return manifest.read(Path(settings.RELEASE_MANIFEST))
    except ValueError:
        return None


@cache
def import_map() -> str:
    """The import map of this release's pages; empty without a release."""
    found = release()
    return manifest.import_map(found.assets, found.modules, settings.STATIC_URL) if found is not None else ""


@cache
def needed_by(name: str) -> tuple[str, ...]:
    """The modules without which this one does not begin, by their names as they are served, the nearest first.

    Nothing where the file was not gathered, as while its source is served.
    """
    queue = [name]
    for module in queue:
        new = dict.fromkeys(manifest.imports_of(Path(settings.STATIC_ROOT), module))
        queue += [each for each in new if each not in queue]
    return tuple(queue[1:])


def faults() -> list[str]:
    """Why this is not the release that its manifest tells of; nothing where it is."""
    path = Path(settings.RELEASE_MANIFEST)
    try:
        found = manifest.read(path)
        if found is None:
            return [f"{path} is missing: no release was made of what is served here."]
        if not settings.RELEASE_VERIFIER_KEY:
            return ["RELEASE_VERIFIER_KEY is not set, so nobody knows whose release this is."]
        if not manifest.is_signed(found.note, settings.RELEASE_VERIFIER_KEY):
            return [f"The key of RELEASE_VERIFIER_KEY did not sign {path}."]
        different = list(manifest.differences(found, Path(settings.STATIC_ROOT)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"{path} or RELEASE_VERIFIER_KEY cannot be read: {error}."]
    rest = f" and {len(different) - _MOST} more" if len(different) > _MOST else ""
    return (
        [f"What is served is not release {found.version}: {', '.join(different[:_MOST])}{rest}."] if different else []
    )
