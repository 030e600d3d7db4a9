"""Typed readers of the environment.

Everything that differs between deployments comes from here, and `env.example` lists every name that is read, those of
agents once for all of them (a test compares). A missing secret raises with a hint instead of falling back to a default.
"""

import base64
import json
import re
from collections.abc import Sequence
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

READ: set[str] = set()  # the names that were looked for
_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?\Z")
_ESCAPES = "in a password write @ as %40, # as %23, / as %2F and % as %25"
_COLOUR = re.compile(r"#[0-9a-f]{6}\Z")
_DATABASES = ("postgres", "postgresql", "psql", "pgsql", "sqlite")
_REDIS = ("redis", "rediss")
_BROKERS = (*_REDIS, "sentinel", "amqp", "amqps")
# a broker that says nothing is given up; longer than the worker's own wait for a message, which is a second
REDIS_OPTIONS = {
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    "socket_keepalive": True,
    "socket_connect_timeout": 5,
    "socket_timeout": 10,
}


class _Env(environ.Env):  # type: ignore[misc]  # upstream has no types
    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        READ.add(var)
        return super().get_value(var, *args, **options)


_env = _Env()
ROOT = Path(__file__).resolve().parent.parent
VAR = Path(_env.str("CONSENT_VAR", default=str(ROOT / "var")))

# `./run` writes the secrets that it made to var/env; a deployment sets real variables, which win.
if (VAR / "env").is_file():
    environ.Env.read_env(str(VAR / "env"))


def text(name: str, default: str = "") -> str:
    """A plain string; empty is the default."""
    return str(_env.str(name, default="")) or default


def origin(name: str, default: str) -> str:
    """The start of an address, as https://host or with a port, without the slash that may stand at its end."""
    value = text(name, default).rstrip("/")
    if not _ORIGIN.match(value):
        raise ImproperlyConfigured(f"{name} must be like https://consent.example, in small letters, not {value!r}.")
    return value


def sender(name: str, default: str) -> str:
    """A mail address, or a name with one in <>."""
    value = text(name, default)
    if "@" not in parseaddr(value)[1]:
        raise ImproperlyConfigured(f"{name} must be like 'Consent <consent@consent.example>', not {value!r}.")
    return value


def folder(name: str) -> Path | None:
    """A folder, absolute or below the project; None where nothing is set, and one that is not there raises."""
    found = ROOT / text(name)
    if not found.is_dir():
        raise ImproperlyConfigured(f"{name} must be a folder, and there is none at {found}.")
    return found if text(name) else None


def picture(name: str) -> Path | None:
    """A file that is an SVG or PNG by its ending, absolute or below the project; None where nothing is set."""
    found = ROOT / text(name)
    if text(name) and not (found.is_file() and found.suffix in (".svg", ".png")):
        raise ImproperlyConfigured(f"{name} must be a file that ends in .svg or .png, and {found} is none.")
    return found if text(name) else None


def colour(name: str) -> str:
    """A colour as #rrggbb, in small letters; empty where nothing is set."""
    value = text(name).strip().lower()
    if value and not _COLOUR.match(value):
        raise ImproperlyConfigured(f"{name} must be a colour such as #0b5c49, not {value!r}.")
    return value


def flag(name: str, default: bool = False) -> bool:
    """`true`, `1`, `yes`, `on` and their opposites; anything else raises."""
    raw = _env.str(name, default="true" if default else "false").strip().lower()
    if raw in {"true", "1", "yes", "on"}:
        return True
    if raw in {"false", "0", "no", "off", ""}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {raw!r}.")


def number(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31) -> int:
    """A whole number within bounds; empty is the default."""
    raw = str(_env.str(name, default="")).strip() or str(default)
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {raw!r}.") from None
    if not minimum <= value <= maximum:
        raise ImproperlyConfigured(f"{name} must lie between {minimum} and {maximum}, not {value}.")
    return value


def optional_number(name: str, *, maximum: int) -> int | None:
    """A whole number from 0 on, or None where nothing is set."""
    return number(name, 0, maximum=maximum) if _env.str(name, default="").strip() else None


