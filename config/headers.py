"""The headers of every response, including those that no middleware sees."""

from django.conf import settings

# An answer for a program is no document: nothing in it is run, loaded or framed, even where a browser is led to it.
NO_DOCUMENT = "default-src 'none'; frame-ancestors 'none'"


def of_programs() -> dict[str, str]:
    """What an answer needs that the middleware of the pages never sees."""
    found = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
        "Content-Security-Policy": NO_DOCUMENT,
        "Cache-Control": "no-store",
        "Server": "web",  # granian would add its own name where there is none, and has no option against it
    }
    if settings.SECURE_HSTS_SECONDS:
        found["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains; preload"
    return found
