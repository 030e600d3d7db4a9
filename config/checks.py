"""Whether this deployment has keys that work, knows of its pooler, and reaches other machines by TLS.

Found out by `manage.py check`, the last by `check --deploy`. Keys are looked at by every start too, and not by the
first vault.
"""

import logging
import os
from collections.abc import Sequence
from difflib import get_close_matches
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import psycopg
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import ERROR, CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http.request import split_domain_port, validate_host
from joserfc.jwk import OKPKey
from psycopg.conninfo import conninfo_to_dict

from common.colours import LIGHT_GROUND, READABLE_CONTRAST, contrast
from common.sql.connections import leads_through_pooler
from config import env

_log = logging.getLogger(__name__)
_HINT = "`manage.py make_keys` prints a fresh set; `./run` makes one in var/."
_RELEASE_HINT = (
    "`collectstatic`, then `manage.py make_release`, or bring the release's own files; see docs/operating.md."
)
_POLLED = Warning(
    "LISTEN would lead through a pooler, so long polls learn of decisions by polling.",
    hint="Set DATABASE_LISTEN_URL to the address of PostgreSQL itself.", id="config.W002",
)  # fmt: skip


_IN_CLEAR = "{name} leads to another machine, and need not be encrypted on the way."
_ENCRYPTED = ("require", "verify-ca", "verify-full")  # of libpq's modes; the others take a connection in clear as well


@register()
def check_keys(**_: Any) -> list[CheckMessage]:
    """The keys without which no vault can be made and no decision signed."""
    return [*_data_keys(), *_receipts()]


@register("log")
def check_log_keys(**_: Any) -> list[CheckMessage]:
    """The log's keys and witnesses: all that its sequencer needs of keys (`manage.py sequence_log`)."""
    return _log_keys()


@register(deploy=True)
def check_release(**_: Any) -> list[CheckMessage]:
    """Whether what is served is the release that the manifest tells of, for `check --deploy`; every start looks too.

    `collectstatic` and `make_release` have to run before it is so. Errors, or warnings with RELEASE_CHECK=warn.
    """
    from consent.release import current

    kind = Warning if settings.RELEASE_CHECK == "warn" else Error
    return [kind(fault, hint=_RELEASE_HINT, id="config.E006") for fault in current.faults()]


@register(Tags.security, deploy=True)
def check_transport(**_: Any) -> list[CheckMessage]:
    """Whether PostgreSQL and Redis are asked in clear over a network. A socket or this machine itself is none."""
    database = settings.DATABASES["default"]
    mode = os.environ.get("PGSSLMODE", "")
    addresses = [("DATABASE_URL", {"host": database["HOST"], "sslmode": mode, **database.get("OPTIONS", {})})]
    if settings.DATABASE_LISTEN_URL:
        listening = {"sslmode": mode, **conninfo_to_dict(settings.DATABASE_LISTEN_URL)}
        addresses.append(("DATABASE_LISTEN_URL", listening))
    found: list[CheckMessage] = [
        Warning(
            _IN_CLEAR.format(name=name), hint="Add `?sslmode=verify-full`, see docs/operating.md.", id="config.W003"
        )
        for name, given in addresses
        if given["sslmode"] not in _ENCRYPTED and _is_elsewhere(given.get("host"))
    ]
    for name, schemes, better in (("REDIS_URL", ("redis",), "rediss"), ("CELERY_BROKER_URL", ("amqp",), "amqps")):
        places = [urlsplit(one) for one in getattr(settings, name).split(";")]
        if any(place.scheme in schemes and _is_elsewhere(place.hostname) for place in places):
            found.append(
                Warning(_IN_CLEAR.format(name=name), hint=f"Let it begin with `{better}://`.", id="config.W004")
            )
    return found


