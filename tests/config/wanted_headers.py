"""What every answer of this service has to carry, whoever gives it and whatever its status is."""

import re
from collections.abc import Mapping

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")
STATIC = "/static/"
KEPT_BY_BROWSERS = (STATIC, "/logos/")  # under addresses that change with what they hold


def lacking(path: str, status: int, headers: Mapping[str, str], *, https: bool) -> list[str]:
    """What is wrong with the headers of an answer, in words; nothing where all is well."""
    wrong = [
        f"{name}: {headers.get(name)}"
        for name, wanted in (
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        )
        if headers.get(name) != wanted
    ]
    policy = headers.get("Content-Security-Policy", "")
    if "default-src 'none'" not in policy or "frame-ancestors 'none'" not in policy:
        wrong.append(f"Content-Security-Policy: {policy}")
    if not REQUEST_ID.match(headers.get("X-Request-Id", "")):
        wrong.append("X-Request-Id")
    if not (path.startswith(KEPT_BY_BROWSERS) and status in (200, 206, 304)) and "no-store" not in headers.get(
        "Cache-Control", ""
    ):
        wrong.append(f"Cache-Control: {headers.get('Cache-Control')}")
    if https is not ("max-age=31536000" in headers.get("Strict-Transport-Security", "")):
        wrong.append(f"Strict-Transport-Security: {headers.get('Strict-Transport-Security')}")
    if headers.get("Server") != "web":  # what runs behind it, and of which version, is nobody's business
        wrong.append(f"Server: {headers.get('Server')}")
    wrong += [name for name in ("X-Powered-By", "Via") if name in headers]
    if "cr_live_" in headers.get("Location", ""):
        wrong.append(f"Location: {headers['Location']}")
    return wrong
