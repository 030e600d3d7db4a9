"""`manage.py make_release`: the signed manifest of what `collectstatic` gathered, for a deployment to start on."""

import os
from pathlib import Path
from typing import Any

from csp.utils import build_policy, default_config
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from consent.release import manifest


class Command(BaseCommand):
    help = "Write the manifest of the collected static files and the pages' policies, signed by the release key."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        own = Path(settings.VAR) / "release-key.json"
        parser.add_argument("--key", type=Path, default=own, help="the private Ed25519 JWK of whoever releases")
        parser.add_argument("--name", default=manifest.NAME, help="the key's name, without spaces or +")
        parser.add_argument("--commit", default="unknown", help="what this release was made from")
        parser.add_argument("--out", type=Path, default=Path(settings.RELEASE_MANIFEST), help="where it is written")

    def handle(self, *args: Any, key: Path, name: str, commit: str, out: Path, **options: Any) -> None:
        try:
            private = manifest.read_key(key)
            assets = manifest.digests(Path(settings.STATIC_ROOT))
        except (OSError, ValueError) as error:
            raise CommandError(f"{error}. `collectstatic` comes first; --key names the release key.") from error
        modules = manifest.imported_modules(Path(settings.STATIC_ROOT), assets)
        verifier = manifest.verifier_of(private, name)
        text = manifest.made(
            version=manifest.VERSION,
            commit=commit,
            assets=assets,
            modules=modules,
            pages=_pages(manifest.policy_source(assets, modules, settings.STATIC_URL)),
            static_url=settings.STATIC_URL,
        )
        _write(out, manifest.signed(text, private, verifier))
        self.stdout.write(f"{out}: {len(assets)} files, signed by\n{verifier}")


def _pages(source: str) -> dict[str, Any]:
    """Each kind of page: the address under which it lies, its policy, and whether its scripts carry `integrity`."""
    directives = {**settings.CONTENT_SECURITY_POLICY["DIRECTIVES"], "script-src": ["'self'", source]}
    return {
        "page": {"under": "/", "policy": _policy(directives), "integrity": True},
        # Django's own templates, whose scripts are named by hashed names alone
        "staff": {"under": "/admin/", "policy": _policy(directives, manifest.STAFF_POLICY), "integrity": False},
    }


def _policy(directives: dict[str, list[str]], replaced: dict[str, list[str]] | None = None) -> str:
    built = str(build_policy(config=default_config(directives), replace=replaced))
    return "; ".join(sorted(built.split("; ")))  # the same manifest from the same files, whatever the order of sets


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a server may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text)
    aside.replace(path)