def witnesses(name: str) -> list[tuple[str, str]]:
    """A comma-separated list of <verifier key>=<url>, as pairs; `-` before a key stays with it.

    Neither half of a verifier key has = in it.
    """
    found = []
    for part in names(name):
        key, separator, url = part.partition("=")
        if not separator or key.count("+") < 2 or not url.startswith(("https://", "http://")):
            raise ImproperlyConfigured(f"{name} must be a list of <verifier key>=<url>, not {part!r}.")
        found.append((key, url.rstrip("/")))
    return found


def choice(name: str, allowed: Sequence[str], default: str) -> str:
    """One of the words that are `allowed`; empty is the default."""
    raw = str(_env.str(name, default="")).strip().lower() or default
    if raw not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {raw!r}.")
    return raw


def names(name: str, default: str = "") -> list[str]:
    """A comma-separated list; blanks are dropped, and empty is the default."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def secret(name: str, hint: str) -> str:
    """A secret without a default: absent raises, naming what to do."""
    value = _env.str(name, default="")
    if not value:
        raise ImproperlyConfigured(f"{name} is not set. {hint}")
    return str(value)


def secret_json(name: str, hint: str) -> Any:
    """A secret that is a JSON document, given inline or as a file named by `<name>_FILE`."""
    READ.add(name)  # which a file outranks
    path = _env.str(f"{name}_FILE", default="")
    try:
        raw = (ROOT / path).read_text() if path else secret(name, hint)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE cannot be read: {path}: {error.strerror}.") from None
    try:
        return json.loads(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not valid JSON.") from None


def database(name: str, default: str) -> dict[str, Any]:
    """A database address as Django's settings dictionary; another than PostgreSQL's or SQLite's raises."""
    value = text(name, default)
    parts = urlsplit(value)
    # what comes after a # or / that a password has is no part of the host any more
    whole = parts.scheme == "sqlite" or not (parts.fragment or "@" in parts.path)
    if parts.scheme not in _DATABASES or not whole:
        raise ImproperlyConfigured(f"{name} must be postgres://user:password@host:5432/name; {_ESCAPES}.")
    return dict(_env.db_url_config(value))


def redis(name: str) -> str:
    """An address of Redis, or nothing. Of `rediss` the certificate is checked; Celery would do so only if told."""
    address = text(name)
    parts = urlsplit(address)
    if address and parts.scheme not in _REDIS:
        raise ImproperlyConfigured(
            f"{name} must begin with redis:// or rediss://; queues of another kind have CELERY_BROKER_URL."
        )
    if parts.scheme != "rediss" or "ssl_cert_reqs=" in parts.query:
        return address
    return parts._replace(query=f"{parts.query}&ssl_cert_reqs=required".lstrip("&")).geturl()


def broker(name: str) -> tuple[str, dict[str, Any]]:
    """What takes messages to the worker, Redis, Sentinels of it or RabbitMQ, and its transport's options.

    There may be several of the latter two, with ; between them; `?master_name=` says which Redis the Sentinels watch.
    Anything else raises.
    """
    places = [urlsplit(one.strip()) for one in text(name).split(";") if one.strip()]
    schemes = {place.scheme for place in places}
    if not schemes <= set(_BROKERS):
        raise ImproperlyConfigured(f"{name} must begin with one of {', '.join(_BROKERS)} and ://.")
    if schemes <= set(_REDIS) and len(places) < 2:
        return redis(name), REDIS_OPTIONS if places else {}
    if schemes <= {"amqp", "amqps"}:
        return text(name), {"write_timeout": 10}  # seconds; the worker's reads wait for as long as nothing comes
    master = parse_qs(places[0].query).get("master_name", [])
    if schemes != {"sentinel"} or len(master) != 1:
        raise ImproperlyConfigured(
            f"{name} must be of one kind: one Redis, RabbitMQ, or Sentinels as "
            "sentinel://<host>:<port>/<number>?master_name=<name>."
        )
    addresses = ";".join(place._replace(query="").geturl() for place in places)
    return addresses, {**REDIS_OPTIONS, "master_name": master[0]}