def _is_elsewhere(hosts: object) -> bool:
    """Whether one of these hosts, as libpq takes several, is another machine."""
    return any(
        not (host.startswith(("/", "@")) or _is_this_machine(host)) for host in str(hosts or "localhost").split(",")
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")


@register()
def check_accent(**_: Any) -> list[CheckMessage]:
    """Whether links and labels in the operator's colour can be read on light pages; on dark ones it is lightened."""
    accent = settings.SITE_ACCENT
    if not accent or (found := contrast(accent, LIGHT_GROUND)) >= READABLE_CONTRAST:
        return []
    message = f"SITE_ACCENT is {accent}, whose contrast with the grounds of pages is {found:.1f}:1."
    hint = f"Choose a darker colour: at {READABLE_CONTRAST}:1 it can be read. Dark pages get a lighter form of it."
    return [Error(message, hint=hint, id="config.E008")]


@register()
def check_names(**_: Any) -> list[CheckMessage]:
    """Whether a variable looks as if it were misspelt, and whether this site is answered by its own name."""
    found: list[CheckMessage] = [
        Warning(f"{name} is set, and this service reads {near[0]}.", id="config.W005")
        for name in sorted(set(os.environ) - env.READ)
        if (near := get_close_matches(name, env.READ, n=1, cutoff=0.9))
    ]
    host = urlsplit(settings.BASE_URL).netloc
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        found.append(Warning(f"ALLOWED_HOSTS lacks {host} of BASE_URL: every call gets 400.", id="config.W006"))
    return found


@register(Tags.database)
def check_pooler(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether the settings know of a pooler in front of the database; part of `check --database default`."""
    from consent.notices.long_polling import listeners_address  # has models, as below

    options = settings.DATABASES["default"]["OPTIONS"]
    if "prepare_threshold" not in options or "default" not in (databases or ()):  # SQLite has neither
        return []
    parameters = {**listeners_address(), "prepare_threshold": None, "autocommit": True}
    with psycopg.connect(**parameters) as connected:
        return [_POLLED] if leads_through_pooler(connected) else []


@register(Tags.database)
def check_migrations(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether the tables are those of a release, and of no later one; `migrate` looks before it does anything."""
    if "default" not in (databases or ()):
        return []
    applied, name = set(MigrationRecorder(connection).applied_migrations()), connection.settings_dict["NAME"]
    if ("pkm", "0002_starter_registry") in applied:
        message = f"The database {name} is from before 0.1.0, and nothing leads from its tables to those of now."
        hint = (
            f"Nothing was changed. Delete {settings.VAR} with all in it, and a database of your own; then start again."
        )
        return [Error(message, hint=hint, id="config.E007")]
    if not (later := unknown_migrations(applied)):
        return []
    message = f"A later release migrated the database {name}: this one does not know {'.'.join(later[0])}"
    message += f" and {len(later) - 1} more." if later[1:] else "."
    hint = "Use that release or a newer one. The way back is a backup of before, see docs/operating.md."
    return [Error(message, hint=hint, id="config.E009")]


def unknown_migrations(applied: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The applied migrations that this release lacks. Rows of an app that it has no more are left out: they stay."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    brought = {*loader.disk_migrations, *(old for each in loader.disk_migrations.values() for old in each.replaces)}
    return sorted(one for one in applied - brought if one[0] in loader.migrated_apps)


def require_keys() -> None:
    """Raise where a server or a worker would start with keys that do not work."""
    for message in [*check_keys(), *check_log_keys()]:
        raise ImproperlyConfigured(f"{message.msg} {message.hint} ({message.id})")


def require_release() -> None:
    """Raise where a server would start with other files than its release's; with RELEASE_CHECK=warn, say so."""
    for message in check_release():
        if message.is_serious(ERROR):
            raise ImproperlyConfigured(f"{message.msg} {message.hint} ({message.id})")
        _log.warning(message.msg)


def _data_keys() -> list[CheckMessage]:
    if not settings.DATA_ENCRYPTION_KEYS:
        return [Error("DATA_ENCRYPTION_KEYS is not set.", hint=_HINT, id="config.E001")]
    for place, key in enumerate(settings.DATA_ENCRYPTION_KEYS, start=1):
        try:
            Fernet(key)
        except ValueError:
            message = f"DATA_ENCRYPTION_KEYS: number {place} is no Fernet key (32 octets in URL-safe base64)."
            return [Error(message, hint=_HINT, id="config.E002")]
    return []


def _log_keys() -> list[CheckMessage]:
    from consent.log import keys

    try:
        own = {key.public for key in keys.verifier_keys()}
        works = bool(own) and len(keys.witnesses()) >= keys.quorum()
    except Exception:  # whatever the library raises for what is no key
        own, works = set(), False
    if not works:
        message = (
            "LOG_KEYS is no list of private Ed25519 keys as JWKs, or LOG_VERIFIER_KEYS or LOG_WITNESSES do not do."
        )
        return [Error(message, hint=_HINT, id="config.E004")]
    if own & {key.public_key.public_bytes_raw() for key in _receipt_keys()}:
        return [Error("A key of LOG_KEYS signs receipts too.", hint=_HINT, id="config.E005")]
    return []


def _receipt_keys() -> list[OKPKey]:
    """The keys of RECEIPT_KEYS; none where they cannot be read, which `config.E003` says."""
    from consent.ledger import receipts  # has models, and config/wsgi.py imports this module before they can be loaded

    try:
        return list(receipts.signing_keys())
    except Exception:  # whatever the library raises for what is no key
        return []


def _receipts() -> list[CheckMessage]:
    keys = _receipt_keys()
    if keys and all(key.is_private for key in keys):
        return []
    message = "RECEIPT_KEYS is not a list of private Ed25519 keys as JWKs."
    return [Error(message, hint=_HINT, id="config.E003")]
