"""The smallest view that there can be: one indexed SELECT, and its answer, in a Django with nothing else in between."""

import os
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path


def reference(request: HttpRequest, user_id: str) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT public_id FROM users WHERE public_id = %s", [user_id])
        (found,) = cursor.fetchone()
    body = b'{"user_id":"%b"}' % found.encode()
    return HttpResponse(body, content_type="application/json", headers={"Content-Length": str(len(body))})


urlpatterns = [path("reference/<str:user_id>", reference)]


def bare() -> Any:
    """A WSGI application with the reference alone, on the database of DATABASE_URL."""
    import environ
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application

    database = dict(environ.Env.db_url_config(os.environ["DATABASE_URL"]))
    database["OPTIONS"] = {**database.get("OPTIONS", {}), "pool": {"min_size": 1, "max_size": 20}}
    settings.configure(
        SECRET_KEY="not used", ALLOWED_HOSTS=["*"], DATABASES={"default": database}, ROOT_URLCONF="bench.reference",
        MIDDLEWARE=[], LOGGING_CONFIG=None,
    )  # fmt: skip
    return get_wsgi_application()