def address(name: str) -> str:
    """<host>:<port>, or nothing."""
    value = text(name).strip()
    host, _, port = value.rpartition(":")
    if value and not (host and port.isdigit() and 0 < int(port) < 65536):
        raise ImproperlyConfigured(f"{name} must be host:port, such as 127.0.0.1:9464, not {value!r}.")
    return value


def email(name: str) -> dict[str, Any]:
    """A mail server's address as Django's settings."""
    try:
        return dict(_env.email_url_config(text(name)))
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured(
            f"{name} must be smtp://user:password@host:587, smtp+tls://… or smtp+ssl://…; {_ESCAPES}."
        ) from None


def agent(prefix: str, protocols: Sequence[str], protocol: str) -> dict[str, Any]:
    """The variables <prefix>_URL, _PROTOCOL (else `protocol`), _MODEL, _TIMEOUT (seconds), _CHECKS_CONSENT,
    _DELETE_URL, _CONTACT; what people are told before they agree: _NAME, _OPERATOR, _COUNTRY, _PRIVACY_NOTICE; what it
    lets us in by: _TOKEN in _TOKEN_HEADER, or one that is had at _TOKEN_URL for _CLIENT_ID, _CLIENT_SECRET and _SCOPE.
    """
    found: dict[str, Any] = {
        name.lower(): text(f"{prefix}_{name}").strip()
        for name in (
            "URL", "DELETE_URL", "CONTACT", "MODEL", "TOKEN", "TOKEN_HEADER", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET",
            "SCOPE", "NAME", "OPERATOR", "COUNTRY", "PRIVACY_NOTICE",
        )
    }  # fmt: skip
    for name in ("url", "delete_url", "token_url", "privacy_notice"):
        if found[name] and not found[name].startswith(("https://", "http://")):
            raise ImproperlyConfigured(f"{prefix}_{name.upper()} must start with https:// or http://.")
    chosen = text(f"{prefix}_PROTOCOL") or protocol
    if chosen not in protocols:
        raise ImproperlyConfigured(f"{prefix}_PROTOCOL must be one of {', '.join(protocols)}, not {chosen!r}.")
    if len({bool(found[name]) for name in ("token_url", "client_id", "client_secret")}) > 1:
        raise ImproperlyConfigured(f"Set {prefix}_TOKEN_URL, _CLIENT_ID and _CLIENT_SECRET, or none of them.")
    if chosen == "openai" and found["url"] and not found["model"]:
        raise ImproperlyConfigured(f"{prefix}_MODEL must name the model that {prefix}_URL is asked for.")
    seconds = number(f"{prefix}_TIMEOUT", 50, minimum=1, maximum=600)
    return {**found, "timeout": seconds, "protocol": chosen, "checks_consent": flag(f"{prefix}_CHECKS_CONSENT")}


def aggregator(*, url: str, client_id: str, secret: str, **rest: Any) -> dict[str, Any] | None:
    """The financial aggregator, or None without one; its address, client ID and secret come together or not at all."""
    if not (url or client_id or secret):
        return None
    if not (url and client_id and secret):
        raise ImproperlyConfigured("Set AGGREGATOR_BASE_URL, _CLIENT_ID and _SECRET, or none of them.")
    if not url.startswith(("https://", "http://")):
        raise ImproperlyConfigured("AGGREGATOR_BASE_URL must start with https:// or http://.")
    return {"url": url.rstrip("/"), "client_id": client_id, "secret": secret, **rest}


def signing_secret(name: str, value: str) -> str:
    """A secret as Standard Webhooks write it, `whsec_` and base64; empty is none."""
    try:
        key = base64.b64decode(value.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if value and not (value.startswith("whsec_") and key):
        raise ImproperlyConfigured(f"{name} must be whsec_ followed by base64.")
    return value
